import OpenCoreData
import ProfileEvents
import ScenarioFiles
import ScenarioLanguage
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import Profiling
@testable import RunResults

@Suite("Steps that migrate a store")
struct MigrationStepTests {
  /// Runs lines on a store of a version, and returns their outcomes.
  private func run(
    _ lines: [String], model: String, version: String, rows: [String]
  ) throws -> (outcomes: [StepOutcome], recording: Recording) {
    let folder = try TemporaryFolder()
    let scenario = try ScenarioReader.read(
      text: """
        name: Migration
        model: \(model)
        data:
          version: \(version)
        \(rows.map { "  \($0)" }.joined(separator: "\n"))
        steps: []
        """,
      url: PackagedScenarios.folder.appendingPathComponent("migration.yml"), path: "migration.yml")
    let url = folder.file("migration.sqlite")
    _ = try ScenarioData.make(scenario.data, model: scenario.dataModel, scale: 1, at: url)
    let session = try Session(
      storeURL: url, model: scenario.dataModel, versions: scenario.versions, readOnly: false)
    return try withExtendedLifetime(folder) {
      let outcomes = try lines.enumerated().map { index, line in
        try session.run(try ShellLine.parse(line, number: index + 1))
      }
      return (outcomes, session.recording)
    }
  }

  private static let articles = [
    "Author: {count: 2}", "Article: {count: 120, title: text 8, author: cycle}",
  ]
  private static let orders = ["Order: {count: 120}"]

  @Test("Steps after a migration run against the new version, with the contexts of before")
  func stepsRunAgainstTheMigratedStore() throws {
    let (outcomes, recording) = try run(
      [
        "context sync policy overwrite", "count Order", "migrate \"Orders 2\"",
        "fetch Order where \"total == 0\" in sync as all", "drop all",
        "insert Order with total 5", "save", "migrate \"Orders 4\"",
        "count Order where \"isPaid == NO AND total == 5\"",
      ], model: "Orders", version: "Orders", rows: Self.orders)
    #expect(outcomes[2].summary == "migrated to Orders 2, 120 rows written")
    #expect(outcomes[3].summary.contains("120 Order"))
    #expect(outcomes[8].costs.counters.rows == 1)
    #expect(recording.value(of: .migrations) == 2)
    #expect(recording.value(of: .migratedrows) == 120 + 121)
    #expect(recording.value(of: .inserts) == 1)
    #expect(recording.value(of: .updates) == 0)
  }

