package import WorkbenchText

/// The open fetches of one thread: those whose statement was logged but whose total time wasn't.
///
/// A prefetch runs inside its fetch, so the last total time belongs to the first statement. A total
/// time closes the innermost fetch for which SQLite's time is known.
struct LogNesting {
  /// A statement whose times aren't logged yet.
  struct Open {
    var statement: Int
    var line: Int
    var time: LogTime
    var isCount: Bool
    /// The number of the SELECT in its thread.
    var ordinal: Int
    /// SQLite's time in microseconds, or `nil` if it isn't logged yet.
    var connection: Int?
    /// The time of nested fetches, in microseconds.
    var inner = 0
    /// Whether the statement was counted at the mark of a section, before its times.
    var isCounted = false
  }

  /// A statement whose total time is known.
  ///
  /// The next line can describe its purpose.
  struct Closed {
    var open: Open
    /// The total time, in microseconds.
    var total: Int
  }

  /// The open statements, outermost first.
  private var open: [Open] = []
  /// The last closed statement, if it can still be identified as a fault or a prefetch.
  var closed: Closed?

  var openCount: Int { open.count }

  /// Removes and returns the last closed statement.
  mutating func takeClosed() -> Closed? {
    defer { closed = nil }
    return closed
  }

  /// Begins a SELECT.
  ///
  /// - Returns: A statement that won't be closed anymore, or `nil`.
  mutating func begin(_ statement: Open) -> Open? {
    open.append(statement)
    return open.count > InputLimits.openStatements ? open.removeFirst() : nil
  }

  /// Records SQLite's time for the innermost execution that has none, and returns its statement.
  mutating func answer(_ microseconds: Int) -> Int? {
    guard
      let position = open.lastIndex(where: { $0.connection == nil && !$0.isCount })
        ?? open.lastIndex(where: { $0.connection == nil })
    else { return nil }
    open[position].connection = microseconds
    return open[position].statement
  }

  /// Removes and returns the statement that a total time closes, or returns `nil` if none is open.
  mutating func close(_ microseconds: Int, isCount: Bool) -> Closed? {
    let position =
      isCount
      ? open.lastIndex(where: \.isCount)
      : open.lastIndex(where: { $0.connection != nil && !$0.isCount })
        ?? open.lastIndex(where: { !$0.isCount })
    guard let position = position ?? open.indices.last else { return nil }
    let statement = open.remove(at: position)
    // The enclosing fetch began earlier, and SQLite's time for it is known.
    if let outer = open[..<position].lastIndex(where: { $0.connection != nil }) {
      open[outer].inner += microseconds
    }
    return Closed(open: statement, total: microseconds)
  }

  /// Removes and returns the innermost statement, for a fault whose times are truncated.
  mutating func closeUntimed(after line: Int) -> Closed? {
    guard let last = open.last, last.line > line, !last.isCounted else { return nil }
    open.removeLast()
    return Closed(open: last, total: 0)
  }

  /// Removes and returns all open statements, outermost first.
  mutating func abandon() -> [Open] {
    defer { open = [] }
    return open
  }

  /// Keeps a statement open whose times can follow, although it has been counted.
  mutating func keep(_ statement: Open) {
    open.append(statement)
    open[open.count - 1].isCounted = true
  }

  /// Removes and returns the statements without SQLite's time, because a change of rows follows
  /// them.
  mutating func abandonUnanswered() -> [Open] {
    let lost = open.filter { $0.connection == nil }
    if !lost.isEmpty { open.removeAll { $0.connection == nil } }
    return lost
  }
}

/// Statistics of times: their sum, maximum, and percentiles.
///
/// Memory use doesn't grow with their number. Times are rounded to three significant digits, which
/// is the precision of most times in a log.
package struct LogTimes: Sendable, Equatable {
  /// The number of times.
  package private(set) var count = 0
  /// The sum, in microseconds.
  package private(set) var total = 0
  /// The maximum, in microseconds.
  package private(set) var largest = 0
  /// The numbers of the rounded times that occurred, in ascending order: few bytes each, because a
  /// log's statements have many.
  private var numbers: [UInt16] = []
  /// The number of occurrences of each.
  private var counts: [Int] = []

  package init() {}

  /// Adds a time in microseconds.
  ///
  /// A negative time counts as 0.
  package mutating func add(_ microseconds: Int) {
    let time = max(0, microseconds)
    count += 1
    total += time
    largest = max(largest, time)
    add(1, of: LogTimes.number(of: time))
  }

  private mutating func add(_ occurrences: Int, of number: UInt16) {
    let index = LogTimes.index(of: number, in: numbers)
    if index < numbers.count, numbers[index] == number {
      counts[index] += occurrences
    } else {
      numbers.insert(number, at: index)
      counts.insert(occurrences, at: index)
    }
  }

  /// Returns the index of the first number that isn't less, found without branches that a processor
  /// can't predict.
  private static func index(of number: UInt16, in numbers: [UInt16]) -> Int {
    numbers.withUnsafeBufferPointer { numbers in
      guard !numbers.isEmpty else { return 0 }
      var (index, count) = (0, numbers.count)
      while count > 1 {
        let half = count / 2
        index += numbers[index + half - 1] < number ? half : 0
        count -= half
      }
      return index + (numbers[index] < number ? 1 : 0)
    }
  }

  /// Adds all times of another instance.
  package mutating func add(_ other: LogTimes) {
    count += other.count
    total += other.total
    largest = max(largest, other.largest)
    for (number, occurrences) in zip(other.numbers, other.counts) { add(occurrences, of: number) }
  }

  /// The median, minimum, and maximum in nanoseconds, or `nil` without times.
  package var spread: TimeSpread? {
    guard count > 0 else { return nil }
    let least = min(numbers.first.map(LogTimes.time(of:)) ?? 0, largest)
    return TimeSpread(
      median: UInt64(percentile(50)) * 1_000, least: UInt64(least) * 1_000,
      most: UInt64(largest) * 1_000, count: count)
  }

  /// The mean in microseconds, or 0 without times.
  package var mean: Double { count == 0 ? 0 : Double(total) / Double(count) }

  /// Returns a percentile in microseconds, by nearest rank.
  package func percentile(_ percent: Int) -> Int {
    let rank = (count * percent + 99) / 100
    var seen = 0
    for (number, occurrences) in zip(numbers, counts) {
      seen += occurrences
      if seen >= rank { return min(LogTimes.time(of: number), largest) }
    }
    return 0
  }

  /// Returns the number of a time's rounded value among all that there are: those below 1,000, and
  /// 900 for each further digit.
  private static func number(of time: Int) -> UInt16 {
    var (unit, decade) = (1, 0)
    let thousands = time / 1_000
    while thousands >= unit {
      unit *= 10
      decade += 1
    }
    return UInt16((time + unit / 2) / unit + 900 * decade)
  }

  /// Returns the rounded time with a number, in microseconds.
  private static func time(of number: UInt16) -> Int {
    var (time, digits) = (Int(number), 0)
    while time >= 1_000 {
      time -= 900
      digits += 1
    }
    for _ in 0..<digits { time *= 10 }
    return time
  }
}
