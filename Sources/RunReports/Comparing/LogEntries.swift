import Foundation
import LogAnalysis
package import ProfileEvents
import RunResults
import ScenarioLanguage
import WorkbenchText

/// The comparable entries of two logs: for each, the whole log, then its sections in order.
struct LogEntries {
  /// The name of the entry for a whole log.
  static let whole = "the whole log"

  let before: [RunComparison.Entry]
  let after: [RunComparison.Entry]

  init(_ before: LogReport, _ after: LogReport) {
    // A count that only one log contains can't be compared with the other's 0.
    let hits = before.logsHits && after.logsHits
    let subjects = LogEntries.subjects(before.costs).union(LogEntries.subjects(after.costs))
    func entries(_ report: LogReport) -> [RunComparison.Entry] {
      let all = LogEntries.entry(
        LogEntries.whole, report.costs, report.storms, subjects: subjects, hits: hits)
      var seen: [String: Int] = [:]
      return [all]
        + report.sections.map { section in
          seen[section.name, default: 0] += 1
          let number = seen[section.name, default: 1]
          return LogEntries.entry(
            number == 1 ? section.name : "\(section.name) (\(number))", section.costs,
            section.storms, subjects: section.keepsSubjects ? subjects : [], hits: hits)
        }
    }
    self.before = entries(before)
    self.after = entries(after)
  }

  /// Returns notes about what limits the comparison of two logs.
  static func notes(_ before: LogReport, _ after: LogReport) -> [String] {
    var notes: [String] = []
    if before.logsHits != after.logsHits {
      let file = before.logsHits ? before.file : after.file
      notes.append("faults and hits: only \(file) contains those fulfilled from the row cache")
    }
    for report in [before, after] where report.unmatchedTimes > 0 {
      notes.append(
        "\(report.file) is truncated, or doesn't name threads: "
          + "\(NumberText.counted(report.unmatchedTimes, "time")) without a statement")
    }
    return notes
  }

  /// Returns the entities and relationships whose faults missed the row cache.
  private static func subjects(_ costs: LogCosts) -> Set<MetricScope> {
    Set(costs.byEntity.keys.map(MetricScope.entity))
      .union(
        costs.byRelationship.keys.compactMap { key -> MetricScope? in
          let parts = key.split(separator: ".", maxSplits: 1).map(String.init)
          return parts.count == 2 ? .relationship(entity: parts[0], name: parts[1]) : nil
        })
  }

  private static func entry(
    _ name: String, _ costs: LogCosts, _ storms: [LogStorm], subjects: Set<MetricScope>,
    hits: Bool
  ) -> RunComparison.Entry {
    let available = Metric.allCases.filter { $0.isAvailableInLogs(withHits: hits) }
    let scoped = subjects.map { ScopedMetric(.misses, $0) }
    let variant = ScaledRun.Variant(
      name: name,
      metrics: Dictionary(uniqueKeysWithValues: available.map { ($0, costs.value(of: $0)) }),
      scopedMetrics: Dictionary(
        uniqueKeysWithValues: scoped.map { ($0, costs.value(of: $0) { _ in nil }) }),
      nanoseconds: LogReport.nanoseconds(costs.microseconds))
    let findings = storms.map(\.name).reduce(into: [String]()) { names, name in
      if !names.contains(name) { names.append(name) }
    }
    return (name, variant, findings)
  }
}

/// A statement of two logs, matched by its SQL text regardless of line breaks.
package struct ComparedStatement: Sendable {
  package let sql: String
  package let kind: StatementKind
  /// The number of executions; 0 for a log that doesn't contain the statement.
  package let calls: (before: Int, after: Int)
  /// The total number of rows.
  package let rows: (before: Int, after: Int)
  /// The times of the executions; `nil` if one of the logs contains none.
  package let time: ComparedTime?

  /// Whether the counts differ.
  package var differs: Bool { calls.before != calls.after || rows.before != rows.after }

  init(_ before: LogStatement?, _ after: LogStatement?) {
    let known = before ?? after
    sql = known?.sql ?? ""
    kind = known?.kind ?? .select
    calls = (before?.calls ?? 0, after?.calls ?? 0)
    rows = (before?.rows ?? 0, after?.rows ?? 0)
    if let one = before?.times.spread, let other = after?.times.spread {
      time = ComparedTime(one, other, of: .call)
    } else {
      time = nil
    }
  }

  /// Returns the statements of both logs in the order of the first, then those only in the second.
  static func all(_ before: LogReport, _ after: LogReport) -> [ComparedStatement] {
    func byText(_ report: LogReport) -> [(key: LogBytes, statement: LogStatement)] {
      report.statements.map { (SQLText(LogBytes($0.sql)).key, $0) }
    }
    let one = byText(before)
    let other = byText(after)
    let found = Dictionary(
      other.map { ($0.key, $0.statement) }, uniquingKeysWith: { first, _ in first })
    let known = Set(one.map(\.key))
    return one.map { ComparedStatement($0.statement, found[$0.key]) }
      + other.filter { !known.contains($0.key) }.map { ComparedStatement(nil, $0.statement) }
  }
}

/// Reads the files to compare, which are results or logs depending on how they begin.
package enum ComparedInput {
  /// Reads two files of the same kind and compares them.
  ///
  /// - Parameters:
  ///   - before: A result written with `--report json`, or a log; `-` for standard input.
  ///   - after: A file of the same kind.
  /// - Throws: An `InvalidInputError` if a file is missing, if a file is neither a result nor a
  ///   log, or if the files are of different kinds; `ScenarioDiagnostics` if a result is corrupt.
  package static func comparison(_ before: String, _ after: String) throws -> RunComparison {
    // A file may be a pipe, so each is opened and read only once.
    let inputs = (try LogLines(path: before), try LogLines(path: after))
    let kinds = (isResult(inputs.0), isResult(inputs.1))
    switch kinds {
    case (true, true):
      return RunComparison(try result(inputs.0, before), try result(inputs.1, after))
    case (false, false):
      return RunComparison(try log(inputs.0, before), try log(inputs.1, after))
    default:
      let (result, other) = kinds.0 ? (before, after) : (after, before)
      // An empty or foreign file is reported as such, not as a log.
      _ = try log(kinds.0 ? inputs.1 : inputs.0, other)
      throw InvalidInputError(
        kind: .unusable,
        message: "\(InputFile.name(result)) is a result and \(InputFile.name(other)) is a log",
        nextStep: "compare two results, or two logs")
    }
  }

  /// Returns whether input is a result: it begins with a brace, and isn't a record of `log show`.
  private static func isResult(_ input: LogLines) -> Bool {
    let head = LogBytes(input.peek(1 << 16))
    let first = head.bytes.first { !$0.isWhitespace && $0 != 0x0A }
    return first == UInt8(ascii: "{") && !head.contains("\"eventMessage\"")
  }

  private static func result(_ input: LogLines, _ path: String) throws -> RunResult {
    guard let bytes = input.rest(limit: InputLimits.resultSize) else {
      throw InvalidInputError.tooLong(path, limit: InputLimits.resultSize)
    }
    if let problem = input.problem { throw problem }
    return try ResultFile.read(Data(bytes), path: path)
  }

  private static func log(_ input: LogLines, _ path: String) throws -> LogReport {
    let report = try LogReader.read(input, of: path)
    guard report.isLog else {
      throw InvalidInputError(
        kind: .unusable,
        message: "\(InputFile.name(path)) isn't a result or a log: it has "
          + "\(NumberText.counted(report.lines, "line")), none from Core Data",
        nextStep: "use a file written by `cdprof run --report json`, or SQLDebug output")
    }
    return report
  }
}
