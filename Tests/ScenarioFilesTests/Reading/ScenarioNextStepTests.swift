import Foundation
import Testing
import WorkbenchFixtures

@testable import ScenarioFiles
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Next steps of errors in scenarios")
struct ScenarioNextStepTests {
  private func errors(_ data: String, _ steps: [String]) throws -> [ScenarioDiagnostic] {
    let text = """
      name: Steps
      model: Moody
      data: \(data)
      steps:
      \(steps.map { "  - \($0)" }.joined(separator: "\n"))
      """
    let url = PackagedScenarios.folder.appendingPathComponent("steps.yml")
    let error = try #require(throws: ScenarioDiagnostics.self) {
      try ScenarioReader.read(text: text, url: url, path: "steps.yml")
    }
    return error.diagnostics
  }

  @Test(
    "A step that's neither a line nor a map is one error that shows both forms",
    arguments: [
      (
        "fetch: Mood where latitude > 5 as moods", 12, "the subject of `fetch` must be one word",
        "or the whole step as a line: `fetch Mood where latitude > 5 as moods`"
      ),
      (
        "insert: Mood times 5 as moods", 13, "the subject of `insert` must be one word",
        "as in `{insert: Mood, …}`, or the whole step as a line: `insert Mood times 5 as moods`"
      ),
      (
        "fetch Mood where: latitude > 5 as moods", 5,
        "a colon and a space in this line make it a key and a value",
        "put the whole line in quotes, or write its options as keys: `{fetch: Mood, limit: 20}`"
      ),
      (
        "repeat 3 { fetch Mood as moods }", 5, "a block can't be a line",
        "write `{repeat: 12, steps: [ … ]}`"
      ),
    ])
  func mixedFormsAreExplained(step: String, column: Int, message: String, next: String) throws {
    let found = try errors(
      "{Country: {count: 2}, Mood: {count: 5, country: cycle}}", [step, "touch moods date"])
    #expect(found.map(\.problem.message) == [message])
    #expect(found.map(\.line) == [5] && found.map(\.column) == [column])
    #expect(found.allSatisfy { $0.nextStep.hasSuffix(next) }, "\(found)")
  }

  @Test(
    "An example is one of what's missing",
    arguments: [
      ("{fetch: Mood, fails: often}", "`fails 133020`"),
      ("{fetch: Mood, expect: {selects: at most}}", "`at most 20`, `at least Mood`"),
      ("{fetch: Mood, expect: {selects: \">= 1\"}}", "`at most 20`, `at least Mood`"),
      ("{fetch: Mood, expect: {findings: none}}", "if none may fire, write `[]`"),
      ("{fetch: Mood, expect: {findings: }}", "if none may fire, write `[]`"),
    ])
  func examplesFit(step: String, example: String) throws {
    let found = try errors("{Country: {count: 2}, Mood: {count: 5, country: cycle}}", [step])
    #expect(found.count == 1)
    #expect(found.allSatisfy { $0.nextStep.contains(example) }, "\(found)")
  }

  @Test("A required attribute has no nil among its values", arguments: ["nil", "null"])
  func requiredAttributesAreNotNil(word: String) throws {
    let found = try errors(
      "{Country: {count: 2}, Mood: {count: 5, country: cycle, date: 'one of [\(word)]'}}",
      ["fetch Mood"])
    #expect(
      found.map(\.problem.message) == ["`date` is required, so `\(word)` isn't one of its values"])
    #expect(found.map(\.column) == [77])
  }

  @Test("A file that can't be included is an error without line feeds")
  func missingIncludedFileIsOneLine() throws {
    let found = try errors("{include: no.yml, Country: {count: 2}}", ["fetch Country"])
    let message = try #require(found.first?.problem.message)
    #expect(message.hasPrefix("the file can't be included: there's no file "))
    #expect(message.hasSuffix("no.yml"))
  }

  @Test(
    "A store that can't be copied is the only error",
    arguments: [
      ("no.sqlite", "there's no file `no.sqlite`"), ("Models", "`Models` is a folder, not a store"),
    ])
  func invalidStoreIsOneDiagnostic(store: String, message: String) throws {
    let error = try #require(throws: ScenarioDiagnostics.self) {
      try ScenarioReader.read(
        text: "name: Copy\ndata: {store: \(store)}\nsteps: [fetch Mood]\n",
        url: PackagedScenarios.folder.appendingPathComponent("copy.yml"), path: "copy.yml")
    }
    #expect(error.diagnostics.map(\.problem.message) == [message])
    #expect(error.diagnostics.map(\.column) == [15])
  }

  @Test(
    "Variants without a name, or with one that isn't text, aren't said to have the same name",
    arguments: [
      ("{why: One.}", "the variant has no name"), ("{name: \"\"}", "the variant has no name"),
      ("{name: }", "`name` needs text"), ("{name: [plain]}", "`name` needs text"),
    ])
  func variantsWithoutNameAreNotDuplicates(variant: String, message: String) throws {
    let error = try #require(throws: ScenarioDiagnostics.self) {
      try ScenarioReader.read(
        text: """
          name: Names
          model: Moody
          data: {Country: {count: 2}}
          steps: [fetch Country]
          variants: [\(variant), \(variant)]
          """,
        url: PackagedScenarios.folder.appendingPathComponent("names.yml"), path: "names.yml")
    }
    #expect(error.diagnostics.map(\.problem.message) == [message, message], "\(error)")
  }
}
