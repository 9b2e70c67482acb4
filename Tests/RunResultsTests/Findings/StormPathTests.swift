import Foundation
import OpenCoreData
import ProfileEvents
import RunResults
import ScenarioFiles
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import ScenarioLanguage
@testable import WorkbenchText

/// The model has people with two relationships to one entity, `home` and `work`.
@Suite("Fault storms are grouped by path")
struct StormPathTests {
  @Test
  func relationshipsToOneEntityAreSeparateStorms() throws {
    let outcome = try touch("fetch Person as people", "touch people home.name work.name")
    #expect(
      outcome.findings.map(\.name) == ["fault-storm(Person.home)", "fault-storm(Person.work)"])
    #expect(outcome.findings.map(\.count).reduce(0, +) == outcome.costs.counters.misses)
    #expect(
      outcome.findings.map { $0.fix.step } == [
        "fetch Person prefetch home as people", "fetch Person prefetch work as people",
      ])
  }

  @Test
  func toManyStormNamesTheRelationship() throws {
    let outcome = try touch("fetch Place as places", "touch places residents")
    #expect(outcome.findings.map(\.name) == ["fault-storm(Place.residents)"])
    #expect(outcome.findings.map(\.count) == [60])
    #expect(outcome.findings.map { $0.fix.step } == ["fetch Place prefetch residents as places"])
  }

  @Test
  func stormThroughToManyNamesBothSteps() throws {
    let outcome = try touch("fetch Place as places", "touch places residents.name")
    #expect(
      outcome.findings.map(\.name)
        == ["fault-storm(Place.residents)", "fault-storm(Place.residents)"])
    #expect(
      outcome.findings.map(\.what) == ["SELECTs, one per relationship,", "single-row SELECTs"])
    #expect(outcome.findings.map(\.count) == [60, 40])
  }

  /// Only counting doesn't need the rows, so prefetching isn't suggested.
  @Test(arguments: [
    ("touch places residents.@count", "count-per-row(Place.residents)"),
    ("touch places name residents.@count", "count-per-row(Place.residents)"),
    ("touch places residents", "fault-storm(Place.residents)"),
    ("touch places residents residents.@count", "fault-storm(Place.residents)"),
  ])
  func listsThatAreOnlyCountedAreFound(line: String, name: String) throws {
    let outcome = try touch("fetch Place as places", line)
    #expect(outcome.findings.map(\.name) == [name])
    #expect(outcome.findings.map(\.count) == [60])
    let isCounted = name.hasPrefix("count")
    #expect(outcome.findings[0].fix.text.contains("residents.@count") == isCounted)
    #expect((outcome.findings[0].fix.step == nil) == isCounted)
  }

  @Test func prefetchedListsAreCountedInMemory() throws {
    let outcome = try touch(
      "fetch Place prefetch residents as places", "touch places residents.@count")
    #expect(outcome.findings.isEmpty && outcome.costs.counters.selects == 0)
  }

  @Test func onlyToManyRelationshipsCanBeCounted() throws {
    #expect(throws: LanguageProblem.self) {
      try touch("fetch Place as places", "touch places name.@count")
    }
  }

  private func touch(_ fetch: String, _ touch: String) throws -> StepOutcome {
    let folder = try TemporaryFolder()
    let model = folder.file("Models/Places.xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    try Data(Self.contents.utf8).write(to: model.appendingPathComponent("contents"))
    let scenario = try ScenarioReader.read(
      text: """
        name: Places
        model: Places
        data:
          Place: {count: 60}
          Person: {count: 40, home: cycle, work: random}
        steps: []
        """, url: folder.file("places.yml"), path: "places.yml")
    let store = folder.file("places.sqlite")
    _ = try ScenarioData.make(scenario.data, model: scenario.model, scale: 1, at: store)
    let session = try Session(storeURL: store, model: scenario.model, readOnly: false)
    _ = try session.run(try ShellLine.parse(fetch, number: 1))
    return try session.run(try ShellLine.parse(touch, number: 2))
  }

  private static let contents = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Person" representedClassName="Person">
        <attribute name="name" attributeType="String"/>
        <relationship name="home" optional="YES" maxCount="1" deletionRule="Nullify" \
    destinationEntity="Place" inverseName="residents" inverseEntity="Place"/>
        <relationship name="work" optional="YES" maxCount="1" deletionRule="Nullify" \
    destinationEntity="Place" inverseName="workers" inverseEntity="Place"/>
      </entity>
      <entity name="Place" representedClassName="Place">
        <attribute name="name" attributeType="String"/>
        <relationship name="residents" optional="YES" toMany="YES" deletionRule="Nullify" \
    destinationEntity="Person" inverseName="home" inverseEntity="Person"/>
        <relationship name="workers" optional="YES" toMany="YES" deletionRule="Nullify" \
    destinationEntity="Person" inverseName="work" inverseEntity="Person"/>
      </entity>
    </model>
    """
}
