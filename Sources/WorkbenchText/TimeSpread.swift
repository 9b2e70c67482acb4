/// The times of several runs of the same work, and how far they lie apart.
package struct TimeSpread: Sendable, Equatable {
  /// Nanoseconds.
  package let median: UInt64
  /// Nanoseconds.
  package let least: UInt64
  /// Nanoseconds.
  package let most: UInt64
  /// How many runs.
  package let count: Int

  /// Nil for no run at all.
  package init?(_ times: [UInt64]) {
    let sorted = times.sorted()
    guard let first = sorted.first, let last = sorted.last else { return nil }
    least = first
    most = last
    count = sorted.count
    let middle = sorted.count / 2
    median =
      sorted.count.isMultiple(of: 2)
      ? sorted[middle - 1] / 2 + sorted[middle] / 2 : sorted[middle]
  }

  /// A spread that is known already.
  package init(median: UInt64, least: UInt64, most: UInt64, count: Int) {
    (self.median, self.least, self.most, self.count) = (median, least, most, count)
  }

  /// One run, whose spread nobody knows.
  package init(once time: UInt64) {
    (median, least, most, count) = (time, time, time, 1)
  }

  /// Fewer runs than this say nothing about a difference.
  package static let enough = 3

  /// `55 ms`, or `55 ms (52 ms to 61 ms, 5 runs)`.
  package var text: String { text(of: "run") }

  /// `0.4 ms (0.1 ms to 9.2 ms, 120 calls)`, by the noun of what was timed.
  package func text(of noun: String) -> String {
    guard count > 1 else { return NumberText.time(median) }
    return "\(NumberText.time(median)) (\(NumberText.time(least)) to \(NumberText.time(most)), "
      + "\(NumberText.grouped(count)) \(noun)s)"
  }
}
