import StatementAnalysis

/// Repeated statements in a log that one statement could replace.
package struct LogStorm: Sendable, Equatable {
  /// The kind of the repeated statements.
  package enum Kind: String, Sendable, CaseIterable {
    /// Object faults or to-many relationship faults that each ran their own SELECT.
    case faultStorm = "fault-storm"
    /// Repetitions of the same fetch or count.
    case fetchLoop = "fetch-loop"
  }

  /// The minimum number of repetitions to report.
  package static let threshold = StatementShape.minimumRepeats

  package var kind: Kind
  /// The entity or relationship, such as `Country` or `Item.tags`, or the table if the entity is
  /// unknown.
  package var subject: String
  /// The number of the repeated statement.
  package var statement: Int
  /// The number of times that the repetition occurred.
  package var runs: Int
  /// The total number of statements.
  package var count: Int
  /// The number of statements in the longest repetition.
  package var longest: Int
  /// The line number of the first statement, starting at 1.
  package var firstLine: Int
  package var lastLine: Int
  /// The time of the first line, as the log contains it.
  package var firstTime: String
  /// The total time of the statements, in microseconds.
  package var microseconds: Int

  /// The name of the finding in `findings`, such as `fault-storm(Country)`.
  package var name: String { "\(kind.rawValue)(\(subject))" }

  /// A description of the fix.
  ///
  /// A log doesn't contain the request, so the fix can't be expressed as code.
  package var fix: String {
    switch kind {
    case .faultStorm where subject.contains("."):
      let name = subject.split(separator: ".").last ?? ""
      return "fetch the owners with relationshipKeyPathsForPrefetching = [\"\(name)\"]"
    case .faultStorm:
      return "fetch these objects before they are read: with their property values, by "
        + "prefetching the relationship that refers to them, or by `self IN objects`"
    case .fetchLoop:
      return "fetch once with an IN or OR predicate before the loop, or keep the result"
    }
  }
}

/// Detects repetitions of the same statement while a log is read.
///
/// A repetition continues while only a few other SELECTs are between its statements and, if lines
/// contain times, less than a second passes. A log doesn't contain call sites, so proximity is used
/// instead.
struct FaultStormDetector {
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
        self = Run()
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
      return now - before > 1 || now < before - 1
    }
  }

  private var runs: [Key: Run] = [:]
  private var storms: [Key: LogStorm] = [:]

  /// A statement in a log that can be part of a repetition.
  struct Occurrence {
    var kind: LogStorm.Kind
    var subject: String
    var statement: Int
    var line: Int
    var time: LogTime
    /// The number of SELECTs before the statement.
    var ordinal: Int
    var microseconds: Int
  }

  /// Processes a statement.
  mutating func add(_ occurrence: Occurrence) {
    let key = Key(
      kind: occurrence.kind, subject: occurrence.subject, statement: occurrence.statement)
    let ended = runs[key, default: Run()].add(occurrence)
    if let ended { close(ended, key) }
  }

  /// The findings so far, largest first.
  var found: [LogStorm] {
    var watch = self
    for (key, run) in runs { watch.close(run, key) }
    return watch.storms.values.sorted {
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
    storm.lastLine = run.lastLine
    storm.microseconds += run.microseconds
    storms[key] = storm
  }
}
