import Foundation
import ProfileEvents
import ScenarioLanguage
import Testing
import WorkbenchFixtures

@testable import LogAnalysis
@testable import RunReports
@testable import RunResults

@Suite("Reports as JSON Lines")
struct ReportLineTests {
  // A `Regex` isn't Sendable, but matching doesn't change it.
  nonisolated(unsafe) private static let validator = Result {
    try SchemaValidator(ReportLineSchema.document)
  }
  private let validator: SchemaValidator

  init() throws {
    validator = try Self.validator.get()
  }

  private static let labels = ["release=1.4", "device=a \"phone\" = 1"].compactMap(ReportLabel.init)

  /// A run on another engine while another scenario ran, with a variant whose last events were
  /// left out.
  private static let run = {
    var result = FaultStormScenario(moods: 40, countries: 20).result()
    result.engine = EngineDescription(name: "PostgreSQL", version: "17")
    result.environment.jobs = 2
    result.variants[0].timeline.leftOut = 3
    result.variants[0].timeline.lanes[0].context = "main"
    return String(decoding: JSONLinesReport.data(result, labels: labels), as: UTF8.self)
  }()

  /// Lists of two lengths, faults in a section, a truncated statement, and an entity of its own.
  private static let log: String = {
    let text =
      SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.Z_PK IN (?,?)", rows: 2)
      + SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.Z_PK IN (?, ?, ?)", rows: 3)
      + "CoreData: sql: SELECT 0, t0.Z_PK FROM ZNO\u{0}TE t0 WHERE t0.ZTEXT = ? AND <…>\n"
      + "CoreData: details: SQLite bind[0] = \"secret\"\n" + "cdprof: begin list\n"
      + (1...10).map { SampleLogs.fault("Country", $0) }.joined() + "cdprof: end\n"
    let timed = text.split(separator: "\n").map { "2026-11-27 12:00:00.100 App[7:1] \($0)\n" }
    var report = SampleLogs.report(timed.joined())
    report.file = "logs/a.log"
    let country = report.statements.firstIndex { $0.table == "ZCOUNTRY" }
    if let country { report.statements[country].entity = "Country" }
    let result = ExpectationResult(
      metric: "selects", formula: "10", relation: .equal, expected: .number(10),
      actual: .number(10), isMet: true, source: .ours, location: CallSite(file: "b.yml", line: 1))
    var evaluation = LogEvaluation()
    evaluation.results[0] = [result]
    let input = LogReportInput(
      report: report, evaluation: evaluation, showsBinds: true, labels: labels)
    return String(decoding: LogReportFormat.lines(input), as: UTF8.self)
  }()

  private func lines(_ text: String) throws -> [JSONValue] {
    #expect(text.hasSuffix("}\n"))
    return try text.split(separator: "\n").map {
      try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8))
    }
  }

  @Test func schemaFileIsGenerated() throws {
    let page = try GeneratedDocument.text(
      of: ReportLineSchema.fileName, generated: ReportLineSchema.document)
    #expect(page == ReportLineSchema.document, "run this test once with CDPROF_UPDATE_DOCS=1")
  }

  /// The schema allows keys that it doesn't declare, but the program writes none, and writes each
  /// key that the schema declares.
  @Test func linesHaveExactlyTheKeysOfTheSchema() throws {
    let definitions = try #require(validator.root.object["$defs"]?.object)
    let common = Set(try #require(validator.root.object["properties"]?.object).keys)
    var unused = definitions.mapValues {
      Set($0.object["properties"]?.object.keys.map(\.self) ?? [])
    }
    for line in try lines(Self.run) + lines(Self.log) {
      let problems = validator.problems(of: line)
      #expect(problems.isEmpty, "\(line): \(problems)")
      let kind = try #require(line.object["kind"]?.text)
      let name = EventKind(rawValue: kind) == nil ? kind : "event"
      let declared = try #require(definitions[name]?.object["properties"]?.object)
      let keys = Set(line.object.keys)
      #expect(keys.subtracting(common).isSubset(of: declared.keys), "\(line)")
      unused[name]?.subtract(keys)
    }
    #expect(unused.values.allSatisfy { $0.isEmpty }, "\(unused)")
  }

  @Test func everyLineHasTheVersionTheOriginAndTheLabels() throws {
    for (key, text) in [("scenario", Self.run), ("log", Self.log)] {
      let origins = try lines(text).map { line in
        line.object.filter { ["version", key, "labels"].contains($0.key) }
      }
      #expect(origins.count > 5 && origins.allSatisfy { $0.count == 3 && $0 == origins[0] })
      #expect(origins[0]["version"] == .number(Double(ReportLine.version)))
      #expect(origins[0]["labels"]?.object["device"] == .text("a \"phone\" = 1"))
    }
  }

  @Test func statementsOfALogHaveTheirTotals() throws {
    let totals = try lines(Self.log).map(\.object).filter {
      $0["kind"] == .text("statement-totals")
    }
    let lists = totals.filter { $0["table"] == .text("ZMOOD") }
    #expect(lists.map { $0["rows"] } == [.number(2), .number(3)])
    #expect(Set(lists.map { $0["normalized"]?.text }).count == 1)
    let faults = try #require(totals.first { $0["entity"] == .text("Country") })
    #expect(faults["executions"] == .number(10) && faults["faults"] == .number(10))
    #expect(faults["nanoseconds"] == .number(2_000_000) && faults["timed"] == .number(10))
    #expect(faults["maxNanoseconds"] == .number(200_000))
    // PostgreSQL can't store NUL.
    let truncated = try #require(totals.first { $0["truncated"] == .flag(true) })
    #expect(truncated["sql"]?.text?.contains("ZNO\u{FFFD}TE") == true)
    #expect(truncated["timed"] == .number(0) && truncated["maxNanoseconds"] == nil)
    #expect(truncated["binds"]?.array == [.text("\"secret\"")])
  }

  @Test(arguments: ["", "release", "=1", "1a=2", "a-b=2", "ä=1"])
  func labelsRequireAKey(text: String) {
    #expect(ReportLabel(text) == nil)
  }
}
