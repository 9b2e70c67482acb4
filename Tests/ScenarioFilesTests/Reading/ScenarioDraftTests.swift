import Foundation
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import ScenarioFiles
@testable import ScenarioLanguage

@Suite("Saving shell runs as a scenario")
struct ScenarioDraftTests {
  private func draft(_ runs: [[String]]) throws -> ScenarioDraft {
    let folder = PackagedScenarios.folder
    let scenario = try ScenarioReader.read(folder.appendingPathComponent("faults.yml"))
    var counters = Counters()
    counters.selects = 61
    return ScenarioDraft(
      name: "My storm: one", chapter: 15, modelURL: scenario.modelURL, data: scenario.data,
      runs: try runs.enumerated().map { index, lines in
        RecordedRun(
          steps: try lines.map { try ShellLine.parse($0, number: 1) }, counters: counters,
          findings: index == 0 ? ["fault-storm(Mood)"] : [])
      })
  }

  @Test(arguments: [
    [
      ["fetch Mood sort date- values no as moods", "touch moods date country.updatedAt"],
      ["fetch Mood sort date- prefetch country as moods", "touch moods date country.updatedAt"],
    ],
    [
      ["fetch Country as c", "fetch Mood where \"latitude > 1.5\" as m", "touch m date"],
      ["fetch Mood sort date, country.updatedAt- limit 3 as m", "touch m date"],
      ["fetch Mood values no result ids", "count Mood", "fetch Mood as m", "touch m date limit 1"],
    ],
    [
      [
        "insert Mood times 2 with date 2016-01-02, remoteIdentifier \"a: b\" as m",
        "save fails 1570",
      ]
    ],
    [
      [
        "insert Mood with remoteIdentifier nil", "insert Mood with remoteIdentifier \"nil\"",
        "insert Mood with remoteIdentifier null", "insert Mood with remoteIdentifier \"null\"",
      ]
    ],
  ])
  func savedScenarioRoundTrips(runs: [[String]]) throws {
    let draft = try draft(runs)
    let url = PackagedScenarios.folder.appendingPathComponent("mine.yml")
    let text = draft.yaml(in: url.deletingLastPathComponent())
    let scenario = try ScenarioReader.read(text: text, url: url, path: "mine.yml")
    #expect(scenario.name == "My storm: one")
    #expect(scenario.data.seed == 7)
    let steps = scenario.variants.map { $0.steps(sharing: scenario.steps).map(\.text) }
    #expect(steps == runs)
    #expect(draft.expectationCount == 4 * runs.count)
    #expect(scenario.variants[0].expect.findings?.names.map(\.text) == ["fault-storm(Mood)"])
    #expect(scenario.variants.dropFirst().allSatisfy { $0.expect.findings == nil })
  }

  @Test func quotedNilOfGeneratedDataStaysQuoted() throws {
    let values = "{one of: [\"nil\", nil, null, \"null\", nils]}"
    let scenario = try ScenarioReader.read(
      text: """
        name: Values
        model: Moody
        data: {Country: {count: 2}, Mood: {count: 5, remoteIdentifier: \(values)}}
        steps: []
        """,
      url: PackagedScenarios.folder.appendingPathComponent("a.yml"), path: "a.yml")
    #expect(
      scenario.data.yamlLines(storePath: "").last
        == "  Mood: {count: 5, remoteIdentifier: \(values)}")
  }

  @Test
  func variantsContainOnlyDifferences() throws {
    let draft = try draft([
      ["fetch Mood sort date- values no as moods", "touch moods date"],
      ["fetch Mood sort date- prefetch country as moods", "touch moods date"],
    ])
    let text = draft.yaml(in: PackagedScenarios.folder)
    #expect(text.contains("model: Models/Moody.xcdatamodel\n"))
    #expect(text.contains("  Mood: {count: 5000 * scale, country: cycle, date: every 1 minute}\n"))
    #expect(text.contains("  - {fetch: Mood, sort: date-, as: moods}\n"))
    #expect(text.contains("    set: {moods.values: no}\n"))
    #expect(text.contains("    set: {moods.prefetch: [country]}\n"))
    #expect(!text.contains("first:"))
  }
}
