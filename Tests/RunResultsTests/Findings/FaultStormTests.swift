import ProfileEvents
import Profiling
import Testing
import WorkbenchFixtures

@testable import RunResults
@testable import ScenarioLanguage

@Suite("Fault storms")
struct FaultStormTests {
  /// The findings of each variant; the variants without fault storms have none.
  @Test(arguments: [
    ("fault storm", ["fault-storm(Mood)", "fault-storm(Mood.country)"]),
    ("plain", ["fault-storm(Mood.country)"]), ("realized", ["fault-storm(Mood.country)"]),
    ("prefetched", []), ("held", []), ("batched", []),
  ])
  func faultStormScenarioHasTheExpectedFindings(name: String, findings: [String]) throws {
    let variant = try #require(FaultStormScenario.full.variants.first { $0.name == name })
    #expect(variant.findings.map(\.name) == findings)
  }

  @Test func findingContainsCountCallSiteAndFix() throws {
    let storm = try #require(FaultStormScenario.full.variants.first)
    #expect(
      storm.findings.map(\.line) == [
        "  ! fault-storm(Mood)           5,000 single-row SELECTs from this line"
          + "   fix: fetch Mood sort date- as moods",
        "  ! fault-storm(Mood.country)      60 single-row SELECTs from this line"
          + "   fix: fetch Mood sort date- prefetch country as moods",
      ])
    #expect(storm.findings.map(\.callSite) == [EventScript.touch, EventScript.touch])
    #expect(storm.findings.map(\.fix.now) == ["request.includesPropertyValues = false", nil])
    #expect(
      storm.findings[1].fix.swift == [
        "request.includesPropertyValues = true",
        "request.relationshipKeyPathsForPrefetching = [\"country\"]",
      ])
  }

  @Test(arguments: [
    (
      "fault storm",
      ["verified: 5,061 → 61 SELECTs (plain)", "verified: 5,061 → 2 SELECTs (prefetched)"]
    ),
    ("plain", ["verified: 61 → 2 SELECTs (prefetched)"]), ("realized", ["not verified"]),
  ])
  func fixIsVerifiedOnlyIfAVariantRanIt(name: String, verified: [String]) throws {
    let variant = try #require(FaultStormScenario.full.variants.first { $0.name == name })
    #expect(variant.findings.map(\.verificationText) == verified)
  }

  @Test(arguments: [
    (FaultStormRule.threshold - 1, 0, 0), (FaultStormRule.threshold, 0, 1), (0, 500, 0),
    (FaultStormRule.threshold - 1, 500, 0),
  ])
  func firesForMissesFromTheThreshold(misses: Int, hits: Int, findings: Int) {
    let recording = Self.step { script in
      for key in 0..<misses { script.fault("Mood", key: key, sql: "one mood") }
      for key in 0..<hits { script.fault("Mood", key: key) }
    }
    #expect(FindingSearch.findings(in: recording, context: StepContext()).count == findings)
  }

  @Test func statementsAreCountedSeparately() {
    let recording = Self.step { script in
      for key in 0..<18 { script.fault("Mood", key: key, sql: "text \(key % 2)") }
    }
    #expect(FindingSearch.findings(in: recording, context: StepContext()).isEmpty)
  }

  @Test func reflexiveRelationshipIsDistinguishedByFetchedObjects() {
    let recording = Self.step { script in
      for key in 1...20 { script.fault("Employee", key: key, sql: "one employee") }
      for key in 101...115 { script.fault("Employee", key: key, sql: "one employee") }
    }
    let context = StepContext(
      resultObjects: Set(
        (1...20).map { ObjectReference(store: "S", entity: "Employee", primaryKey: $0) }),
      reachedThrough: [
        "Employee": .init(owner: "Employee", relationship: "manager", keyPath: "manager")
      ])
    let findings = FindingSearch.findings(in: recording, context: context)
    #expect(findings.map(\.subject) == ["Employee", "Employee.manager"])
    #expect(findings.map(\.count) == [20, 15])
  }

  @Test func toManyFaultsCanBeAStorm() throws {
    let recording = Self.step { script in
      for key in 1...12 {
        script.relationshipFault("Country", "moods", key: key, rows: 3, sql: "moods of a country")
      }
    }
    let fetch = Step(
      verb: .fetch, subject: "Country", location: EventScript.moodFetch
    ).prefetching("continent")
    let finding = try #require(
      FindingSearch.findings(in: recording, context: StepContext(fetch: fetch)).first)
    #expect(finding.name == "fault-storm(Country.moods)")
    #expect(finding.fix.step == "fetch Country prefetch continent, moods")
    #expect(
      finding.fix.swift
        == ["request.relationshipKeyPathsForPrefetching = [\"continent\", \"moods\"]"])
  }

  /// A key path of the fetch has its first relationship in the entity that was fetched.
  @Test(arguments: [
    ("Country", "ineffective-prefetch(Country.moods)"), ("Place", "fault-storm(Country.moods)"),
  ])
  func prefetchOfAnotherEntityIsNotMeant(entity: String, name: String) throws {
    let recording = Self.step { script in
      for key in 1...12 {
        script.relationshipFault("Country", "moods", key: key, rows: 3, sql: "moods of a country")
      }
    }
    let fetch = Step(verb: .fetch, subject: entity, location: EventScript.moodFetch)
    var context = StepContext(fetch: fetch.prefetching("moods"))
    context.resultEntities = [entity]
    let found = FindingSearch.findings(in: recording, context: context)
    #expect(found.map(\.name) == [name])
    let isOfFetch = entity == "Country"
    #expect(found.allSatisfy { $0.fix.text.contains("objects of Country") != isOfFetch })
    #expect(found.allSatisfy { $0.fix.step == nil })
  }

  /// A fix that the fetch already contains isn't suggested.
  @Test(arguments: [
    (FaultStormScenario.plain.prefetching("country"), "Country", "released before it was read"),
    (FaultStormScenario.plain.with(.faults, .flag(false)), "Mood", "self IN"),
    (FaultStormScenario.plain, "Mood", "request.returnsObjectsAsFaults = false"),
  ])
  func fixMatchesTheFetch(fetch: Step, entity: String, fix: String) throws {
    let recording = Self.step { script in
      for key in 1...10 { script.fault(entity, key: key, sql: "one") }
    }
    let context = StepContext(fetch: fetch, reachedThrough: FaultStormScenario.reached)
    let finding = try #require(FindingSearch.findings(in: recording, context: context).first)
    #expect(finding.fix.text.contains(fix))
  }

  /// A cascade deletes moods of countries, which another option of their fetch doesn't load.
  @Test func valuesOfAFetchAreNotTheFixForOtherEntities() throws {
    let fetch = "fetch Country values no as countries"
    let found = try TypedSession().run([fetch, "delete countries"]).flatMap(\.findings)
    let fixes = found.reduce(into: [String: SuggestedFix]()) { $0[$1.subject] = $1.fix }
    #expect(fixes["Country"]?.step == "fetch Country as countries")
    #expect(fixes["Mood"]?.now == nil && fixes["Mood"]?.step == nil)
    #expect(fixes["Mood"]?.text.contains("self IN") == true)
  }

  @Test(
    "A fetch of object IDs prefetches nothing, so the fix fetches objects",
    arguments: [
      ("fetch Mood result ids as moods", "fault-storm(Mood.country)"),
      ("fetch Mood prefetch country result ids as moods", "ineffective-prefetch(Mood.country)"),
    ])
  func fixOfObjectIDsFetchesObjects(fetch: String, name: String) throws {
    let read = "touch moods country.numericISO3166Code"
    let found = try TypedSession().run([fetch, read]).flatMap(\.findings)
    #expect(found.map(\.name) == [name])
    let fix = try #require(found.first?.fix)
    #expect(fix.step == "fetch Mood prefetch country as moods")
    #expect(
      fix.text == "request.resultType = .managedObjectResultType; "
        + "request.relationshipKeyPathsForPrefetching = [\"country\"]")
    let fixed = try TypedSession().run([try #require(fix.step), read])
    #expect(fixed.flatMap(\.findings).isEmpty)
  }

  /// Without property values, the fetch would still prefetch nothing.
  @Test func prefetchInAFixComesWithPropertyValues() throws {
    let fetch = "fetch Mood values no as moods"
    let read = "touch moods country.numericISO3166Code"
    let found = try TypedSession().run([fetch, read]).flatMap(\.findings)
    let fix = try #require(found.first { $0.subject == "Mood.country" }?.fix)
    #expect(fix.step == "fetch Mood prefetch country as moods")
    #expect(
      fix.text == "request.includesPropertyValues = true; "
        + "request.relationshipKeyPathsForPrefetching = [\"country\"]")
  }

  private static func step(_ body: (EventScript) -> Void) -> Recording {
    let script = EventScript()
    script.step("touch", at: EventScript.touch) { body(script) }
    return script.recorder.recording(steps: script.steps)
  }
}
