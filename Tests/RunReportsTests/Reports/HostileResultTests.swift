import Foundation
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunReports
@testable import ScenarioLanguage

@Suite("Hostile results")
struct HostileResultTests {
  private static let scenario = """
    name: Large
    model: Moody
    data: {Continent: {count: 3}}
    steps:
      - {fetch: Continent, as: c}
    """

  /// Replaces each number of a result with an extreme one, and renders the result in several
  /// formats.
  ///
  /// In one process for all, because a number that traps would end this one.
  @Test func resultsWithExtremeNumbersDoNotCrash() async throws {
    let folder = try TemporaryFolder()
    let file = folder.file("number").path
    await #expect(processExitsWith: .success) { [file = file as String] in
      let scenario = try ScenarioReader.read(
        text: Self.scenario, url: ScenarioFiles.folder.appendingPathComponent("small.yml"),
        path: "small.yml")
      let runner = ScenarioRunner(
        scenario: scenario,
        outputDirectory: URL(fileURLWithPath: file).deletingLastPathComponent())
      let json = String(decoding: try JSONReport.data(try runner.run()), as: UTF8.self)
      let numbers = json.matches(of: /[ :\[+*"]([0-9]+)/).map { $0.1.startIndex..<$0.1.endIndex }
      try #require(numbers.count > 50)
      for (index, range) in numbers.enumerated() {
        let hostile = ["9223372036854775807", "1000000000000000", "10000000000000", "-1"][index % 4]
        let line = json[..<range.lowerBound].count { $0 == "\n" } + 1
        try Data("\(hostile) in line \(line)".utf8).write(to: URL(fileURLWithPath: file))
        do {
          let text = json.replacingCharacters(in: range, with: hostile)
          let result = try ResultFile.read(Data(text.utf8), path: "r.json")
          for format in [ReportFormat.html, .text, .trace, .otlp] { _ = try format.data(result) }
        } catch is ScenarioDiagnostics {
          // It's rejected.
        }
      }
      try Data("all".utf8).write(to: URL(fileURLWithPath: file))
    }
    let last = try String(contentsOfFile: file, encoding: .utf8)
    #expect(last == "all")
  }
}