  @Test(
    "A store of a configuration is migrated with it",
    arguments: ["", " way progressive", " way deferred", " way staged", " way custom"])
  func configurationIsMigrated(way: String) throws {
    let store = try ConfigurationStore()
    let folder = store.folder.file("City.xcdatamodeld")
    for (name, hasArea) in [("City", false), ("City 2", true)] {
      let version = folder.appendingPathComponent("\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      try Data(
        ModelDocument.text(of: ConfigurationStore.model(hasArea: hasArea)).text.utf8
      ).write(to: version.appendingPathComponent("contents"))
    }
    let versions = try #require(VersionedModel(folder))
    let session = try Session(
      storeURL: store.url, model: versions.versions[0].model, configuration: "Local",
      versions: versions, readOnly: false)
    let lines = ["migrate \"City 2\"\(way)", "count City where \"area == nil\""]
    let outcomes = try lines.enumerated().map { index, line in
      try session.run(try ShellLine.parse(line, number: index + 1))
    }
    #expect(outcomes[0].summary.hasPrefix("migrated to City 2"))
    #expect(outcomes[1].summary.contains("2 City"))
    #expect(session.configuration == "Local")
    let failure = #expect(throws: LanguageProblem.self) {
      try session.run(try ShellLine.parse("fetch Country", number: 3))
    }
    #expect(failure?.text.contains("only the configuration Local") == true)
  }

  @Test("A migration that fails leaves the session with the version of before")
  func failedMigrationKeepsTheVersion() throws {
    let (outcomes, recording) = try run(
      ["migrate \"Articles strict\" fails 134110", "count Article where \"body == nil\""],
      model: "Articles", version: "Articles",
      rows: ["Article: {count: 4, title: text 8, body: \"one of [a, nil]\"}"])
    #expect(outcomes.map(\.endedAsExpected) == [true, true])
    #expect(recording.value(of: .migrations) == 0)
    #expect(recording.metrics[.migrations] == nil)
  }

  @Test(arguments: [
    (["migrate \"Orders 4\" way progressive"], ["filled-default(Order)", "several-hops(Order)"]),
    (["migrate \"Orders 4\" way custom"], ["filled-default(Order)", "several-hops(Order)"]),
    (["migrate \"Orders 4\" way staged"], ["filled-default(Order)"]),
    // Code may run between two steps.
    (["migrate \"Orders 2\"", "migrate \"Orders 3\""], ["filled-default(Order)"]),
    (["migrate Orders"], []),
  ])
  func hopsAreFound(lines: [String], names: [String]) throws {
    let (outcomes, _) = try run(lines, model: "Orders", version: "Orders", rows: Self.orders)
    #expect(Set(outcomes.flatMap(\.findings).map(\.name)) == Set(names))
  }

  @Test(arguments: [
    ("migrate \"Articles optional\"", []),
    (
      "migrate \"Articles optional\" mapping ArticlesToOptional.xcmappingmodel",
      ["inferable-mapping(Article)"]
    ),
    ("migrate \"Articles indexed\"", ["index-without-modifier(Article)"]),
    ("migrate \"Articles reindexed\"", []),
    ("migrate \"Articles default\"", ["filled-default(Article)"]),
    // The rows are copied anyway, and values are filled in only where they're missing.
    ("migrate \"Articles both\"", []),
    ("migrate \"Articles removed\"", ["deferrable-copy(Article)"]),
    ("migrate \"Articles removed\" way deferred", []),
    (
      "migrate \"Articles both\" way deferred",
      ["filled-default(Article)", "rewritten-twice(Article)"]
    ), ("migrate \"Articles required\"", []),
  ])
  func rulesFireOnlyForTheirProblem(line: String, names: [String]) throws {
    let (outcomes, _) = try run(
      [line], model: "Articles", version: "Articles", rows: Self.articles)
    let found = outcomes.flatMap(\.findings)
    #expect(found.map(\.name) == names)
    // An optional attribute with a default value is filled, too.
    let filled = found.filter { $0.rule == .filledDefault }
    #expect(filled.allSatisfy { $0.fix.text.contains("without a default value") })
  }

  @Test("A deferred migration is finished in units, while the objects of before stay valid")
  func deferredMigrationIsFinished() throws {
    let (outcomes, recording) = try run(
      [
        "finish-migration", "migrate \"Articles removed\" way deferred",
        "fetch Article faults no as all", "finish-migration times 5", "touch all title",
        "finish-migration",
      ], model: "Articles", version: "Articles", rows: Self.articles)
    #expect(outcomes[0].summary == "no migration is deferred")
    #expect(outcomes[1].summary == "migrated to Articles removed, 0 rows written")
    #expect(
      outcomes[3].summary == "finished the deferred migration in 1 unit, 120 rows written")
    #expect(outcomes[4].costs.counters.selects == 0)
    #expect(outcomes[5].summary == "no migration is deferred")
    #expect(recording.value(of: .migrations) == 1)
    #expect(recording.value(of: .migratedrows) == 120)
    #expect(recording.value(of: .copiedtables) == 1)
  }

  @Test("The timeline has a track with the steps of a migration, and none without one")
  func timelineShowsTheSteps() throws {
    let (_, migrated) = try run(
      ["migrate \"Articles removed\""], model: "Articles", version: "Articles", rows: Self.articles)
    let track = migrated.tracks().last
    #expect(track?.name == .migration)
    #expect(track?.count == 5)
    let purposes = migrated.timeline().lanes.compactMap(\.purpose)
    #expect(purposes.first == "migration in place, inferred")
    #expect(purposes.contains("Article: copy the rows"))
    let (_, plain) = try run(
      ["count Article"], model: "Articles", version: "Articles", rows: Self.articles)
    #expect(plain.tracks().map(\.name) == [.fetches, .saves, .faults, .cacheMisses])
  }
}
