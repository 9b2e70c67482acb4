import Foundation
import Testing
import WorkbenchFixtures

@testable import ScenarioFiles
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Expressions of batch updates")
struct RowExpressionTests {
  /// A step in YAML, and the same step as a line.
  @Test(arguments: [
    (
      "{batch-update: Mood, with: {latitude: {expression: latitude + 1}, remoteIdentifier: =x}}",
      "batch-update Mood with latitude = latitude + 1, remoteIdentifier '=x'"
    ),
    (
      "{batch-update: Mood, with: {latitude: {expression: \"TERNARY(latitude > 5, 0, longitude)\"}}}",
      "batch-update Mood with latitude = TERNARY(latitude > 5, 0, longitude)"
    ),
    (
      "{batch-update: Mood, with: {latitude: {expression: nil}, longitude: nil}}",
      "batch-update Mood with latitude = nil, longitude nil"
    ),
    (
      "{batch-update: Mood, where: country != nil, with: {remoteIdentifier: {expression: \"'a'\"}}}",
      "batch-update Mood with remoteIdentifier = \"'a'\" where country != nil"
    ),
    (
      "{batch-update: Mood, with: {remoteIdentifier: latitude + 1}}",
      "batch-update Mood with remoteIdentifier 'latitude + 1'"
    ),
  ])
  func stepsAndLinesAreEqual(yaml: String, line: String) throws {
    let step = try ShellLine.parse(line, number: 1)
    #expect(try read([yaml]) == [step])
    #expect(try read([step.yaml]) == [step], "\(step.yaml)")
    #expect(try ShellLine.parse(step.text, number: 1) == step, "\(step.text)")
  }

  @Test func settingsOfVariantsCanBeExpressions() throws {
    let scenario = try ScenarioReader.read(
      text: """
        name: Rows
        model: Moody
        steps: [{batch-update: Mood, with: {latitude: 1}, as: changed}]
        variants:
          - {name: one, set: {changed.with: {latitude: {expression: latitude * 2}}}}
        """,
      url: PackagedScenarios.folder.appendingPathComponent("rows.yml"), path: "rows.yml")
    #expect(
      scenario.variants[0].steps(sharing: scenario.steps).map(\.text)
        == ["batch-update Mood with latitude = \"latitude * 2\" as changed"])
  }

  /// A property with its value, the marked characters, and the message.
  static let errors: [(String, String, String)] = [
    ("latitude: {expression: latitud + 1}", "latitud", "Mood has no property `latitud`"),
    ("latitude: {expression: \"1 + \\\"a\\\" + b\"}", "b", "Mood has no property `b`"),
    (
      "latitude: {expression: 1 + country.numericISO3166Code}", "country.numericISO3166Code",
      "`country.numericISO3166Code` needs rows other than the one to update"
    ),
    (
      "latitude: {expression: latitude > 1}", "l",
      "invalid expression: a condition appears where a value is needed"
    ),
    ("latitude: {expression: latitude 1}", "1", "invalid expression: “1” can't appear here"),
    ("latitude: {expression: latitude + $moods}", "$moods", "`$moods` has no value"),
    (
      "latitude: {expression: \"latitude + %@\"}", "%", "invalid expression: %@ has no argument"
    ),
    ("latitude: {formula: 1}", "formula", "the value of `latitude` has no key `formula`"),
    ("latitude: {expression: }", "{", "`latitude` needs an expression"),
    ("latitude: [1]", "[", "a property's value must be one word or an expression"),
    (
      "country: {expression: nil}", "country",
      "`country` is a relationship; a batch request can set only attributes"
    ),
  ]

  @Test(arguments: errors)
  func errorsMarkThePartOfTheExpression(
    property: String, marked: String, message: String
  ) throws {
    let error = try #require(throws: ScenarioDiagnostics.self) {
      _ = try read(["{fetch: Mood, as: moods}", "{batch-update: Mood, with: {\(property)}}"])
    }
    try expect(error, marked, message)
  }

  @Test func errorsInLinesMarkThePartOfTheExpression() throws {
    let line = "batch-update Mood with longitude 1, latitude = 2 * latitud"
    let error = try #require(throws: ScenarioDiagnostics.self) {
      _ = try read(["{fetch: Mood, as: moods}", line])
    }
    try expect(error, "latitud", "Mood has no property `latitud`")
    #expect(error.description.hasPrefix("rows.yml:5:"), "\(error)")
  }

  private func expect(_ error: ScenarioDiagnostics, _ marked: String, _ message: String) throws {
    #expect(error.diagnostics.count == 1, "\(error)")
    let diagnostic = try #require(error.diagnostics.first)
    #expect(diagnostic.line == 5 && diagnostic.problem.message == message, "\(error)")
    let source = try #require(diagnostic.sourceLine)
    let line = Array(source)
    let range = diagnostic.problem.range
    #expect(String(line[(range.column - 1)...].prefix(range.length)) == marked, "\(error)")
  }

  private func read(_ steps: [String]) throws -> [Step] {
    let lines = ["name: Rows", "model: Moody", "steps:"] + steps.map { "  - \($0)" }
    return try ScenarioReader.read(
      text: lines.joined(separator: "\n"),
      url: PackagedScenarios.folder.appendingPathComponent("rows.yml"), path: "rows.yml"
    ).steps
  }
}
