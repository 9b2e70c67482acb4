import Foundation
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import RunReports
@testable import RunResults
@testable import ScenarioLanguage

@Suite("The history of counts")
struct RunHistoryTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static func run(_ commit: String?, day: Int) -> RunHistory.Run {
    RunHistory.Run(commit: commit, date: Date(timeIntervalSince1970: Double(day) * 86_400))
  }

  private static func result(selects: Int, named scenario: String = "Fault storm") -> RunResult {
    var result = FaultStormScenario(moods: 200).result()
    result.scenario = scenario
    result.variants = [result.variants[1]]
    result.variants[0].metrics[.selects] = selects
    return result
  }

  private func history(_ runs: [(commit: String?, selects: Int)]) throws -> RunHistory {
    let url = folder.file("history.jsonl")
    try? FileManager.default.removeItem(at: url)
    for (day, run) in runs.enumerated() {
      try RunHistory.append(
        RunHistory.lines(of: Self.result(selects: run.selects), in: Self.run(run.commit, day: day)),
        to: url)
    }
    return try RunHistory(readingAt: url.path)
  }

  /// A commit that ran again has its latest counts, in its place; runs without a commit are told
  /// apart by their times.
  @Test func runsAreReadInOrder() throws {
    let history = try history([("a", 61), ("b", 62), (nil, 63), (nil, 64), ("a", 60)])
    #expect(history.runs.map(\.commit) == ["a", "b", nil, nil])
    #expect(history.runs[0].date == "1970-01-05T00:00:00Z")
    let selects = try #require(
      history.counts.first { $0.key.metric == ScopedMetric(.selects) }?.value)
    #expect(selects == [0: 60, 1: 62, 2: 63, 3: 64])
  }

  @Test func runsThatEndAtTheSameTimeKeepTheirLines() throws {
    let url = folder.file("shared.jsonl")
    let result = Self.result(selects: 61)
    DispatchQueue.concurrentPerform(iterations: 60) { number in
      let lines = RunHistory.lines(of: result, in: Self.run("\(number)", day: number))
      try? RunHistory.append(lines, to: url)
    }
    let history = try RunHistory(readingAt: url.path)
    #expect(Set(history.runs.map(\.commit)) == Set((0..<60).map { "\($0)" }))
  }

  /// A count of one engine isn't followed by one of another.
  @Test func enginesHaveTheirOwnCounts() throws {
    let url = folder.file("engines.jsonl")
    var server = Self.result(selects: 99)
    server.engine = EngineDescription(name: "PostgreSQL", version: "17.2")
    for day in 0..<2 {
      for result in [Self.result(selects: 61), server] {
        try RunHistory.append(
          RunHistory.lines(of: result, in: Self.run("commit \(day)", day: day)), to: url)
      }
    }
    let history = try RunHistory(readingAt: url.path)
    let selects = history.counts.filter { $0.key.metric == ScopedMetric(.selects) }
    #expect(selects.first(where: { $0.key.engine == nil })?.value == [0: 61, 1: 61])
    #expect(selects.first(where: { $0.key.engine != nil })?.value == [0: 99, 1: 99])
    let page = HistoryPage(history, title: "h")
    #expect(page.curves.isEmpty)
    let name = server.variants[0].name
    #expect(page.constants.map(\.variant) == [name, "\(name) on PostgreSQL"])
  }

  @Test func pageShowsCountsThatChanged() throws {
    let hash = String(repeating: "0123456789abcdef", count: 3).prefix(40)
    let history = try history([("first", 61), ("v2", 61), (String(hash), 5_061)])
    let page = try String(
      decoding: HistoryPage(history, title: "history.jsonl").data(), as: UTF8.self)
    #expect(page.ranges(of: "<svg").count == 1)
    #expect(page.contains("1 cost increased in the latest run"))
    #expect(page.contains("3 runs of 1 scenario: 1 of "))
    #expect(page.contains("<h3>\(Self.result(selects: 1).variants[0].name) · selects</h3>"))
    #expect(page.contains("<th scope=\"row\">012345678</th><td>1970-01-03T00:00:00Z</td>"))
    #expect(page.contains("<td class=\"num\">5,061</td><td class=\"num\">+ 5,000</td>"))
    #expect(!page.contains("v2"), "the table lists only changes")
    #expect(page.contains("Costs that never changed") && page.contains("rows 260"))
    let steady = try HistoryPage(self.history([("a", 9), ("b", 8), ("c", 8)]), title: "h")
    #expect(steady.isGood && steady.curves.count == 1)
    #expect(try HistoryPage(self.history([("a", 9)]), title: "h").curves.isEmpty)
  }

  @Test func pageIsSafeAccessibleAndBounded() throws {
    let text = "</title><script>alert(1)</script><a href=\"javascript:x\" style=\"x\">\u{202E}"
    let url = folder.file("history.jsonl")
    for day in 0..<(HistoryPage.changeLimit + 5) {
      try RunHistory.append(
        RunHistory.lines(
          of: Self.result(selects: 1 + day % 2, named: text),
          in: Self.run("\(text)\(day)", day: day)), to: url)
    }
    let page = try String(
      decoding: HistoryPage(RunHistory(readingAt: url.path), title: text).data(), as: UTF8.self)
    #expect(!page.contains("<script") && !page.contains("<a href=\"j"))
    #expect(!page.contains("\u{202E}") && !page.contains("style=\""))
    #expect(page.contains("script-src 'none'; style-src 'sha256-"))
    #expect(page.contains("and 5 earlier changes"))
    #expect(page.matches(of: /<svg\b[^>]*><title>/).count == 1)
    #expect(page.matches(of: /<table\b[^>]*>\n<thead/).count == 2)
    for section in page.matches(of: /<section\b([^>]*)>/) {
      #expect(section.1.contains("aria-labelledby"))
    }
  }

  @Test(.enabled(if: Chromium.isExpected, "no Chromium here"))
  func browserShowsThePage() throws {
    let page = try HistoryPage(self.history([("a", 9), ("b", 8)]), title: "h").data()
    let shown = try Chromium(opening: String(decoding: page, as: UTF8.self))
    #expect(shown.console.isEmpty, "\(shown.console)")
  }

  @Test func chartsHaveAStepForEachChange() {
    let chart = HistoryChart([(0, 10), (1, 10), (2, 30), (4, 20)], runs: 5)
    #expect(chart.points == "48,96 300,96 300,14 552,14 552,55 552,55")
    #expect(chart.dots.map(\.left) == [48, 300, 552])
    #expect(chart.values.map(\.text) == ["30", "10"])
  }

  @Test(
    arguments: [
      ("{\"commit\":\"a\"}", "1:1", "isn't a line of a history"),
      ("\n\n{\"date\":1}", "3:9", "expected a string"),
      (
        "{\"date\":\"\",\"scenario\":\"\",\"scale\":1,\"variant\":\"\",\"counts\":{\"x\":1}}",
        "1:63",
        "unknown metric x"
      ),
      ("a", "1:1", "invalid JSON"), ("{}x", "1:3", "invalid JSON"),
    ])
  func invalidLinesHaveAPosition(text: String, position: String, message: String) throws {
    let error = try #require(throws: ScenarioDiagnostics.self) {
      _ = try RunHistory(Data(text.utf8), path: "h.jsonl")
    }
    #expect(error.description.hasPrefix("h.jsonl:\(position): error: "), "\(error)")
    #expect(error.description.contains(message), "\(error)")
  }
}
