import Foundation
import ScenarioFiles
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunReports
@testable import RunResults
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
        text: Self.scenario, url: PackagedScenarios.folder.appendingPathComponent("small.yml"),
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

  /// Texts that run, load, or send something where a page contains them unescaped.
  private static let payload =
    "\"'><script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
    + "<a href=\"javascript:document.title='ran'\">a</a><iframe srcdoc=\"<p>a\"></iframe>"
    + "<form action=\"http://localhost\"></form><base href=\"http://localhost/\">"
    + "<style>@import 'http://localhost/a.css';</style></script></style></title><!--]]>"

  /// Appends a payload to each string that isn't read as a word of the format or a number.
  ///
  /// - Returns: The result, and the number of changed strings.
  private static func attacked(_ json: String) throws -> (result: RunResult, count: Int) {
    let strings = json.matches(of: /": "((?:[^"\\]|\\.)*)"/).map {
      $0.1.startIndex..<$0.1.endIndex
    }
    let quoted = payload.replacing("\"", with: "\\\"")
    var (text, count) = (json, 0)
    // From the end, so that the other ranges remain valid.
    for range in strings.reversed() {
      let changed = text.replacingCharacters(in: range, with: text[range] + quoted)
      guard (try? ResultFile.read(Data(changed.utf8), path: "r.json")) != nil else { continue }
      (text, count) = (changed, count + 1)
    }
    return (try ResultFile.read(Data(text.utf8), path: "r.json"), count)
  }

  @Test(
    "A browser shows the report of a hostile result, and runs and loads nothing of it",
    .enabled(if: Chromium.isExpected, "Chromium isn't installed."))
  func browserOnlyShowsAHostileReport() throws {
    let folder = try TemporaryFolder()
    let scenario = try ScenarioReader.read(
      text: Self.scenario, url: PackagedScenarios.folder.appendingPathComponent("small.yml"),
      path: "small.yml")
    let runner = ScenarioRunner(scenario: scenario, outputDirectory: folder.url)
    let json = String(decoding: try JSONReport.data(try runner.run()), as: UTF8.self)
    let (result, count) = try Self.attacked(json)
    #expect(count > 20)
    let page = String(decoding: try ReportFormat.html.data(result), as: UTF8.self)
    let shown = try Chromium(opening: page)
    #expect(shown.console == [])
    #expect(!shown.elements.contains("<title>ran"))
    // The page contains the payload as text, and no element of it.
    #expect(shown.elements.contains("&lt;script&gt;document.title='ran'"))
    let tags = shown.elements.replacing(/="[^"]*"/, with: "")
    for tag in ["img", "iframe", "form", "base"] {
      #expect(!tags.contains("<\(tag)"), "\(tag)")
    }
    #expect(tags.ranges(of: "<script").count == 1 && tags.ranges(of: "<style").count == 1)
  }
}
