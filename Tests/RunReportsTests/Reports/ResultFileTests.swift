import Foundation
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import RunReports
@testable import RunResults
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("JSON results round-trip")
struct ResultFileTests {
  /// A result that uses every feature of the format.
  private static let fullResult = {
    var result = FaultStormScenario(moods: 300, countries: 5).result(missing: true)
    result.variants[0].take(repeats: [4_000_000, 5_000_000, 9_000_000])
    result.variants[0].scopedMetrics[ScopedMetric(.misses, .step("moods"))] = 3
    result.variants[0].scopedMetrics[
      ScopedMetric(.faults, .relationship(entity: "Country", name: "moods"))] = 4
    result.variants[0].stacks = [
      StackShape(
        kind: .objectFault, subject: "Mood", count: 7, frames: ["list()", "a \"quoted\" {name}"])
    ]
    result.environment.jobs = 4
    result.scenario = "Storm \"one\" \\ {two} ü"
    var other = result
    other.scale = 10
    other.variants[3].name = "prefetched"
    return RunResult(joining: [result, other])
  }()

  /// A report; spans have the same time and identifiers.
  private static func text(_ result: RunResult, as format: ReportFormat) throws -> String {
    guard format == .otlp else { return String(decoding: try format.data(result), as: UTF8.self) }
    var identifiers = ReportIdentifiers(state: 1)
    return String(
      decoding: OpenTelemetryReport.data(result, at: .distantPast, using: &identifiers),
      as: UTF8.self)
  }

  @Test(arguments: ReportFormat.allCases)
  func reportsOfASavedResultAreEqual(format: ReportFormat) throws {
    let result = Self.fullResult
    let read = try ResultFile.read(JSONReport.data(result), path: "r.json")
    let before = try Self.text(result, as: format)
    let after = try Self.text(read, as: format)
    #expect(before == after, "\(before.commonPrefix(with: after).suffix(80))")
    #expect(read.scales == result.scales)
    #expect(read.variants[0].scopedMetrics == result.variants[0].scopedMetrics)
    #expect(read.variants.map(\.tracks) == result.variants.map(\.tracks))
    #expect(read.variants.map(\.timeline) == result.variants.map(\.timeline))
    #expect(read.passes == false)
  }

  private static let savedText = Result {
    String(
      decoding: try JSONReport.data(FaultStormScenario(moods: 300, countries: 5).result()),
      as: UTF8.self)
  }

  /// A string to replace, its replacement, and the key path, message, and marked text of the
  /// expected error.
  @Test(arguments: [
    ("\"chapter\": 15", "\"chapter\": \"x\"", "chapter", "expected an integer", "\"x\""),
    ("\"chapter\": 15", "\"chapter\" 15", "", "expected a colon", "15"),
    ("\"chapter\": 15,", "\"chapter\": 15", "", "expected a comma or }", "\""),
    ("\"version\": 1", "\"version\": 9", "version", "result version 9 isn't supported", "9"),
    ("\"version\": 1", "\"w\": 1", "", "`version` is missing, so the file isn't a", "{"),
    (
      "faults.yml:15\"", "faults-15\"", "", "doesn't have the form FILE:LINE",
      "\"Scenarios/faults-15\""
    ),
    (
      "\"relation\": \"equal\"", "\"relation\": \"equals\"", "variants[0].expectations[0].relation",
      "`equals` isn't a valid value", "\"equals\""
    ),
    (
      "\"selects\": 306, ", "\"selets\": 306, ", "variants[0].metrics.selets",
      "unknown metric selets", "306"
    ),
    (
      "\"marks\": \"", "\"marks\": \"7 ", "variants[0].tracks[0].marks", "BEGIN+LENGTH*COUNT",
      "\"7 "
    ),
    (
      "\"spans\": \"", "\"spans\": \"7 ", "variants[0].timeline.lanes[0].spans",
      "BEGIN+LENGTH*ROWS#KEY", "\"7 "
    ),
    ("\"version\": 1\n}", "\"version\": 1\n", "", "expected a comma or }", ""),
  ])
  func invalidResultsHaveAPosition(
    old: String, new: String, keyPath: String, message: String, start: String
  ) throws {
    var text = try Self.savedText.get()
    let range = try #require(text.firstRange(of: old), "\(old) is not in the file")
    text.replaceSubrange(range, with: new)
    let error = try #require(throws: ScenarioDiagnostics.self) {
      _ = try ResultFile.read(Data(text.utf8), path: "r.json")
    }
    let problem = error.diagnostics[0]
    #expect(problem.problem.message.contains(message), "\(error)")
    if !keyPath.isEmpty { #expect(problem.keyPath == keyPath) }
    #expect(error.description.hasPrefix("r.json:\(problem.line):"))
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let marked = lines[problem.line - 1].dropFirst(problem.column - 1)
    #expect(marked.hasPrefix(start), "\(marked.prefix(40))")
  }

  @Test(arguments: ["", "{", "[1,]", "nul", "\"a", "{\"a\": 1} x", "{1: 2}"])
  func nonJSONFilesAreReported(text: String) throws {
    let error = try #require(throws: ScenarioDiagnostics.self) {
      _ = try ResultFile.read(Data(text.utf8), path: "r.json")
    }
    #expect(error.description.contains("invalid JSON: "))
  }

  @Test(arguments: ["{\"a\": 1-2}", "{\"seed\": 1-2}", "[-]"])
  func malformedNumbersAreReportedAsSuch(text: String) throws {
    let error = try #require(throws: ScenarioDiagnostics.self) {
      _ = try ResultFile.read(Data(text.utf8), path: "r.json")
    }
    #expect(error.description.contains("invalid JSON: expected a number"))
  }
}
