import OpenCoreData
import Testing
import WorkbenchFixtures

@testable import ScenarioFiles
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Scenarios with versions of a model")
struct VersionedScenarioTests {
  private func read(
    version: String = "Orders", _ steps: [String], model: String = "Orders"
  ) throws -> Scenario {
    try ScenarioReader.read(
      text: """
        name: Versions
        model: \(model)
        data:
          version: \(version)
          Order: {count: 10 * scale}
        steps:
        \(steps.map { "  - \($0)" }.joined(separator: "\n"))
        """,
      url: PackagedScenarios.folder.appendingPathComponent("versions.yml"), path: "versions.yml")
  }

  @Test("Data has the version that it names, and steps after a migration use the later one")
  func stepsUseTheVersionOfTheirStore() throws {
    let scenario = try read([
      "{fetch: Order, where: \"number > 3\"}", "{migrate: Orders 2}",
      "{fetch: Order, where: \"total > 3\", limit: Order / 10}", "{migrate: Orders 4, way: staged}",
      "{migrate: Orders, fails: 134140}",
      "{count: Order, where: \"isPaid == NO\"}",
    ])
    #expect(scenario.data.version == "Orders")
    #expect(scenario.dataModel.entitiesByName["Order"]?.attributesByName["total"] == nil)
    #expect(scenario.model.entitiesByName["Order"]?.attributesByName["isPaid"] != nil)
    #expect(scenario.steps[1].text == "migrate \"Orders 2\"")
    #expect(try ShellLine.parse(scenario.steps[3].text, number: 1) == scenario.steps[3])
    #expect(ExportCheck(scenario).diagnostics.map(\.line) == [4, 8, 10, 11])
  }

  @Test("Generators are for the properties of the data's version, not those of the current one")
  func dataIsCheckedAgainstItsVersion() throws {
    func read(_ generator: String) throws -> Scenario {
      try ScenarioReader.read(
        text: """
          name: Versions
          model: Articles
          data: {version: Articles both, Article: {count: 3, \(generator)}}
          steps: []
          """,
        url: PackagedScenarios.folder.appendingPathComponent("versions.yml"), path: "versions.yml")
    }
    let scenario = try read("rating: random")
    #expect(scenario.dataModel.entitiesByName["Article"]?.attributesByName["rating"] != nil)
    #expect(scenario.model.entitiesByName["Article"]?.attributesByName["rating"] == nil)
    let error = #expect(throws: ScenarioDiagnostics.self) { try read("subtitle: text 4") }
    let messages = (error?.diagnostics ?? []).map(\.problem.message)
    #expect(messages == ["Article has no property `subtitle`"])
  }

  @Test(arguments: [
    ("Orders 5", "{migrate: Orders 4}", 4, 12, "the model has no version `Orders 5`"),
    ("Orders", "{migrate: Orders 9}", 7, 15, "the model has no version `Orders 9`"),
    ("Orders", "{fetch: Order, where: \"total > 3\"}", 7, 28, "Order has no property `total`"),
    (
      "Orders", "{migrate: Orders 4, mapping: No.xcmappingmodel}", 7, 34,
      "the mapping model `No.xcmappingmodel` can't be read"
    ),
    (
      "Orders", "{migrate: Orders 4, mapping: A.cdm, way: staged}", 7, 6,
      "`migrate` needs either `way` or `mapping`"
    ),
    ("Orders", "{migrate: Orders 4, way: fast}", 7, 30, "`way` can't be `fast`"),
  ])
  func mistakesHaveAPlace(
    version: String, step: String, line: Int, column: Int, message: String
  ) throws {
    let error = #expect(throws: ScenarioDiagnostics.self) {
      try read(version: version, [step])
    }
    let first = try #require(error?.diagnostics.first)
    #expect(first.line == line)
    #expect(first.column == column, "\(first)")
    #expect(first.problem.text.hasPrefix(message), "\(first)")
  }

  @Test(
    "Steps after an invalid migration aren't reported",
    arguments: [
      "{migrate: Orders 9}", "{migrate: Orders 4, way: fast}", "migrate \"Orders 4\" way fast",
      "{migrate: }",
    ])
  func invalidMigrationIsOneDiagnostic(migration: String) {
    let error = #expect(throws: ScenarioDiagnostics.self) {
      try read([migration, "{fetch: Order, where: \"isPaid == NO\"}"])
    }
    #expect(error?.diagnostics.map(\.line) == [7], "\(error as Any)")
  }

  @Test("A model without versions has none to migrate to")
  func plainModelHasNoVersions() throws {
    let error = #expect(throws: ScenarioDiagnostics.self) {
      try ScenarioReader.read(
        text: """
          name: Plain
          model: Notes
          data: {version: Notes, Note: {count: 1}}
          steps: [{migrate: Notes}, {fetch: Note, as: notes}, {migrate: Notes}]
          """,
        url: PackagedScenarios.folder.appendingPathComponent("plain.yml"), path: "plain.yml")
    }
    let messages = (error?.diagnostics ?? []).map(\.problem.message)
    #expect(messages.first == "the model has no versions")
    #expect(messages.contains("the model has no versions, so the store can't be migrated"))
    #expect(messages.contains("the store can't be reopened while result `notes` exists"))
  }
}
