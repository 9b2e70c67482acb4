import Foundation
import Testing
import WorkbenchFixtures

@testable import LogAnalysis

@Suite("The page of log formats matches the code")
struct LogDocumentationTests {
  private static let page = PackagedScenarios.folder.deletingLastPathComponent()
    .appendingPathComponent("Documentation/log-formats.md")

  @Test func lineKindsPageIsGenerated() throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let start = try #require(text.range(of: "--filter LogDocumentationTests -->\n")?.upperBound)
    let end = try #require(text.range(of: "<!-- end of kinds -->")?.lowerBound)
    let table = """

      | kind | contents |
      | --- | --- |
      \(LogKind.allCases.map { "| `\($0.name)` | \($0.meaning) |" }.joined(separator: "\n"))


      """
    if ProcessInfo.processInfo.environment["CDPROF_UPDATE_DOCS"] == "1" {
      try text.replacingCharacters(in: start..<end, with: table)
        .write(to: Self.page, atomically: true, encoding: .utf8)
      return
    }
    #expect(text[start..<end] == table, "run this test once with CDPROF_UPDATE_DOCS=1")
  }

  /// Each key of the JSON report is documented.
  @Test func jsonKeysAreDocumented() throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let faults = (1...10).map { SampleLogs.fault("Mood", $0) }.joined()
    let time = "2024-01-01 10:00:00.000 A[1:2]"
    var report = SampleLogs.report(
      """
      cdprof: begin a
      CoreData: annotation: what
      CoreData: error: no
      \(time) CoreData: sql: SELECT COUNT(*) FROM ZITEM
      \(time) CoreData: annotation: total count request execution time: 0.0528s for count of 10456.
      \(faults)
      """)
    report.statements[0].plan = ["SCAN"]
    report.statements[0].loggedPlan = ["SCAN"]
    report.statements[0].assessment = "all"
    let object = try JSONSerialization.jsonObject(with: LogJSON.data(report, showsBinds: true))
    var keys: Set<String> = []
    collect(object, into: &keys)
    #expect(keys.count > 40)
    for key in keys where !text.contains("\"\(key)\"") { Issue.record("\(key) is not on the page") }
  }

  private func collect(_ value: Any, into keys: inout Set<String>) {
    if let list = value as? [Any] { list.forEach { collect($0, into: &keys) } }
    guard let map = value as? [String: Any] else { return }
    for (key, value) in map {
      keys.insert(key)
      // Their keys are documented in separate tables.
      if !["kinds", "classes", "metrics"].contains(key) { collect(value, into: &keys) }
    }
  }
}
