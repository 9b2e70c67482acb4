package import WorkbenchText

/// Times of one kind, of which the sum, the largest and percentiles are asked for.
///
/// Memory does not grow with their number: they are kept with three significant digits, which is all
/// that a log prints of most.
package struct LogTimes: Sendable, Equatable {
  /// How many.
  package private(set) var count = 0
  /// In microseconds.
  package private(set) var total = 0
  /// In microseconds.
  package private(set) var largest = 0
  /// By the time in microseconds, rounded: how many.
  private var counts: [Int: Int] = [:]

  package init() {}

  /// Adds a time in microseconds; one below 0 counts as 0.
  package mutating func add(_ microseconds: Int) {
    let time = max(0, microseconds)
    count += 1
    total += time
    largest = max(largest, time)
    counts[LogTimes.rounded(time), default: 0] += 1
  }

  /// Adds all times of another.
  package mutating func add(_ other: LogTimes) {
    count += other.count
    total += other.total
    largest = max(largest, other.largest)
    counts.merge(other.counts) { $0 + $1 }
  }

  /// Median, least and most in nanoseconds; nil without times.
  package var spread: TimeSpread? {
    guard count > 0 else { return nil }
    let least = min(counts.keys.min() ?? 0, largest)
    return TimeSpread(
      median: UInt64(percentile(50)) * 1_000, least: UInt64(least) * 1_000,
      most: UInt64(largest) * 1_000, count: count)
  }

  /// In microseconds; 0 without times.
  package var mean: Double { count == 0 ? 0 : Double(total) / Double(count) }

  /// The time in microseconds that so many of a hundred do not exceed, by nearest rank.
  package func percentile(_ percent: Int) -> Int {
    let rank = (count * percent + 99) / 100
    var seen = 0
    for (time, number) in counts.sorted(by: { $0.key < $1.key }) {
      seen += number
      if seen >= rank { return min(time, largest) }
    }
    return 0
  }

  private static func rounded(_ time: Int) -> Int {
    var unit = 1
    while time / unit >= 1_000 { unit *= 10 }
    return (time + unit / 2) / unit * unit
  }
}
