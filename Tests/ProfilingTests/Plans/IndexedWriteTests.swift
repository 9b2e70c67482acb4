import Foundation
import OpenCoreData
import Profiling
import SQLiteDriver
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import StatementAnalysis

@Suite("Index advice for statements that change rows")
struct IndexedWriteTests {
  private static let selective = "where \"remoteIdentifier == 'x'\""

  @Test(
    "A batch request gets the index of its condition, unless updating it costs more than it saves",
    arguments: [
      ("batch-delete Mood \(selective)", ["Mood (remoteIdentifier)"], 1),
      // The column that's set isn't a candidate.
      ("batch-update Mood with longitude 9 \(selective)", ["Mood (remoteIdentifier)"], 1),
      ("batch-update Mood with remoteIdentifier u where \"latitude >= 3\"", ["Mood (latitude)"], 1),
      // An index of the column that's set is updated with each row.
      ("batch-update Mood with latitude 9 where \"latitude >= 3\"", [], 1),
      // All rows match.
      ("batch-delete Mood where \"latitude >= 0\"", [], 1),
      ("batch-update Mood with latitude 9 where \"latitude >= 0\"", [], 1),
      ("batch-delete Mood", [], 0), ("batch-update Mood with latitude 9", [], 0),
    ] as [(String, [String], Int)])
  func conditionsOfBatchRequestsGetIndexes(line: String, titles: [String], count: Int) throws {
    let store = try AdvisedStore()
    let before = try FolderState(store.url.deletingLastPathComponent())
    let advice = try store.advice([line])
    #expect(advice.proposals.map(\.title) == titles)
    #expect(advice.unmeasured.isEmpty)
    #expect(advice.statements == count)
    #expect(try FolderState(store.url.deletingLastPathComponent()) == before)
  }

  @Test("Each side of an OR in the condition of a batch request gets an index")
  func sidesOfAnORGetIndexes() throws {
    let store = try AdvisedStore()
    try store.execute("UPDATE ZMOOD SET ZLATITUDE = Z_PK, ZLONGITUDE = Z_PK")
    let advice = try store.advice(["batch-delete Mood where \"latitude == 3 OR longitude == 4\""])
    #expect(advice.proposals.map(\.title).sorted() == ["Mood (latitude)", "Mood (longitude)"])
  }

  @Test func proposalListsTheStatementThatChangesRows() throws {
    let advice = try AdvisedStore().advice(["batch-delete Mood \(Self.selective)"])
    let gain = try #require(advice.proposals.first?.gains.first)
    #expect(gain.sql.hasPrefix("DELETE FROM ZMOOD WHERE Z_PK IN (SELECT t0.Z_PK FROM ZMOOD t0"))
    #expect(gain.before > 3_000 && gain.after * 5 < gain.before)
    #expect(gain.planBefore.contains { $0.contains("SCAN t0") })
    #expect(gain.planAfter.contains { $0.contains("cdprof_advice_0 (ZREMOTEIDENTIFIER=?)") })
    #expect(AdviceText.lines(advice).contains { $0.hasPrefix("   1 x  DELETE FROM ZMOOD") })
  }

  @Test(
    "Measuring a statement leaves the copy as it was",
    arguments: [
      "DELETE FROM ZMOOD WHERE ZLATITUDE = 3", "UPDATE ZMOOD SET ZLATITUDE = 9 WHERE ZLATITUDE = 3",
      "DELETE FROM ZMOOD WHERE ZLATITUDE = 3 RETURNING Z_ENT, Z_PK",
    ])
  func changesAreRolledBack(sql: String) throws {
    let store = try AdvisedStore()
    let scratch = try ScratchStore(copying: store.url)
    func contents() throws -> [[SQLiteValue]] {
      try scratch.connection.values("SELECT COUNT(*), SUM(Z_PK), SUM(ZLATITUDE) FROM ZMOOD")
    }
    let before = try contents()
    let statement = AdvisedStatement(sql: sql, count: 1)
    let first = try #require(scratch.measure(statement))
    #expect(first.changes == 600)
    #expect(scratch.measure(statement) == first)
    #expect(try contents() == before)
    #expect(!scratch.connection.isInTransaction)
  }

