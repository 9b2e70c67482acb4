import Foundation
import Testing
import WorkbenchFixtures

@testable import ScenarioFiles
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Positions of errors in scalars on several lines")
struct ScalarPositionsTests {
  /// Returns the errors in a scenario whose steps begin at line 5.
  private func errors(inSteps text: String) throws -> ScenarioDiagnostics {
    try #require(throws: ScenarioDiagnostics.self) {
      try ScenarioReader.read(
        text: """
          name: Lines
          model: Moody
          data: {Country: {count: 2}, Mood: {count: 4, country: cycle}}
          steps:
          \(text)
          variants: [{name: all, why: One.}]
          """,
        url: PackagedScenarios.folder.appendingPathComponent("lines.yml"), path: "lines.yml")
    }
  }

  /// A folded or literal scalar begins on the line after its indicator.
  @Test(arguments: [
    ("where: >\n        latitude > 1\n        AND zzz == 1", 8, 13),
    ("where: |\n        latitude > 1\n\n        AND zzz == 1", 9, 13),
    ("where: latitude > 1\n        AND zzz == 1", 7, 13),
    ("where: \"latitude > 1\n        AND \\u007azz == 1\"", 7, 13),
    ("sort: |\n        date-,\n        zzz", 8, 9),
    ("prefetch: >\n        country,\n        country.continent,\n         zzz", 9, 10),
  ])
  func optionsHaveTheirOwnLines(text: String, line: Int, column: Int) throws {
    let error = try errors(inSteps: "  - fetch: Mood\n    \(text)\n    as: moods")
    let diagnostic = try #require(error.diagnostics.first, "\(error)")
    #expect(diagnostic.problem.message == "Mood has no property `zzz`")
    #expect(diagnostic.line == line && diagnostic.column == column, "\(error)")
  }

  /// Steps as shell lines, with the position of `zzz`.
  @Test(arguments: [
    ("|\n    fetch Mood\n      sort zzz as moods", 7, 12),
    ("|-\n\n      fetch Mood\n\n      limit 3 sort date-,zzz", 9, 26),
    (">\n    fetch Mood\n    limit 3\n    sort zzz", 8, 10),
    (">\n    fetch Mood\n\n    sort date-, zzz\n    limit 3", 8, 17),
    ("fetch Mood\n      sort zzz", 6, 12),
    ("'fetch Mood\n    where \"remoteIdentifier == ''a'' AND zzz == 1\"'", 6, 42),
    ("\"fetch Mood\n    where \\\"latitude > 1 AND zzz == 1\\\"\"", 6, 30),
    ("|\n    fetch Mood where latitude > 1\n      AND zzz == 1", 7, 11),
    ("|\n    fetch Mood # sorted\n    # by\n    sort zzz", 8, 10),
    ("|\n    index Mood keys country,\n      zzz as byCountry", 7, 7),
  ])
  func stepsHaveTheirOwnLines(text: String, line: Int, column: Int) throws {
    let error = try errors(inSteps: "  - \(text)")
    let diagnostic = try #require(error.diagnostics.first, "\(error)")
    #expect(error.diagnostics.count == 1, "\(error)")
    #expect(diagnostic.problem.message.hasPrefix("Mood has no property `zzz`"), "\(error)")
    #expect(diagnostic.line == line && diagnostic.column == column, "\(error)")
    #expect(diagnostic.keyPath == "steps[0]")
  }

  @Test func invalidWordIsMarkedOnItsLine() throws {
    let error = try errors(
      inSteps: "  - |\n    fetch Mood\n      where \"latitude > 0\"\n      limt 3 as moods")
    #expect(
      error.description.hasPrefix(
        """
        lines.yml:8:7: error: unknown option `limt`; did you mean `limit`?
                limt 3 as moods
                ^^^^
        steps[0]: `fetch` takes: where,
        """), "\(error)")
  }

  @Test(arguments: [
    ("|\n    fetch Mood\n    sort [date,", "unterminated list", 7, 10),
    ("|\n    fetch Mood\n    where \"date", "unterminated string", 7, 11),
    (">\n    fetch Mood\n    where", "`where` needs a predicate", 7, 5),
  ])
  func unfinishedStepsHaveTheirOwnLines(
    text: String, message: String, line: Int, column: Int
  ) throws {
    let diagnostic = try #require(try errors(inSteps: "  - \(text)").diagnostics.first)
    #expect(diagnostic.problem.message == message)
    #expect(diagnostic.line == line && diagnostic.column == column)
  }

  /// Columns are characters, some of which have several Unicode scalars.
  @Test func manyValuesOfALineAreReadInLinearTime() throws {
    let keys = Array(repeating: "country", count: 10_000).joined(separator: ", ")
    let start = "  - {fetch: Mood, where: \"remoteIdentifier == '👩‍👧 e\u{301}'\", prefetch: ["
    let begin = threadTime()
    let error = try errors(inSteps: "\(start)\(keys), zzz]}")
    #expect(threadTime() - begin < 30)
    let diagnostic = try #require(
      error.diagnostics.first { $0.problem.message.contains("zzz") }, "\(error)")
    #expect(diagnostic.line == 5)
    #expect(diagnostic.column == start.count + keys.count + 3)
  }
}
