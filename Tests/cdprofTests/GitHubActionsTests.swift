import Foundation
import Testing

@Suite("Output for GitHub Actions")
struct GitHubActionsTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  /// Writes a scenario with a variant that reads a number of rows, but may read only two.
  private func write(_ name: String, count: Int, to path: String, expecting: String = "rows: 2")
    throws
  {
    _ = try program.folder.write(
      """
      name: \(name)
      model: \(PackageFiles.model)
      data: {Continent: {count: 9}}
      steps: [{fetch: Continent, limit: 2, as: all}]
      variants:
        - name: "50%, all: of it"
          set: {all.limit: \(count)}
          expect: {\(expecting)}
      """, to: path)
  }

  private func run(_ arguments: String, in environment: String) throws -> BuiltProgram.Outcome {
    try program.bash("\(environment) cdprof run \(arguments)")
  }

  private func annotations(_ outcome: BuiltProgram.Outcome) -> [String] {
    outcome.output.split(separator: "\n").map(String.init).filter { $0.hasPrefix("::") }
  }

  private func summary() throws -> String {
    try String(contentsOf: program.folder.file("summary.md"), encoding: .utf8)
  }

  @Test func annotationsPointToTheLineInTheRepository() throws {
    try write("One", count: 2, to: "repo/sub/one.yml")
    let job =
      "GITHUB_ACTIONS=true GITHUB_WORKSPACE=\(program.folder.file("repo").path)"
    let passing = try run("repo/sub --baseline b.json --update-baseline", in: job)
    #expect(passing.status == 0 && annotations(passing).isEmpty)
    try write("One", count: 3, to: "repo/sub/one.yml")
    let unmet = try run("repo/sub --quiet --baseline b.json", in: job)
    #expect(unmet.status == 2)
    let place = "::error file=sub/one.yml,line="
    let title = ",title=50%25%2C all%3A of it · "
    let lines = annotations(unmet)
    #expect(
      lines.first?.hasPrefix("\(place)8\(title)rows::expected 2, actual 3%0A3 rows: ") == true)
    #expect(
      lines.dropFirst() == [
        "\(place)6\(title)rows::baseline 2, actual 3",
        "\(place)6\(title)peak::baseline 2, actual 3",
        "\(place)6\(title)peak(Continent)::baseline 2, actual 3",
      ], "\(unmet.output)")
    let outside = try run(
      "repo/sub", in: "GITHUB_ACTIONS=true GITHUB_WORKSPACE=\(program.folder.file("other").path)")
    #expect(
      annotations(outside).first?.hasPrefix(
        "::error file=\(program.folder.file("repo/sub/one.yml").path),line=8,") == true)
    for other in ["GITHUB_ACTIONS=false", "GITHUB_WORKSPACE=repo GITHUB_STEP_SUMMARY=s.md"] {
      let outcome = try run("repo/sub --baseline b.json", in: other)
      #expect(outcome.status == 2 && annotations(outcome).isEmpty)
    }
    #expect(!FileManager.default.fileExists(atPath: program.folder.file("s.md").path))
  }

  /// `--fail-on` also fails findings that the scenario expects, so no expectation is annotated.
  @Test func failingFindingsAreAnnotated() throws {
    _ = try program.folder.write(
      """
      name: Storm
      model: \(PackageFiles.model)
      data: {Continent: {count: 12}}
      steps:
        - {fetch: Continent, values: no, as: all}
        - {touch: all, read: [numericISO3166Code]}
      expect: {findings: [fault-storm(Continent)]}
      """, to: "storm.yml")
    try write("Good", count: 2, to: "good.yml")
    let job = "GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=summary.md"
    let outcome = try run("good.yml storm.yml --fail-on fault-storm", in: job)
    #expect(outcome.status == 3)
    let lines = annotations(outcome)
    #expect(lines.count == 1, "\(outcome.output)")
    let start = "::error file=storm.yml,line=6,title=Storm · fault-storm(Continent)::12 "
    #expect(lines.first?.hasPrefix(start) == true)
    #expect(lines.first?.contains("%0Afix: ") == true, "\(lines)")
    #expect(try summary().hasPrefix("## ✓ Storm: "), "scenarios that fail the run are first")
    #expect(try annotations(run("storm.yml --fail-on chatty-saves", in: job)).isEmpty)
  }

  /// An error's lines become one line; other files are named, too, and nothing runs.
  @Test func invalidScenariosAreAnnotated() throws {
    try write("One", count: 2, to: "one.yml", expecting: "rowz: 2")
    try write("Two", count: 2, to: "two.yml")
    let outcome = try run(
      "one.yml two.yml", in: "GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=summary.md")
    #expect(outcome.status == 65)
    let lines = annotations(outcome)
    #expect(lines.count == 1, "\(outcome.output)")
    let prefix = "::error file=one.yml,line=8,col=14,title=invalid scenario::"
    #expect(lines.first?.hasPrefix(prefix) == true, "\(lines)")
    #expect(lines.first?.contains("%0A") == true)
    #expect(!FileManager.default.fileExists(atPath: program.folder.file("summary.md").path))
  }

  @Test func summaryIsExtended() throws {
    try write("Good", count: 2, to: "a.yml")
    try write("Bad", count: 3, to: "b.yml")
    _ = try program.folder.write("Before\n", to: "summary.md")
    let job = "GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=summary.md"
    #expect(try run("a.yml b.yml --quiet", in: job).status == 2)
    let text = try summary()
    #expect(text.hasPrefix("Before\n## ✗ Bad: "), "failed scenarios are first")
    #expect(text.contains("## ✓ Good: "))
    try write("Bad", count: 1, to: "b.yml", expecting: "selects: 1")
    #expect(try run("b.yml --baseline c.json --update-baseline", in: job).status == 0)
    try write("Bad", count: 4, to: "b.yml", expecting: "selects: 1")
    #expect(try run("b.yml --baseline c.json", in: job).status == 2)
    #expect(try summary().hasSuffix("| `peak(Continent)` | 1 | **4** |\n\n"))
    #expect(try run("b.yml --baseline c.json --update-baseline", in: job).status == 0)
    #expect(try summary().ranges(of: "| ✗ variant |").count == 1, "an update doesn't fail")
  }

  /// GitHub doesn't show a longer summary.
  @Test(arguments: [
    (1 << 20, true, false), (300, false, true), (40, false, false), (0, false, false),
  ])
  func summaryHasAtMostOneMebibyte(left: Int, fits: Bool, isNoted: Bool) throws {
    try write("Good", count: 2, to: "a.yml")
    let size = (1 << 20) - left
    _ = try program.folder.write(String(repeating: "x", count: size), to: "summary.md")
    let outcome = try run("a.yml", in: "GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=summary.md")
    #expect(outcome.status == 0)
    let text = try summary()
    #expect(text.utf8.count <= 1 << 20)
    #expect(text.contains("Good") == fits)
    #expect(text.contains("1 more scenario") == isNoted)
  }

  @Test func summaryThatCannotBeWrittenIsAnError() throws {
    try write("Good", count: 2, to: "a.yml")
    let outcome = try run("a.yml", in: "GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=.")
    #expect(outcome.status == 1 && outcome.errors.contains(". can't be written"))
  }
}
