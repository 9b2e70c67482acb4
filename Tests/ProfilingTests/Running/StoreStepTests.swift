import Foundation
import OpenCoreData
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunResults
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Steps for results, relationships, and stores")
struct StoreStepTests {
  @Test
  func walkingCostsOnlyBatchesAndRelationshipFaults() throws {
    let typed = try TypedSession()
    let outcomes = try typed.run([
      "fetch Mood sort date batch 10 faults no as moods", "walk moods limit 20",
      "walk moods every 50", "drop moods", "fetch Mood sort date batch 10 faults no as moods",
      "walk moods array yes", "drop moods", "fetch Country as countries",
      "walk countries moods", "walk countries moods.country limit 1",
    ])
    #expect(outcomes[1].costs.counters.selects == 2)
    #expect(outcomes[1].summary == "walked 20 objects")
    #expect(outcomes[2].summary == "walked 4 objects")
    #expect(outcomes[5].costs.counters.selects == 20)
    #expect(typed.session.recording.value(of: .peak, scope: .entity("Mood")) >= 200)
    #expect(outcomes[8].summary == "walked 20 objects, 200 through moods")
    #expect(outcomes[8].costs.counters.selects == 20)
    #expect(outcomes[8].costs.counters.relationshipFaultMisses == 20)
    #expect(outcomes[8].costs.counters.objectFaultMisses == 0)
    #expect(outcomes[9].summary == "walked 1 object, 10 through moods.country")
  }

