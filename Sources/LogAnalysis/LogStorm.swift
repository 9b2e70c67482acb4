import StatementAnalysis

/// Statements of a log that come one after the other where one would do.
package struct LogStorm: Sendable, Equatable {
  /// What repeats.
  package enum Kind: String, Sendable, CaseIterable {
    /// Object or to-many faults that each went to the database.
    case faultStorm = "fault-storm"
    /// The same fetch or count again and again.
    case fetchLoop = "fetch-loop"
  }

  /// Fewer are not worth a word.
  package static let threshold = StatementShape.fewestRepeats

  package var kind: Kind
  /// `Country`, `Item.tags`; a table where no entity is known.
  package var subject: String
  /// The statement that repeats, by its number.
  package var statement: Int
  /// Times that it happened.
  package var runs: Int
  /// Statements in all of them.
  package var count: Int
  /// Statements in the largest.
  package var longest: Int
  /// Where the first begins, counted from 1.
  package var firstLine: Int
  package var lastLine: Int
  /// The time in front of its first line, as the log has it.
  package var firstTime: String
  /// What its statements took, in microseconds.
  package var microseconds: Int

  /// `fault-storm(Country)`: what `findings` lists.
  package var name: String { "\(kind.rawValue)(\(subject))" }

  /// What to do about it, in words: a log shows no request to write the cure into.
  package var cure: String {
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

/// Finds runs of the same statement while a log is read.
///
/// A run goes on while few other SELECTs lie between two of its statements and, where lines carry
/// times, less than a second passes. A log has no call sites; closeness stands in for them.
struct FaultStormDetector {
  /// What must be the same.
  private struct Key: Hashable {
    var kind: LogStorm.Kind
    var subject: String
    var statement: Int
  }

  private struct Run {
    var count = 0
    var firstLine = 0
    var lastLine = 0
    var firstTime = ""
    var lastOrdinal = 0
    var lastSeconds: Double?
    var microseconds = 0
  }

  private var runs: [Key: Run] = [:]
  private var storms: [Key: LogStorm] = [:]

  /// One statement of a log that may be part of a storm.
  struct Sighting {
    var kind: LogStorm.Kind
    var subject: String
    var statement: Int
    var line: Int
    var time: LogTime
    /// How many SELECTs came before it.
    var ordinal: Int
    var microseconds: Int
  }

  /// Takes a statement.
  mutating func see(_ sighting: Sighting) {
    let key = Key(
      kind: sighting.kind, subject: sighting.subject, statement: sighting.statement)
    var run = runs[key] ?? Run()
    if run.count > 0, isApart(run, sighting) {
      close(run, key)
      run = Run()
    }
    if run.count == 0 {
      run.firstLine = sighting.line
      run.firstTime = sighting.time.text
    }
    run.count += 1
    run.lastLine = sighting.line
    run.lastOrdinal = sighting.ordinal
    run.lastSeconds = sighting.time.seconds
    run.microseconds += sighting.microseconds
    runs[key] = run
  }

  /// The storms of everything seen, the largest first.
  var found: [LogStorm] {
    var watch = self
    for (key, run) in runs { watch.close(run, key) }
    return watch.storms.values.sorted {
      ($0.count, $1.firstLine, $1.name) > ($1.count, $0.firstLine, $0.name)
    }
  }

  private func isApart(_ run: Run, _ sighting: Sighting) -> Bool {
    let between = sighting.ordinal - run.lastOrdinal - 1
    if between > (sighting.kind == .faultStorm ? 20 : 4) { return true }
    guard let before = run.lastSeconds, let now = sighting.time.seconds else { return false }
    return now - before > 1 || now < before - 1
  }

  private mutating func close(_ run: Run, _ key: Key) {
    guard run.count >= LogStorm.threshold else { return }
    guard var storm = storms[key] else {
      storms[key] = LogStorm(
        kind: key.kind, subject: key.subject, statement: key.statement, runs: 1, count: run.count,
        longest: run.count, firstLine: run.firstLine, lastLine: run.lastLine,
        firstTime: run.firstTime, microseconds: run.microseconds)
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
