import OpenCoreData
import ProfileEvents
import Profiling
import Testing
import WorkbenchFixtures

@testable import RunResults
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Steps for results controllers, refetched objects, and history")
struct ResultsStepTests {
  private let list = "results Mood sort country.numericISO3166Code, date"
  private let sections = "sections country.numericISO3166Code"

  @Test
  func sectionsReadEveryObject() throws {
    let typed = try TypedSession()
    let outcomes = try typed.run([
      "\(list) as moods", "touch moods date limit 20", "\(list) \(sections) as moods",
      "results Mood sort date batch 20", "drop moods", "reset",
      "\(list) \(sections) prefetch country as moods", "walk moods offset 190",
    ])
    #expect(outcomes[0].summary == "moods: 200 Mood")
    #expect(outcomes[0].costs.counters.faults == 0 && outcomes[1].costs.counters.faults == 20)
    #expect(outcomes[2].summary == "moods: 200 Mood in 20 sections")
    #expect(outcomes[2].costs.counters.selects == 21 && outcomes[2].costs.counters.misses == 20)
    #expect(outcomes[2].findings.map(\.name) == ["fault-storm(Mood.country)"])
    #expect(outcomes[3].summary == "200 Mood, released" && outcomes[3].costs.counters.selects == 1)
    #expect(outcomes[6].costs.counters.selects == 2)
    #expect(outcomes[7].summary == "walked 10 objects")
  }

  @Test
  func cacheKeepsSectionsUntilRowsChange() throws {
    let typed = try TypedSession()
    let cached = "\(list) \(sections) batch 50 cache moods"
    let outcomes = try typed.run([
      "\(cached) as moods", "drop moods", "reset", "\(cached) as moods", "drop moods",
      "batch-update Mood with latitude 1", "reset", cached,
    ])
    #expect(outcomes[3].summary == "moods: 200 Mood in 20 sections")
    // The signature has the moods and the countries.
    #expect(outcomes[3].costs.counters.selects == 2 && outcomes[3].costs.counters.faults == 0)
    #expect(outcomes[7].costs.counters.selects == outcomes[0].costs.counters.selects)
    let other = try TypedSession()
    #expect(try other.run([cached])[0].costs.counters.selects > 20, "its own cache")
  }

  @Test(arguments: [("", "210 Mood", 10), ("delegate no", "200 Mood", 0)])
  func listFollowsMergesWithADelegate(option: String, count: String, faults: Int) throws {
    let typed = try TypedSession()
    let outcomes = try typed.run([
      "results Mood sort date faults no \(option) as moods", "context sync",
      "fetch Country limit 1 in sync as one",
      "insert Mood times 10 with country one, colors ff, date 2020-01-01 in sync",
      "save in sync as saved", "merge saved in main", "walk moods",
    ])
    #expect(outcomes[5].costs.counters.faults == faults)
    #expect(outcomes[6].summary == "walked \(count.prefix(3)) objects")
    let failure = try #require(throws: StepFailure.self) { try typed.run(["walk moods in sync"]) }
    #expect("\(failure)".contains("is a controller, which belongs to the context `main`"))
  }

  @Test
  func refetchedObjectsAreRefreshedOnRequest() throws {
    let typed = try TypedSession()
    let outcomes = try typed.run([
      "fetch Mood faults no as moods", "context other coordinator second",
      "batch-update Mood with latitude 7 in other", "fetch Mood as again",
      "set moods with longitude 1 limit 1", "save fails 133020", "rollback",
      "fetch Mood refreshes yes as again", "set moods with longitude 1 limit 1 offset 5", "save",
    ])
    #expect(outcomes[5].endedAsExpected, "\(outcomes[5].summary)")
    #expect(outcomes[7].costs.counters.selects == 1 && outcomes[7].costs.counters.faults == 0)
    #expect(outcomes[9].summary == "saved: 1 updated")
  }

  @Test
  func historyIsRecordedUntilItIsPurged() throws {
    let typed = try TypedSession()
    let outcomes = try typed.run([
      "history track", "fetch Mood limit 3 as moods", "set moods with latitude 1", "save",
      "batch-update Mood with latitude 2", "sql \"SELECT Z_PK FROM ACHANGE\"", "history purge",
      "sql \"SELECT count(*) FROM ACHANGE\"", "history purge",
    ])
    #expect(outcomes[0].summary == "reopened with persistent history")
    #expect(outcomes[5].costs.counters.rows == 203)
    #expect(outcomes[6].summary == "2 transactions deleted")
    #expect(outcomes[6].costs.counters.transactions == 1)
    #expect(outcomes[7].summary == "1 row: 0")
    #expect(outcomes[8].summary == "0 transactions deleted")
    let problem = try #require(throws: LanguageProblem.self) { try typed.run(["history track"]) }
    #expect(problem.message == "the store can't be reopened while result `moods` exists")
  }
}
