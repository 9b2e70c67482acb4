package import WorkbenchText

/// The fetches of one thread that are open: begun by their statement, not yet closed by their time.
///
/// A prefetch runs inside its fetch, so the time that comes last belongs to the statement that came
/// first. The innermost fetch that SQLite has answered is the one that a total time closes.
struct LogNesting {
  /// A statement whose times are still to come.
  struct Open {
    var statement: Int
    var line: Int
    var time: LogTime
    var isCount: Bool
    /// How many SELECTs came before it.
    var ordinal: Int
    /// SQLite's part in microseconds, once the log has said it.
    var connection: Int?
    /// Microseconds of the fetches inside.
    var inner = 0
  }

  /// A statement whose time is known, until the next line says what it was for.
  struct Closed {
    var open: Open
    /// In microseconds.
    var total: Int
  }

  /// The outermost first.
  private var open: [Open] = []
  /// The last that was closed and may still be named a fault or a prefetch.
  var closed: Closed?

  var openCount: Int { open.count }

  /// More open at once than any framework nests; the oldest then lost its time.
  private static let limit = 64

  /// Begins a SELECT.
  ///
  /// - Returns: one that will not be closed any more.
  mutating func begin(_ statement: Open) -> Open? {
    open.append(statement)
    return open.count > LogNesting.limit ? open.removeFirst() : nil
  }

  /// SQLite's time for the innermost statement that has none.
  mutating func answer(_ microseconds: Int) -> Open? {
    guard
      let place = open.lastIndex(where: { $0.connection == nil && !$0.isCount })
        ?? open.lastIndex(where: { $0.connection == nil })
    else { return nil }
    open[place].connection = microseconds
    return open[place]
  }

  /// Takes the statement that a total time closes; nil when none is open.
  mutating func close(_ microseconds: Int, isCount: Bool) -> Closed? {
    let place =
      isCount
      ? open.lastIndex(where: \.isCount)
      : open.lastIndex(where: { $0.connection != nil && !$0.isCount })
        ?? open.lastIndex(where: { !$0.isCount })
    guard let place = place ?? open.indices.last else { return nil }
    let statement = open.remove(at: place)
    // The fetch around it is one that began before and that SQLite has answered.
    if let outer = open[..<place].lastIndex(where: { $0.connection != nil }) {
      open[outer].inner += microseconds
    }
    return Closed(open: statement, total: microseconds)
  }

  /// Takes the innermost statement without a time: for a fault whose times were truncated.
  mutating func closeUntimed(after line: Int) -> Closed? {
    guard let last = open.last, last.line > line else { return nil }
    open.removeLast()
    return Closed(open: last, total: 0)
  }

  /// Takes all that are open, the outermost first.
  mutating func abandon() -> [Open] {
    defer { open = [] }
    return open
  }

  /// Takes those that SQLite has not answered: a change of rows comes after them.
  mutating func abandonUnanswered() -> [Open] {
    let lost = open.filter { $0.connection == nil }
    if !lost.isEmpty { open.removeAll { $0.connection == nil } }
    return lost
  }
}

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
