import Foundation
import ProfileEvents
import Testing

@testable import Workbench

@Suite("What the lines of a log add up to")
struct LogTallyTests {
  /// The prefetch's time is inside its fetch's.
  @Test func nestedTimesBelongToTheirStatements() {
    let report = LogTexts.report(
      """
      CoreData: sql: SELECT 0, t0.Z_PK FROM ZITEM t0
      CoreData: annotation: sql connection fetch time: 0.0003s
      CoreData: annotation: Bound intarray _Z_intarray0
      CoreData: annotation: Bound intarray values.
      CoreData: sql: SELECT 0, t0.Z_PK, t0.ZITEM FROM ZATTACHMENT t0 WHERE  t0.ZITEM IN (SELECT * FROM _Z_intarray0)  ORDER BY t0.ZITEM
      CoreData: annotation: sql connection fetch time: 0.0021s
      CoreData: annotation: total fetch execution time: 0.0024s for 1581 rows.
      CoreData: annotation: Prefetching with key 'attachments'.  Got 1581 rows.
      CoreData: annotation: total fetch execution time: 0.0053s for 190 rows.
      """)
    #expect(report.statements.map(\.rows) == [190, 1581])
    #expect(report.statements.map(\.times.total) == [5_300, 2_400])
    #expect(report.statements.map(\.own) == [2_900, 2_400])
    #expect(report.statements.map(\.connection) == [300, 2_100])
    #expect(report.statements.map(\.prefetches) == [0, 1])
    #expect(report.microseconds == 5_300)
    #expect(report.costs.all == [.selects: 2, .rows: 1771, .fetches: 1, .prefetches: 1])
    #expect(report.costs.byRelationship == ["attachments": [.prefetches: 1]])
    #expect(report.unmatchedTimes == 0)
  }

  @Test func threadsAreToldApart() {
    let a = "2024-01-01 10:00:00.000 App[1:100] CoreData:"
    let b = "2024-01-01 10:00:00.000 App[1:200] CoreData:"
    let report = LogTexts.report(
      """
      \(a) sql: SELECT 0, t0.Z_PK FROM ZITEM t0
      \(b) sql: SELECT 0, t0.Z_PK FROM ZTAG t0
      \(a) annotation: sql connection fetch time: 0.0010s
      \(b) annotation: sql connection fetch time: 0.0020s
      \(a) annotation: total fetch execution time: 0.0100s for 5 rows.
      \(b) annotation: total fetch execution time: 0.0200s for 7 rows.
      """)
    #expect(report.statements.map(\.rows) == [5, 7])
    #expect(report.statements.map(\.own) == [10_000, 20_000])
    #expect(report.statements.map(\.connection) == [1_000, 2_000])
  }

  /// A save is two transactions, of which one writes rows; what Core Data keeps for itself is no row.
  @Test func aSaveIsCountedAsTheCountersDo() {
    let report = LogTexts.report(
      [
        "BEGIN EXCLUSIVE", "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?",
        "UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND Z_MAX = ?", "COMMIT",
        "BEGIN EXCLUSIVE", "INSERT INTO ZITEM(Z_PK, Z_ENT) VALUES(?, ?)",
        "INSERT OR REPLACE INTO Z_1TAGS(Z_1ITEMS, Z_2TAGS) VALUES(?, ?)",
        "UPDATE ZITEM SET ZNAME = ?, Z_OPT = ?  WHERE Z_PK = ? AND Z_OPT = ?",
        "DELETE FROM ZTAG WHERE Z_PK = ? AND Z_OPT = ?", "COMMIT", "pragma page_count",
      ].map { "CoreData: sql: \($0)\n" }.joined())
    #expect(
      report.costs.all == [
        .inserts: 2, .updates: 1, .deletes: 1, .transactions: 2, .saves: 1,
      ])
    #expect(report.costs.byTable["Z_1TAGS"] == [.inserts: 1])
  }

  @Test func percentilesAreOfTheTimes() {
    let text = (1...100).map { number in
      LogTexts.fetch(
        "SELECT 0, t0.Z_PK FROM ZITEM t0", rows: 1,
        time: "0.\(number + 10_000)s".replacing("0.1", with: "0."))
    }.joined()
    let statement = LogTexts.report(text).statements[0]
    #expect(statement.calls == 100 && statement.times.count == 100)
    #expect(statement.times.percentile(95) == 9_500)
    #expect(statement.times.largest == 10_000)
    #expect(statement.times.mean == 5_050)
  }

  /// A list that shows a country of each mood: two storms, between whose faults lie the other's.
  @Test func stormsAreFoundAndFewFaultsAreNone() {
    let storm = (1...30).map { LogTexts.fault("Mood", $0) + LogTexts.fault("Country", $0) }
    let report = LogTexts.report(
      storm.joined() + (1...9).map { LogTexts.fault("Region", $0) }.joined())
    #expect(report.storms.map(\.name) == ["fault-storm(Mood)", "fault-storm(Country)"])
    #expect(report.storms.map(\.count) == [30, 30])
    #expect(report.storms.map(\.firstLine) == [1, 5])
    #expect(report.costs.all == [.selects: 69, .rows: 69, .misses: 69])
    #expect(report.statements[1].objectFaults == 30 && report.statements[1].entity == "Country")
  }

  @Test func aFetchInALoopIsFoundAndOneNowAndThenIsNot() {
    let fetch = LogTexts.fetch(
      "SELECT 0, t0.Z_PK FROM ZITEM t0 WHERE  t0.ZNAME = ?  LIMIT 1", rows: 1)
    let others = (1...6).map {
      LogTexts.fetch("SELECT 0, t0.Z_PK FROM ZTAG t0 LIMIT \($0)", rows: 1)
    }.joined()
    let loop = LogTexts.report(String(repeating: fetch, count: 12))
    #expect(loop.storms.map(\.name) == ["fetch-in-a-loop(ZITEM)"])
    #expect(loop.costs.all[.fetches] == 12)
    let apart = LogTexts.report(String(repeating: fetch + others, count: 12))
    #expect(apart.storms.isEmpty)
    let slow = (0..<12).map { second in
      fetch.replacing(
        "CoreData:", with: "2024-01-01 10:00:\(second * 3 + 10).000 App[1:1] CoreData:")
    }
    #expect(LogTexts.report(slow.joined()).storms.isEmpty)
  }

  @Test func sectionsAreCountedByThemselves() {
    let report = LogTexts.report(
      LogTexts.fault("Mood", 1) + "cdprof: begin list\n" + LogTexts.fault("Mood", 2)
        + "2024-01-01 10:00:00.000 App[1:2] cdprof: begin detail view \n"
        + LogTexts.fetch("SELECT 0, t0.Z_PK FROM ZITEM t0", rows: 3) + "cdprof: end\n"
        + LogTexts.fault("Mood", 3))
    #expect(report.sections.map(\.name) == ["list", "detail view"])
    #expect(
      report.sections.map(\.costs.all) == [
        [.selects: 1, .rows: 1, .misses: 1], [.selects: 1, .rows: 3, .fetches: 1],
      ])
    #expect(report.sections.map(\.firstLine) == [5, 10])
    #expect(report.kinds[.section] == 3)
    #expect(report.costs.all[.misses] == 3)
  }
}