  /// The trigger would take 9,000,000 iterations for each of 200 rows, which are minutes.
  @Test("A statement whose triggers take too long isn't measured")
  func slowTriggersAreStopped() throws {
    let store = try AdvisedStore()
    try store.execute(
      "CREATE TRIGGER slow AFTER DELETE ON ZMOOD WHEN OLD.Z_PK % 15 = 0 BEGIN SELECT COUNT(*) "
        + "FROM ZMOOD a, ZMOOD b WHERE a.ZDATE + b.ZDATE < 0; END")
    let sql = "DELETE FROM ZMOOD WHERE ZREMOTEIDENTIFIER >= ''"
    let begin = threadTime()
    let advice = try IndexAdvisor(storeURL: store.url).advice(on: [
      AdvisedStatement(sql: sql, count: 1)
    ])
    #expect(threadTime() - begin < 30)
    #expect(advice.unmeasured == [sql])
    #expect(advice.proposals.isEmpty && advice.unused.isEmpty)
    #expect(AdviceText.lines(advice).contains { $0.hasPrefix("skipped (can't be measured on") })
  }

  /// The statement changes 3,000 rows, whether or not they have an entry in the index.
  @Test(
    "What a measured statement writes is counted once, and rows that the copy lacks are added",
    arguments: [
      ("ZLONGITUDE", 3_000, ["Mood (latitude)"]), ("ZLATITUDE", 3_000, []),
      ("ZLONGITUDE", 100_000, []),
    ] as [(String, Int, [String])])
  func writesAreCountedOnce(column: String, rows: Int, titles: [String]) throws {
    let store = try AdvisedStore()
    let reading = AdvisedStatement(
      sql: "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZLATITUDE = 3", count: 1)
    let writing = AdvisedStatement(
      sql: "UPDATE ZMOOD SET \(column) = 1 WHERE ZREMOTEIDENTIFIER > ''", count: 1, rows: rows)
    let advice = try IndexAdvisor(storeURL: store.url).advice(on: [reading, writing])
    #expect(advice.proposals.map(\.title) == titles)
    #expect(advice.statements == 2)
  }

  @Test("The work of rows that were deleted since is that of the run")
  func workOfMissingRowsIsThatOfTheRun() throws {
    let store = try AdvisedStore()
    var writing = AdvisedStatement(
      sql: "DELETE FROM ZMOOD WHERE ZREMOTEIDENTIFIER = 'x'", count: 2, rows: 200)
    writing.steps = 40_000
    let gain = try #require(
      try IndexAdvisor(storeURL: store.url).advice(on: [writing]).proposals.first?.gains.first)
    #expect(gain.before == 20_000)
    #expect(gain.after > 5_000 && gain.after < 15_000)
  }

  @Test("A store that can't undo changes measures only SELECTs")
  func storesThatKeepChangesMeasureOnlyQueries() {
    let store = QueryStore()
    let reading = "SELECT t0.Z_PK FROM ZMOOD t0 WHERE t0.ZLATITUDE = 3"
    let advice = IndexAdvisor(store).advice(
      on: [reading, "DELETE FROM ZMOOD WHERE ZLATITUDE = 3"].map {
        AdvisedStatement(sql: $0, count: 1)
      })
    #expect(!store.measured.isEmpty && store.measured.allSatisfy { $0 == reading })
    #expect(advice.statements == 1)
  }
}

/// A store that counts the statements that it measures.
private final class QueryStore: IndexTrialStore {
  let unit = AdviceUnit.vmSteps
  let present: [FileIndex] = []
  let measuresChanges = false
  private(set) var measured: [String] = []

  func measure(_ statement: AdvisedStatement) -> IndexMeasure? {
    measured.append(statement.sql)
    return IndexMeasure(cost: 10_000, lines: [], indexes: [])
  }

  func indexes(usedBy statement: AdvisedStatement) -> [String]? { nil }
  func make(_ candidate: IndexCandidate, named name: String) -> Bool { true }
  func drop(_ name: String) {}
  func sql(of candidate: IndexCandidate, named name: String) -> String { "" }
  func insertCost(into table: String) -> Int? { nil }
  func size(of index: String) -> (pages: Int, bytes: Int)? { nil }
  func sparseColumns(of table: String, among columns: [String]) -> Set<String> { [] }
  func names(
    of columns: [String], in table: String, preferring preferred: String?
  ) -> (entity: String, properties: [String])? { nil }
  func canDescribe(_ index: IndexCandidate) -> Bool { true }
  func unusedIndexName(_ name: String, in entity: String?) -> String { name }
  func isAutomatic(_ index: FileIndex) -> Bool { false }
}