  /// A migration can leave a file that can't be opened.
  @Test
  func mainContextExistsAfterAStoreCouldNotBeReopened() throws {
    let store = try TypedSession.store(moods: 2)
    let stack = try ColdStack(
      storeURL: store.url, engine: SQLiteEngine(), model: store.model, isReadOnly: false,
      skippedRows: SkippedRows(), sinks: [])
    #expect(throws: (any Error).self) {
      try stack.reopen(with: store.model) { _ in
        try Data(repeating: 0x2A, count: 8_192).write(to: store.url)
      }
    }
    #expect(stack.contexts.map(\.name) == [ContextShape.main])
    #expect(throws: (any Error).self) {
      try stack.main.performAndWait {
        try stack.main.count(for: NSFetchRequest<NSManagedObject>(entityName: "Mood"))
      }
    }
    withExtendedLifetime(store.folder) {}
  }

  @Test
  func dictionaryResultsAreGroupedAndRetained() throws {
    let typed = try TypedSession()
    let outcomes = try typed.run([
      "fetch Mood result dictionaries columns count(date), max(latitude)",
      "fetch Mood result dictionaries columns country, count(date) group country as all",
      "fetch Mood result dictionaries columns country, count(date) group country "
        + "having \"$countDate > 10\" as none",
      "fetch Mood result dictionaries columns country.numericISO3166Code distinct yes "
        + "sort country.numericISO3166Code limit 3 as some",
    ])
    #expect(outcomes[0].summary.hasPrefix("1 dictionary of Mood: countDate 200"))
    #expect(
      outcomes.dropFirst().map(\.summary) == [
        "all: 20 dictionaries of Mood", "none: 0 dictionaries of Mood",
        "some: 3 dictionaries of Mood",
      ])
    #expect(outcomes.allSatisfy { $0.costs.counters.selects == 1 })
    let problem = try #require(throws: LanguageProblem.self) { try typed.run(["touch all date"]) }
    #expect(problem.message == "`all` contains dictionaries, not objects")
  }

  @Test
  func relatedObjectsAreDistributedOverOwners() throws {
    let typed = try TypedSession()
    let outcomes = try typed.run([
      "fetch Country sort numericISO3166Code limit 2 as countries",
      "insert Mood times 5 with date 2020-01-01, colors ff as fresh",
      "relate countries with moods fresh", "save",
      "count Mood where \"date > CAST(590000000, 'NSDate')\"",
      "relate countries without moods fresh limit 1", "save fails 1560",
    ])
    #expect(outcomes[2].summary == "5 objects related")
    #expect(outcomes[3].summary == "saved: 5 inserted, 2 updated")
    #expect(outcomes[4].summary == "5 Mood")
    #expect(outcomes[5].summary == "5 objects removed")
    #expect(outcomes[6].endedAsExpected)
  }

  @Test
  func batchRequestsWriteRowsWithoutObjects() throws {
    let typed = try TypedSession()
    let outcomes = try typed.run([
      "batch-insert Continent times 30 with numericISO3166Code 7, updatedAt 2016-05-04 as fresh",
      "batch-update Continent where \"numericISO3166Code == 7\" with numberOfMoods 3",
      "count Continent where \"numberOfMoods == 3\"", "touch fresh numberOfMoods limit 2",
      "batch-delete Continent where \"numericISO3166Code == 7\" limit 10", "count Continent",
      "batch-delete Region where \"numericISO3166Code == 7\" subentities no",
    ])
    #expect(outcomes[0].summary == "fresh: 30 Continent inserted")
    #expect(outcomes[0].costs.counters.inserts == 30)
    #expect(outcomes[1].summary == "30 Continent updated")
    #expect(outcomes[1].costs.counters.updates == 1)
    #expect(outcomes[2].summary == "30 Continent")
    #expect(outcomes[3].costs.counters.misses == 2)
    #expect(outcomes[4].summary == "10 Continent deleted")
    #expect(outcomes[5].summary == "22 Continent")
    #expect(outcomes[6].summary == "0 Region deleted")
  }

  /// An expression is evaluated with the row's values before the update.
  @Test
  func batchUpdatesEvaluateExpressions() throws {
    let typed = try TypedSession()
    let outcomes = try typed.run([
      "batch-update Mood with latitude 2, longitude 1", "fetch Country limit 1 as one",
      "batch-update Mood with latitude = latitude * 3 + longitude, longitude = latitude, "
        + "remoteIdentifier latitude where country == $one",
      "count Mood where latitude == 7 AND longitude == 2 AND remoteIdentifier == 'latitude'",
      "batch-update Mood with latitude = TERNARY(latitude > 5, 0, latitude + 1), longitude 4",
      "count Mood where latitude == 0 AND longitude == 4",
      "count Mood where latitude == 3 AND longitude == 4",
      "batch-update Mood with remoteIdentifier = 'latitude + 1' fails 134060",
      "count Mood where remoteIdentifier == 'latitude'",
    ])
    #expect(outcomes[2].summary == "10 Mood updated")
    let counters = outcomes[2].costs.counters
    #expect(counters.updates == 1 && counters.selects == 0 && counters.faults == 0)
    let counts = [3, 5, 6, 8].map { outcomes[$0].summary }
    #expect(counts == ["10 Mood", "10 Mood", "190 Mood", "10 Mood"])
    #expect(outcomes[7].endedAsExpected)
  }

  @Test
  func indexStepsCreateAndDropIndexes() throws {
    let typed = try TypedSession()
    let outcomes = try typed.run([
      "index Mood keys latitude, date- as byLatitude", "analyze",
      "fetch Mood where \"latitude == 0.5\" sort date- as some",
      "index Mood remove byLatitude", "index Mood remove byLatitude fails 134060",
      "index Mood keys date where \"latitude > 1\" as partial",
      "sql \"SELECT sql FROM sqlite_master WHERE name = 'Z_Mood_partial'\"",
      "sql \"SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'ZMOOD'\"",
      "sql \"SELECT count(*) FROM sqlite_master WHERE name = 'Z_Mood_byLatitude'\"",
    ])
    #expect(outcomes[4].failureCode == 134060)
    #expect(
      outcomes[7].summary == "1 row: 2", "one for each index that's left of the analyzed ones")
    #expect(outcomes[8].summary == "1 row: 0", "not dropped")
    #expect(outcomes[0].summary == "index Z_Mood_byLatitude created")
    #expect(outcomes[3].summary == "index Z_Mood_byLatitude dropped")
    #expect(
      outcomes[6].summary
        == "1 row: \"CREATE INDEX Z_Mood_partial ON ZMOOD (ZDATE COLLATE BINARY ASC) "
        + "WHERE ZLATITUDE > 1\"", "\(outcomes[6].summary)")
  }

  @Test
  func sqlStepsAreCountedAndKeepTheirLocks() throws {
    let typed = try TypedSession()
    let outcomes = try typed.run([
      "pragma busy_timeout to 20", "sql \"SELECT Z_PK, ZDATE FROM ZMOOD\"",
      "sql \"BEGIN IMMEDIATE\"", "sql \"UPDATE ZMOOD SET ZLATITUDE = 9\"",
      "count Mood where \"latitude == 9\"", "fetch Mood limit 1 as m", "set m with longitude 1",
      "save fails 134180", "sql \"COMMIT\"",
      "sql \"SELECT count(*) FROM ZMOOD WHERE ZLATITUDE = 9\"", "sql \"SELEKT\" fails 1",
    ])
    #expect(outcomes[1].costs.counters.selects == 1 && outcomes[1].costs.counters.rows == 200)
    #expect(outcomes[3].costs.counters.updates == 1)
    #expect(outcomes[4].summary == "0 Mood")
    #expect(outcomes[7].endedAsExpected, "\(outcomes[7].summary)")
    #expect(outcomes[9].summary == "1 row: 200")
    #expect(outcomes[10].endedAsExpected, "\(outcomes[10].summary)")
  }

  @Test
  func pragmasApplyToLaterConnections() throws {
    let typed = try TypedSession()
    try typed.run(["insert Mood"])
    #expect(throws: StepFailure.self) { try typed.run(["pragma cache_size to 10"]) }
    let outcomes = try typed.run([
      "rollback", "context sync policy overwrite", "pragma journal_mode to DELETE",
      "sql \"PRAGMA journal_mode\"", "count Mood in sync",
    ])
    #expect(outcomes[2].summary == "reopened with journal_mode = DELETE")
    #expect(outcomes[3].summary == "1 row: \"delete\"")
    #expect(outcomes[4].summary == "200 Mood")
  }
}
