import Foundation
import OpenCoreData
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import ScenarioFiles
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Reading scenarios")
struct ScenarioReaderTests {
  @Test
  func readsTheFaultStormScenario() throws {
    let file = PackagedScenarios.folder.appendingPathComponent("faults.yml")
    let scenario = try ScenarioReader.read(file, path: "Scenarios/faults.yml")
    #expect(scenario.name == "Fault storm")
    #expect(scenario.chapter == 15)
    #expect(scenario.covers.count == 9)
    #expect(scenario.covers.count == 9 && scenario.covers.count { $0.source == .book } == 8)
    #expect(scenario.story.hasPrefix("A list shows the date"))
    #expect(scenario.data.seed == 7)
    #expect(scenario.model.entitiesByName["Country"]?.superentity?.name == "Region")
    #expect(
      scenario.steps.map(\.text) == [
        "fetch Mood sort date- as moods", "touch moods date country.numericISO3166Code",
      ])
    #expect(scenario.steps[1].location == CallSite(file: "Scenarios/faults.yml", line: 17))
    #expect(
      scenario.variants.map(\.name) == [
        "fault storm", "plain", "realized", "prefetched", "countries retained", "batched",
      ])

    let batched = try #require(scenario.variants.last)
    #expect(batched.set.map(\.text) == ["moods.faults: no", "moods.batch: 20"])
    #expect(
      batched.steps(sharing: scenario.steps).map(\.text) == [
        "fetch Country faults no as countries", "fetch Mood sort date- batch 20 faults no as moods",
        "touch moods date country.numericISO3166Code",
      ])
    #expect(batched.expect.expectations.last?.scoped == ScopedMetric(.peak, .entity("Mood")))
    #expect(scenario.variants[3].expect.expectations.map(\.line) == [34, 34, 34, 34])
    #expect(
      scenario.variants[0].expect.findings?.names.map(\.text) == [
        "fault-storm(Mood)", "fault-storm(Mood.country)",
      ])
  }

  /// The name of a variant can contain the characters that separate it from its metric.
  @Test func headlineContainsValuesOfVariants() throws {
    let text = """
      name: Notes
      apple: The same.
      headline: "{1.3 screens (half).rows(Note)} rows, or {1.3 screens.selects}."
      metric: rows(notes)
      model: Notes
      data: {Note: {count: 3}}
      steps: [{fetch: Note, as: notes}]
      variants: [{name: 1.3 screens}, {name: 1.3 screens (half), apple: Not checked.}]
      """
    let scenario = try ScenarioReader.read(
      text: text, url: PackagedScenarios.folder.appendingPathComponent("a.yml"), path: "a.yml")
    #expect(scenario.metric == ScopedMetric(.rows, .step("notes")))
    #expect(scenario.variants.map(\.apple) == ["The same.", "Not checked."])
    let headline = try #require(scenario.headline)
    #expect(headline.metrics == [ScopedMetric(.rows, .entity("Note")), ScopedMetric(.selects)])
    let sentence = headline.text { $0.metric == .rows ? $1.count * 1_000 : 7 }
    #expect(sentence == "18,000 rows, or 7.")
    #expect(
      headline.text { metric, _ in metric.metric == .rows ? 1 : nil } == nil,
      "a variant that didn't run")
  }

  @Test(arguments: [(1, 5000), (3, 15000)])
  func expectationsFollowTheScale(scale: Int, moods: Int) throws {
    let scenario = try ScenarioReader.read(
      PackagedScenarios.folder.appendingPathComponent("faults.yml"))
    let counts = try scenario.data.counts(scale: scale)
    #expect(counts.map(\.name) == ["Continent", "Country", "Mood"])
    #expect(counts.map(\.count) == [6, 60, moods])
    let totals = EntityCount.totals(counts, in: scenario.model)
    #expect(totals["Region"] == 66)
    let scope = CountExpressionScope(rows: totals, scale: scale)
    let selects = try scenario.variants.map { variant in
      try variant.expect.expectations[0].constraint.value(in: scope)
    }
    #expect(selects == [1 + moods + 60, 61, 61, 2, 2, 2 + moods / 20])
  }

  @Test
  func shellLineAndMapFormAreEqual() throws {
    let scenario = try read(
      """
      name: Both forms
      model: Moody
      data: {Country: {count: 2}, Mood: {count: 3}}
      steps:
        - {fetch: Mood, where: "country.numericISO3166Code == 710", sort: "date-, country.updatedAt",
           prefetch: [country, country.continent], values: no, pending: Off, limit: 3, as: moods}
        - fetch Mood as more limit 3 values no pending no prefetch country, country.continent
            sort date-, country.updatedAt where "country.numericISO3166Code == 710"
        - {insert: Mood, with: {latitude: 1.5, remoteIdentifier: 'no'}, times: 2, as: fresh}
        - insert Mood times 2 with latitude 1.5, remoteIdentifier no as fresh
        - save
        - {save: , fails: 1570}
      """)
    var (first, second) = (scenario.steps[0], scenario.steps[1])
    first.name = nil
    second.name = nil
    #expect(first == second)
    #expect(scenario.steps[2] == scenario.steps[3])
    #expect(scenario.steps[4].verb == .save)
    #expect(scenario.steps[5].fails == 1570)
    #expect(scenario.variants.map(\.name) == ["Both forms"])
  }

  @Test(
    "Maps with quoted keys, as in JSON, and with SQL's orders are the same steps",
    arguments: [
      #"{"fetch": Mood, "sort": ["date-", latitude], "limit": 3, "as": moods}"#,
      "{fetch: Mood, sort: 'date desc, latitude asc', limit: 3, as: moods}",
      "{fetch: Mood, sort: [date DESC, latitude], limit: 3, as: moods}",
    ])
  func mapsAreReadAsLines(map: String) throws {
    let scenario = try read(
      """
      name: Maps
      model: Moody
      data: {Country: {count: 2}, Mood: {count: 3}}
      steps: [\(map)]
      """)
    #expect(scenario.steps.map(\.text) == ["fetch Mood sort date-, latitude limit 3 as moods"])
  }

  @Test("A property with the name of an order is a sort key of its own after a comma")
  func orderAfterACommaIsAKey() throws {
    let key = try LineWords.sortKeys(
      of: Word("date, desc", at: SourceRange(line: 1, column: 1, length: 10), isQuoted: true))
    #expect(key.map(\.text) == ["date", "desc"])
  }

  @Test
  func sourcesAreInheritedByExpectations() throws {
    let scenario = try read(
      """
      name: Sources
      covers: [S6.01, S6.03: ours]
      source: book
      model: Moody
      data: {Country: {count: 2}, Mood: {count: 3}}
      steps:
        - {fetch: Mood, as: moods, expect: {fetches: 1, rows: {expected: Mood, source: apple}}}
      variants:
        - {name: one, expect: {selects: 1}}
        - {name: two, source: ours, expect: {selects: 1, rows(moods): {law: at most 3, source: derived}}}
      """)
    #expect(scenario.covers.map(\.source) == [.book, .ours])
    #expect(scenario.steps[0].expect?.expectations.map(\.source) == [.book, .apple])
    let variants = scenario.variants.map { $0.expect.expectations.map(\.source) }
    #expect(variants == [[.book], [.ours, .derived]])
  }

  @Test func anchorsOfExtensionsAreUsedAndMerged() throws {
    let scenario = try read(
      """
      name: Anchors
      model: Moody
      x-cheap: &cheap {selects: 1, misses: 0}
      x-cold:
        - &cold {hits: 0, misses: 7}
        - {context: never}
      data: {Country: {count: 2}, Mood: {count: 3}}
      x-fetch: &fetch {fetch: Mood, batch: 20}
      steps: [{<<: *fetch, batch: 5, as: moods}]
      variants:
        - {name: one, expect: {rows: 3, <<: *cheap}}
        - {name: two, expect: {<<: [*cheap, *cold], selects: at most 1}}
      """)
    #expect(scenario.steps.map(\.text) == ["fetch Mood batch 5 as moods"])
    let counts = scenario.variants.map { variant in
      Set(
        variant.expect.expectations.map { "\($0.scoped.metric.rawValue) \($0.constraint.text)" })
    }
    #expect(
      counts == [
        ["rows 3", "selects 1", "misses 0"], ["hits 0", "selects at most 1", "misses 0"],
      ])
    #expect(scenario.variants[0].expect.expectations.map(\.line).max() == 11)
  }

  @Test(arguments: [
    ("steps: [{<<: 3, fetch: Mood}]", "3:10: error: `<<` needs a map or a list of maps"),
    ("steps: [{fetch: Mood, x-note: 1}]", "3:23: error: "),
  ])
  func invalidMergesAndNestedExtensionsAreErrors(line: String, message: String) {
    let error = #expect(throws: ScenarioDiagnostics.self) {
      try read("name: Anchors\nmodel: Moody\n\(line)\n")
    }
    #expect(error?.description.contains("test.yml:\(message)") == true, "\(error as Any)")
  }

  @Test("what uses the name of an invalid step isn't another error")
  func namesOfInvalidStepsAreLost() throws {
    let text = """
      name: Lost
      model: Moody
      data: {Country: {count: 2}, Mood: {count: 3}}
      steps:
        - {context: sync, queue: nowhere}
        - fetch Country batch -5 as countries
        - {fetch: Mood, as: moods}
        - {set: moods, with: {country: countries}}
        - {context: edit, parent: sync}
        - {fetch: Mood, in: edit, as: edited}
        - {touch: edited, read: [date]}
        - {touch: moods, read: [title]}
      expect: {selects(countries): 1, "plan(edited)": avoids scan, selects(nothing): 1}
      """
    let error = try #require(throws: ScenarioDiagnostics.self) { try read(text) }
    #expect(error.diagnostics.map(\.line) == [5, 6, 12, 13], "\(error)")
  }

  @Test("a step that's expected to fail names no result")
  func failingStepNamesNoResult() throws {
    let text = """
      name: Failing
      model: Moody
      data: {Country: {count: 2}, Mood: {count: 3}}
      steps:
        - {fetch: Mood, where: "date > \\"2016\\"", as: moods, fails: 134060}
        - {touch: moods, read: [date]}
      """
    let error = try #require(throws: ScenarioDiagnostics.self) { try read(text) }
    #expect(error.diagnostics.map(\.line) == [6])
    #expect(error.description.contains("there's no result `moods`"))
  }

  @Test(arguments: PackagedScenarios.all)
  func everyPackagedScenarioHasAStoryAndExpectations(file: URL) throws {
    let scenario = try ScenarioReader.read(file)
    #expect(!scenario.variants.isEmpty)
    #expect(!scenario.story.isEmpty)
    #expect(scenario.variants.allSatisfy { !$0.why.isEmpty && !$0.expect.expectations.isEmpty })
  }

  private func read(_ text: String) throws -> Scenario {
    let url = PackagedScenarios.folder.appendingPathComponent("test.yml")
    return try ScenarioReader.read(text: text, url: url, path: "test.yml")
  }
}
