import Foundation
import Testing

@Suite("Index of scenarios")
struct ScenarioIndexTests {
  @Test func indexMatchesTheScenarioFiles() throws {
    let text = ScenarioIndexPage.text(of: try ScenarioSummary.all())
    if ProcessInfo.processInfo.environment["CDPROF_UPDATE_DOCS"] == "1" {
      let file = Repository.root.appending(path: ScenarioIndexPage.path)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let page = try Repository.text(of: ScenarioIndexPage.path)
    #expect(page == text, "run this test once with CDPROF_UPDATE_DOCS=1")
  }

  @Test func everyStoryAsksTheReaderToGuess() throws {
    for scenario in try ScenarioSummary.all() {
      #expect(!scenario.name.isEmpty && !scenario.question.isEmpty, "\(scenario.path)")
      #expect(!scenario.question.contains("|"), "\(scenario.path)")
    }
  }

  @Test func changelogHasTheNumbersOfScenarios() throws {
    let changelog = try Repository.text(of: "CHANGELOG.md")
    let scenarios = Repository.files(below: "Scenarios").filter { $0.hasSuffix(".yml") }
    let asking = try scenarios.filter { path in
      try Repository.lines(of: path).contains { $0.hasPrefix("predict:") }
    }
    #expect(changelog.contains("- \(scenarios.count) scenarios for the book's chapters"))
    #expect(changelog.contains("\(asking.count) scenarios ask."))
  }

  /// File names must also be unique, because reports are named after them.
  @Test func scenariosAreInTheFoldersOfTheirChapters() throws {
    let scenarios = try ScenarioSummary.all()
    for scenario in scenarios where !scenario.folder.isEmpty {
      #expect(scenario.chapter == Int(scenario.folder.prefix(2)), "\(scenario.path)")
    }
    let names = scenarios.map { ($0.path as NSString).lastPathComponent }
    #expect(Set(names).count == names.count)
  }
}
