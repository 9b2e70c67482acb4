import WorkbenchText

/// Detects repetitions of the same statement while a log is read.
///
/// A repetition is on one thread, and continues while only a few other SELECTs of the thread are
/// between its statements and, if lines contain times, less than a second passes. A log doesn't
/// contain call sites, so proximity is used instead.
struct RepeatedStatementDetector {
  /// The values that all statements of a repetition share.
  private struct Key: Hashable {
    let kind: LogStorm.Kind
    let subject: String
    let statement: Int

    init(_ occurrence: Occurrence) {
      (kind, subject) = (occurrence.kind, occurrence.subject)
      statement = occurrence.statement
    }

    func isKey(of occurrence: Occurrence) -> Bool {
      kind == occurrence.kind && subject == occurrence.subject
        && statement == occurrence.statement
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

    /// Adds a statement.
    mutating func add(_ occurrence: Occurrence) {
      if count == 0 {
        firstLine = occurrence.line
        firstTime = occurrence.time
      }
      count += 1
      lastLine = occurrence.line
      lastOrdinal = occurrence.ordinal
      lastSeconds = occurrence.time.seconds
      microseconds += occurrence.microseconds
    }

    /// Returns whether a statement isn't part of the repetition, which ends before it.
    func isApart(_ occurrence: Occurrence) -> Bool {
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
    let key: Key
    private(set) var all: [Run] = []

    /// Adds a statement, which ends the repetition before it, or if there are too many, that of
    /// another thread.
    mutating func add(_ occurrence: Occurrence, _ storms: inout Storms) {
      if let position = all.firstIndex(where: { $0.thread == occurrence.thread }) {
        if all[position].isApart(occurrence) {
          storms.add(all[position], key)
          all[position] = Run(thread: occurrence.thread)
        }
        all[position].add(occurrence)
        return
      }
      if all.count >= Runs.limit,
        let position = all.indices.min(by: { all[$0].lastLine < all[$1].lastLine })
      {
        storms.add(all.remove(at: position), key)
      }
      var run = Run(thread: occurrence.thread)
      run.add(occurrence)
      all.append(run)
    }
  }

  /// The repetitions that can continue, by statement; each has one key, unless its faults have
  /// several subjects.
  private var runs: [Int: [Runs]] = [:]
  private var storms = Storms()

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
    RepeatedStatementDetector.add(
      occurrence, to: &runs[occurrence.statement, default: []], &storms)
  }

  private static func add(
    _ occurrence: Occurrence, to runs: inout [Runs], _ storms: inout Storms
  ) {
    if let position = runs.firstIndex(where: { $0.key.isKey(of: occurrence) }) {
      return runs[position].add(occurrence, &storms)
    }
    var occurrence = occurrence
    if runs.count >= InputLimits.statementSubjects, occurrence.subject != others {
      occurrence.subject = others
      return add(occurrence, to: &runs, &storms)
    }
    var added = Runs(key: Key(occurrence))
    added.add(occurrence, &storms)
    runs.append(added)
  }

  /// The subject of a statement's faults beyond the maximum number of subjects.
  private static let others = "?"

  /// The findings so far, largest first.
  var found: [LogStorm] {
    var storms = storms
    for runs in runs.values.joined() {
      for run in runs.all { storms.add(run, runs.key) }
    }
    return storms.all.values.sorted {
      ($0.count, $1.firstLine, $1.name) > ($1.count, $0.firstLine, $0.name)
    }
  }

  /// The findings of the repetitions that ended.
  private struct Storms {
    private(set) var all: [Key: LogStorm] = [:]

    /// Adds a repetition that ended, if it's long enough.
    mutating func add(_ run: Run, _ key: Key) {
      guard run.count >= LogStorm.threshold else { return }
      guard var storm = all[key] else {
        all[key] = LogStorm(
          kind: key.kind, subject: key.subject, statement: key.statement, runs: 1,
          count: run.count, longest: run.count, firstLine: run.firstLine, lastLine: run.lastLine,
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
      all[key] = storm
    }
  }
}
