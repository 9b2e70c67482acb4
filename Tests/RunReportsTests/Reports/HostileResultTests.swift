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
  /// In one process for all, because a number that traps would end this one. The last line that it
  /// prints names the number.
  @Test func resultsWithExtremeNumbersDoNotCrash() async {
    let outcome = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let folder = try TemporaryFolder()
      defer { withExtendedLifetime(folder) {} }
      let scenario = try ScenarioReader.read(
        text: Self.scenario, url: ScenarioFiles.folder.appendingPathComponent("small.yml"),
        path: "small.yml")
      let runner = ScenarioRunner(scenario: scenario, outputDirectory: folder.url)
      let json = String(decoding: try JSONReport.data(try runner.run()), as: UTF8.self)
      let numbers = json.matches(of: /[ :\[+*"]([0-9]+)/).map { $0.1.startIndex..<$0.1.endIndex }
      guard numbers.count > 50 else { exit(3) }
      for (index, range) in numbers.enumerated() {
        let hostile = ["9223372036854775807", "1000000000000000", "10000000000000", "-1"][index % 4]
        let line = json[..<range.lowerBound].count { $0 == "\n" } + 1
        FileHandle.standardError.write(Data("line \(line): \(hostile)\n".utf8))
        do {
          let text = json.replacingCharacters(in: range, with: hostile)
          let result = try ResultFile.read(Data(text.utf8), path: "r.json")
          for format in [ReportFormat.html, .text, .trace] { _ = try format.data(result) }
        } catch is ScenarioDiagnostics {
          // It's rejected.
        }
      }
    }
    let printed = String(decoding: outcome?.standardErrorContent ?? [], as: UTF8.self)
    #expect(outcome?.exitStatus == .exitCode(EXIT_SUCCESS), "\(printed.suffix(400))")
  }
}
