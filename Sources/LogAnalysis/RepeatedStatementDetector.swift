import WorkbenchText

/// Detects repetitions of the same statement while a log is read.
///
/// A repetition is on one thread, and continues while only a few other SELECTs of the thread are
/// between its statements and, if lines contain times, less than a second passes. A log doesn't
/// contain call sites, so proximity is used instead.
struct RepeatedStatementDetector {
  /// The values that all statements of a repetition share.
  private struct Key: Hashable {
    var kind: LogStorm.Kind
    var subject: String
    var statement: Int

    /// Hashes the statement only, which nearly always determines the other values.
    func hash(into hasher: inout Hasher) {
      hasher.combine(statement)
    }
  }

  private struct Run {
    let thread: LogThread
    var count = 0
    var firstLine = 0
    var lastLine = 0
    var firstTime = LogTime()
    var lastOrdinal = 0
    var lastSeconds: Double?
    var microseconds = 0

    /// Adds a statement, and returns the repetition that ended before it, or `nil` if it's part of
    /// the same.
    mutating func add(_ occurrence: Occurrence) -> Run? {
      var ended: Run?
      if count > 0, isApart(occurrence) {
        ended = self
        self = Run(thread: thread)
      }
      if count == 0 {
        firstLine = occurrence.line
        firstTime = occurrence.time
      }
      count += 1
      lastLine = occurrence.line
      lastOrdinal = occurrence.ordinal
      lastSeconds = occurrence.time.seconds
      microseconds += occurrence.microseconds
      return ended
    }

    private func isApart(_ occurrence: Occurrence) -> Bool {
      let between = occurrence.ordinal - lastOrdinal - 1
      if between > (occurrence.kind == .faultStorm ? 20 : 4) { return true }
      guard let before = lastSeconds, let now = occurrence.time.seconds else { return false }
      var passed = now - before
      // The times of a log without dates start over at midnight.
      if passed < -1, let period = occurrence.time.period { passed += period }
      return passed > 1 || passed < -1
    }
  }

  /// The repetitions of a key that can continue, each on another thread.
  private struct Runs {
    private static let limit = 16
    private(set) var all: [Run] = []

    /// Adds a statement, and returns the repetition that ended before it, or that of another thread
    /// if there are too many.
    mutating func add(_ occurrence: Occurrence) -> Run? {
      if let position = all.firstIndex(where: { $0.thread == occurrence.thread }) {
        return all[position].add(occurrence)
      }
      var oldest: Run?
      if all.count >= Runs.limit,
        let position = all.indices.min(by: { all[$0].lastLine < all[$1].lastLine })
      {
        oldest = all.remove(at: position)
      }
      var run = Run(thread: occurrence.thread)
      _ = run.add(occurrence)
      all.append(run)
      return oldest
    }
  }

  private var runs: [Key: Runs] = [:]
  private var storms: [Key: LogStorm] = [:]
  /// The number of keys of each statement.
  private var keyCounts: [Int: Int] = [:]

  /// A statement in a log that can be part of a repetition.
  struct Occurrence {
    var kind: LogStorm.Kind
    var subject: String
    var statement: Int
    var thread: LogThread
    var line: Int
    var time: LogTime
    /// The number of the SELECT in its thread.
    var ordinal: Int
    var microseconds: Int
  }

  /// Processes a statement.
  mutating func add(_ occurrence: Occurrence) {
    let key = Key(
      kind: occurrence.kind, subject: occurrence.subject, statement: occurrence.statement)
    let count = runs.count
    let ended = runs[key, default: Runs()].add(occurrence)
    if let ended { close(ended, key) }
    guard runs.count > count else { return }
    // All keys of a statement have the same hash.
    let keys = keyCounts[key.statement, default: 0]
    guard keys < InputLimits.statementSubjects || key.subject == RepeatedStatementDetector.others
    else {
      runs[key] = nil
      var other = occurrence
      other.subject = RepeatedStatementDetector.others
      return add(other)
    }
    keyCounts[key.statement] = keys + 1
  }

  /// The subject of a statement's faults beyond the maximum number of subjects.
  private static let others = "?"

  /// The findings so far, largest first.
  var found: [LogStorm] {
    var detector = self
    for (key, runs) in runs {
      for run in runs.all { detector.close(run, key) }
    }
    return detector.storms.values.sorted {
      ($0.count, $1.firstLine, $1.name) > ($1.count, $0.firstLine, $0.name)
    }
  }

  private mutating func close(_ run: Run, _ key: Key) {
    guard run.count >= LogStorm.threshold else { return }
    guard var storm = storms[key] else {
      storms[key] = LogStorm(
        kind: key.kind, subject: key.subject, statement: key.statement, runs: 1, count: run.count,
        longest: run.count, firstLine: run.firstLine, lastLine: run.lastLine,
        firstTime: run.firstTime.text, microseconds: run.microseconds)
      return
    }
    storm.runs += 1
    storm.count += run.count
    storm.longest = max(storm.longest, run.count)
    // Those of other threads can have begun earlier, or ended later.
    if run.firstLine < storm.firstLine {
      (storm.firstLine, storm.firstTime) = (run.firstLine, run.firstTime.text)
    }
    storm.lastLine = max(storm.lastLine, run.lastLine)
    storm.microseconds += run.microseconds
    storms[key] = storm
  }
}
