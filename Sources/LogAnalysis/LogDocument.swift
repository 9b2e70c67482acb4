package import Foundation
import ProfileEvents
import ScenarioLanguage
package import StatementAnalysis
import WorkbenchText

/// The JSON document for a log.
///
/// The property names are the JSON keys.
struct LogDocument: Encodable {
  struct Sample: Encodable {
    let line: Int
    let kind: String
    let text: String
    let count: Int
  }

  struct Storm: Encodable {
    let name: String
    let rule: String
    let subject: String
    let statement: Int
    let runs: Int
    let count: Int
    let longest: Int
    let firstLine: Int
    let lastLine: Int
    let firstTime: String?
    let seconds: Double
    let cure: String
  }

  struct Section: Encodable {
    let name: String
    let firstLine: Int
    let lastLine: Int
    let firstTime: String?
    let metrics: [String: Int]
    let storms: [Storm]
    let holds: Bool?
    let expectations: [JSONExpectation]?
  }

  let file: String
  let lines: Int
  let wrappedAt: Int?
  let kinds: [String: Int]
  let classes: [String: Int]
  let unrecognized: Int
  let unrecognizedLines: [Sample]
  let problems: [Sample]
  let firstTime: String?
  let lastTime: String?
  let stores: [String]
  let unmatchedTimes: Int
  let tellsHits: Bool
  let seconds: Double
  let metrics: [String: Int]
  let statements: [LogStatementJSON]
  let storms: [Storm]
  let sections: [Section]
  let holds: Bool?
  let missing: [String]?
  let notJudged: [String]?
  let advice: AdviceJSON.Document?

  init(
    _ report: LogReport, _ evaluation: LogEvaluation?, _ advice: IndexAdvice?, showsBinds: Bool
  ) {
    file = report.file
    lines = report.lines
    wrappedAt = report.wrap?.column
    kinds = Dictionary(uniqueKeysWithValues: report.kinds.map { ($0.name, $1) })
    classes = Dictionary(uniqueKeysWithValues: report.classes.map { ($0.name, $1) })
    unrecognized = report.unrecognized
    unrecognizedLines = report.unrecognizedLines.map(LogDocument.sample)
    problems = report.problems.map(LogDocument.sample)
    firstTime = report.firstTime.isEmpty ? nil : report.firstTime
    lastTime = report.lastTime.isEmpty ? nil : report.lastTime
    stores = report.stores
    unmatchedTimes = report.unmatchedTimes
    tellsHits = report.logsHits
    seconds = Double(report.microseconds) / 1e6
    metrics = LogDocument.metrics(report.costs, withHits: report.logsHits)
    statements = report.statements.map { LogStatementJSON($0, showsBinds: showsBinds) }
    storms = report.storms.map(LogDocument.storm)
    sections = report.sections.enumerated().map { index, section in
      let results = evaluation?.results[index]
      return Section(
        name: section.name, firstLine: section.firstLine, lastLine: section.lastLine,
        firstTime: section.firstTime.isEmpty ? nil : section.firstTime,
        metrics: LogDocument.metrics(section.costs, withHits: report.logsHits),
        storms: section.storms.map(LogDocument.storm), holds: results?.allSatisfy(\.isMet),
        expectations: results?.map(JSONExpectation.init))
    }
    holds = evaluation?.passes
    missing = evaluation?.missing.map(\.name)
    notJudged = evaluation.map { $0.notEvaluated + [$0.leftOut].compactMap(\.self) }
    self.advice = advice.map(AdviceJSON.document)
  }

  /// Returns the metrics that a log contains, by name.
  private static func metrics(_ costs: LogCosts, withHits: Bool) -> [String: Int] {
    let available = Metric.allCases.filter { $0.isAvailableInLogs(withHits: withHits) }
    return Dictionary(uniqueKeysWithValues: available.map { ($0.rawValue, costs.value(of: $0)) })
  }

  private static func sample(_ sample: LogSample) -> Sample {
    Sample(
      line: sample.line, kind: sample.logClass.name, text: sample.text, count: sample.count)
  }

  private static func storm(_ storm: LogStorm) -> Storm {
    Storm(
      name: storm.name, rule: storm.kind.rawValue, subject: storm.subject,
      statement: storm.statement, runs: storm.runs, count: storm.count, longest: storm.longest,
      firstLine: storm.firstLine, lastLine: storm.lastLine,
      firstTime: storm.firstTime.isEmpty ? nil : storm.firstTime,
      seconds: Double(storm.microseconds) / 1e6, cure: storm.fix)
  }
}

/// The JSON output for a log: one object with sorted keys.
///
/// Times are in seconds, as in the log.
package enum LogJSON {
  /// Returns the JSON data, which ends with a newline.
  ///
  /// - Parameters:
  ///   - report: The report of the log.
  ///   - evaluation: The evaluation of the log's sections.
  ///   - advice: The suggested indexes, which were tested.
  ///   - showsBinds: Whether the data includes bound values.
  package static func data(
    _ report: LogReport, evaluation: LogEvaluation? = nil, advice: IndexAdvice? = nil,
    showsBinds: Bool = false
  ) throws -> Data {
    try JSONOutput.lines(LogDocument(report, evaluation, advice, showsBinds: showsBinds))
  }
}

/// A statement in the JSON document of a log.
struct LogStatementJSON: Encodable {
  let number: Int
  let sql: String
  let cut: Bool
  let kind: String
  let table: String?
  let entity: String?
  let calls: Int
  /// The number of executions with a logged time.
  let timed: Int
  let rows: Int
  let counted: Int?
  let total: Double
  let own: Double
  let connection: Double
  let mean: Double
  let p95: Double
  let max: Double
  let objectFaults: Int
  let relationshipFaults: Int
  let prefetches: Int
  let firstLine: Int
  let lastLine: Int
  let firstTime: String?
  let lastTime: String?
  /// The bound values, or `nil` if they're hidden.
  let binds: [String]?
  let loggedPlan: [String]?
  let plan: [String]?
  let verdict: String?

  init(_ statement: LogStatement, showsBinds: Bool) {
    let times = statement.times
    number = statement.number
    sql = statement.sql
    cut = statement.isTruncated
    kind = statement.kind.rawValue
    table = statement.table
    entity = statement.entity
    calls = statement.calls
    timed = times.count
    rows = statement.rows
    counted = statement.counted == 0 ? nil : statement.counted
    total = Double(times.total) / 1e6
    own = Double(statement.own) / 1e6
    connection = Double(statement.connection) / 1e6
    mean = times.mean / 1e6
    p95 = Double(times.percentile(95)) / 1e6
    max = Double(times.largest) / 1e6
    objectFaults = statement.objectFaults
    relationshipFaults = statement.relationshipFaults
    prefetches = statement.prefetches
    firstLine = statement.firstLine
    lastLine = statement.lastLine
    firstTime = statement.firstTime.isEmpty ? nil : statement.firstTime.text
    lastTime = statement.lastTime.isEmpty ? nil : statement.lastTime.text
    binds = showsBinds ? statement.binds : nil
    loggedPlan = statement.loggedPlan.isEmpty ? nil : statement.loggedPlan
    plan = statement.plan.isEmpty ? nil : statement.plan
    verdict = statement.assessment.isEmpty ? nil : statement.assessment
  }
}
