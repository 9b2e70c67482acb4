import Foundation
import ProfileEvents
import StatementAnalysis
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import LogAnalysis

@Suite("Counts of a log")
struct LogAggregatorTests {
  /// The time of a fetch includes that of its prefetch.
  @Test func nestedTimesAreAssignedToTheirStatements() {
    let report = SampleLogs.report(
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

  /// One SELECT fulfills faults of several entities and relationships, inside and outside of a
  /// section, and one fault has no statement.
  @Test func missesAreCountedByWhatWasAFault() throws {
    let fault = "CoreData: annotation: fault fulfilled from database for : <x-coredata://S"
    let select = SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZPLACE t0 WHERE  t0.Z_PK = ?", rows: 1)
    let moods =
      "CoreData: annotation: to-many relationship fault \"moods\" for objectID "
      + "<x-coredata://S/Country/p1> fulfilled from database.  Got 3 rows\n"
    let report = SampleLogs.report(
      "\(select)\(fault)/Country/p1>\n\(select)\(fault)/Continent/p2>\n"
        + "cdprof: begin list\n\(select)\(fault)/Continent/p3>\n\(select)\(fault)/Country/p4>\n"
        + "\(select)\(fault)/Continent/p5>\n\(select)\(moods)\(moods)cdprof: end\n")
    #expect(report.statements.map(\.objectFaults) == [5])
    #expect(report.statements.map(\.relationshipFaults) == [1])
    #expect(report.costs.all[.misses] == 7)
    #expect(
      report.costs.byEntity == ["Country": [.misses: 2], "Continent": [.misses: 3]])
    #expect(report.costs.byRelationship == ["Country.moods": [.misses: 2]])
    let section = try #require(report.sections.first)
    #expect(section.costs.all[.misses] == 5)
    #expect(section.costs.byEntity == ["Country": [.misses: 1], "Continent": [.misses: 2]])
    #expect(section.costs.byRelationship == ["Country.moods": [.misses: 2]])
    #expect(section.reads[1]?[.misses] == 4)
  }

  /// Times beyond 64 bits aren't counted.
  @Test func sumsOfTimesDoNotOverflow() {
    func message(_ logClass: LogClass, _ text: String) -> LogMessage {
      var message = LogMessage(line: 1, logClass: logClass, text: LogBytes(text))
      message.classify()
      return message
    }
    var tally = LogAggregator()
    tally.measured = Int.max - 15
    tally.take(message(.sql, "UPDATE ZITEM SET ZNAME = ?"), .sql)
    for _ in 0..<3 {
      tally.take(message(.annotation, "batch execution time: 0.000010s"), .executionTime)
    }
    #expect(tally.shapes[0].own == 10 && tally.unmatched == 2)
    #expect(tally.costs.microseconds == 10)
  }

  /// Memory is limited, but totals include every statement.
  @Test func statementsBeyondTheLimitAreCountedByKind() throws {
    var lines = ""
    for number in 0..<InputLimits.logStatements {
      lines += "CoreData: sql: SELECT 0, t0.Z_PK FROM ZITEM t0 WHERE  t0.ZN\(number) = ?\n"
    }
    for number in 0..<15 {
      lines += SampleLogs.fetch(
        "SELECT 0, t0.Z_PK FROM ZLIST t0 WHERE  t0.ZM\(number) = ?", rows: 2)
      lines += "CoreData: details: SQLite bind[0] = \(number)\n"
      lines += "CoreData: sql: UPDATE ZLIST SET ZM\(number) = ? WHERE Z_PK = ?\n"
    }
    lines += SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZITEM t0 WHERE  t0.ZN0 = ?", rows: 1)
    let report = SampleLogs.report(lines)
    let limit = InputLimits.logStatements
    #expect(report.statements.count == limit + 2)
    #expect(
      report.statements.prefix(limit).map(\.calls) == [2] + Array(repeating: 1, count: limit - 1))
    let others = report.statements.suffix(2)
    #expect(others.map(\.sql) == ["(other SELECT statements)", "(other UPDATE statements)"])
    #expect(others.map(\.calls) == [15, 15] && others.map(\.rows) == [30, 0])
    #expect(others.allSatisfy { $0.table == nil && $0.binds.isEmpty && !$0.isTruncated })
    #expect(report.costs.all[.selects] == limit + 16 && report.costs.all[.updates] == 15)
    // Different statements aren't a loop, and there's nothing to advise on.
    #expect(report.storms.isEmpty)
    #expect(!report.advisedStatements.contains { $0.sql.hasPrefix("(other") })
  }

  /// A statement redacted by the system log is a SELECT if the time of a fetch follows.
  @Test func redactedStatementsAreClassifiedByTheirTimes() {
    let report = SampleLogs.report(
      "CoreData: sql: <private>\n" + SampleLogs.fetch("<private>", rows: 3)
        + SampleLogs.fetch("<private>", rows: 1)
        + "CoreData: annotation: fault fulfilled from database for : <private>\n"
        + "CoreData: sql: <private>\nCoreData: sql: <private>\n"
        + "CoreData: annotation: total count request execution time: 0.0004s for count of 9.\n")
    #expect(report.statements.map(\.sql) == ["<private>"])
    #expect(report.statements[0].calls == 5 && report.statements[0].kind == .select)
    #expect(report.statements[0].times.total == 800 && report.unmatchedTimes == 0)
    #expect(report.costs.all == [.selects: 3, .rows: 5, .fetches: 2, .misses: 1])
  }

  @Test("A fault whose line is truncated or hidden is a miss, because Core Data logs no others")
  func truncatedFaultsAreMisses() {
    let select = SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.Z_PK = ?", rows: 1)
    let save = "CoreData: sql: INSERT INTO ZMOOD(Z_PK) VALUES(?)\nCoreData: sql: COMMIT\n"
    for fault in ["fault fulfilled from data", "fault fulfilled from <private>"] {
      let report = SampleLogs.report(save + select + "CoreData: annotation: \(fault)\n" + save)
      #expect(!report.logsHits && report.costs.all[.saves] == 2)
      #expect(report.costs.all[.misses] == 1 && report.costs.all[.fetches] == nil)
    }
  }

  /// The system log keeps 1,024 bytes, which can be less than the columns of a wide entity.
  @Test func fetchesThatAreTruncatedBeforeTheirTableAreCounted() {
    let columns = (10..<90).map { "t0.ZATTRIBUTE\($0)" }.joined(separator: ", ")
    let sql = String("SELECT 0, t0.Z_PK, t0.Z_OPT, \(columns)".prefix(1_010))
    let fault =
      SampleLogs.fetch(sql, rows: 1)
      + "CoreData: annotation: fault fulfilled from database for : 0xd0 <x-coredata://S/Item/p1>\n"
    let batches = SampleLogs.fetch(sql, rows: 20)
    let report = SampleLogs.report(
      String(repeating: fault, count: 12) + String(repeating: batches, count: 11))
    #expect(report.statements.map(\.calls) == [23] && report.statements[0].isTruncated)
    #expect(report.statements[0].kind == .select && report.statements[0].objectFaults == 12)
    #expect(report.costs.all == [.selects: 23, .rows: 232, .fetches: 11, .misses: 12])
    #expect(report.unmatchedTimes == 0)
    // Whether the other statements are the same is unknown.
    #expect(report.storms.map(\.name) == ["fault-storm(Item)"])
  }

  /// Core Data fetches from the tables of the history and of mirroring to CloudKit, too, such as
  /// while another thread fetches, in a log without threads.
  @Test func fetchesOfInternalTablesAreTimedButNotCounted() {
    let history = SampleLogs.fetch(
      "SELECT 0, t0.Z_PK FROM ATRANSACTION t0 WHERE  t0.Z_PK > ? ORDER BY t0.Z_PK", rows: 7,
      time: "0.0900s")
    let count =
      "CoreData: sql: SELECT COUNT(*) FROM ANSCKEVENT t0\n"
      + "CoreData: annotation: total count request execution time: 0.0004s for count of 9.\n"
    var fetch = SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZITEM t0", rows: 2)
      .split(separator: "\n").map { "\($0)\n" }
    fetch.insert(history + count, at: 1)
    let report = SampleLogs.report(
      history + fetch.joined() + "CoreData: sql: SELECT Z_MAX FROM Z_PRIMARYKEY\n" + history)
    #expect(
      report.statements.map(\.kind) == [.housekeeping, .select, .housekeeping, .housekeeping])
    #expect(report.statements.map(\.times.total) == [270_000, 200, 400, 0])
    #expect(report.statements.map(\.rows) == [21, 2, 1, 0])
    #expect(report.costs.all == [.selects: 1, .rows: 2, .fetches: 1])
    #expect(report.unmatchedTimes == 0)
  }

  /// Statements that the system log hides can differ.
  @Test func hiddenStatementsAreNoLoop() {
    let hidden = String(repeating: SampleLogs.fetch("<private>", rows: 1), count: 12)
    let known = String(
      repeating: SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZITEM t0", rows: 1), count: 12)
    #expect(SampleLogs.report(hidden).costs.all[.fetches] == 12)
    #expect(SampleLogs.report(hidden).storms.isEmpty)
    #expect(SampleLogs.report(known).storms.map(\.name) == ["fetch-loop(ZITEM)"])
  }

  /// A fetch logs a total time; a SELECT that a save runs logs only SQLite's time.
  @Test func selectsOfASaveAreNotFetches() {
    let own = [
      "sql: BEGIN EXCLUSIVE",
      "sql: SELECT t0.Z_PK, t0.Z_FOK_LIST FROM ZITEM t0 WHERE  t0.ZLIST = ?",
      "annotation: sql connection fetch time: 0.0001s",
      "sql: UPDATE ZITEM SET Z_FOK_LIST = ? WHERE Z_PK=?", "sql: COMMIT",
    ]
    let save = own.map { "CoreData: \($0)\n" }.joined()
    let fetch = SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZITEM t0", rows: 2)
    let report = SampleLogs.report(fetch + save)
    #expect(report.costs.all[.selects] == 2 && report.costs.all[.fetches] == 1)
    // A save reads a conflict's rows after the ROLLBACK; OpenCoreData then logs the time of the
    // save.
    let conflict =
      save.replacingOccurrences(of: "COMMIT", with: "ROLLBACK")
      + own[1...2].map {
        "CoreData: \($0)\n"
      }.joined()
    #expect(
      SampleLogs.report(fetch + conflict).costs.all[.fetches] == 2, "the log may be truncated")
    let withSaveTime =
      conflict + "cdprof: annotation: save execution time: 0.0044s for 0 objects.\n"
    #expect(SampleLogs.report(fetch + withSaveTime).costs.all[.fetches] == 1)
    // The log may be truncated after its last line.
    let truncated = SampleLogs.report(
      fetch + save + fetch.split(separator: "\n").prefix(2).joined(separator: "\n"))
    #expect(truncated.costs.all[.fetches] == 2)
    // Without times, all SELECTs count as fetches.
    let bare = SampleLogs.report("CoreData: sql: SELECT 0, t0.Z_PK FROM ZITEM t0\n" + save)
    #expect(bare.costs.all[.fetches] == 2)
  }

  /// `log show --style json` writes a key per line, with the thread and the time after the message.
  @Test func multilineRecordsKeepThreadAndTime() {
    func record(_ text: String, _ thread: Int) -> String {
      """
      {
        "eventMessage" : "CoreData: \(text)",
        "formatString" : "CoreData: sql: %{public}@",
        "threadID" : \(thread),
        "backtrace" : {
          "frames" : [
            {
              "imageOffset" : 12
            }
          ]
        },
        "timestamp" : "2024-03-01 10:00:0\(thread).500000+0100",
        "processID" : 5
      },\n
      """
    }
    let report = SampleLogs.report(
      "[" + record("sql: SELECT 0, t0.Z_PK FROM ZA t0", 1)
        + record("sql: SELECT 0, t0.Z_PK FROM ZB t0", 2)
        + record("annotation: sql connection fetch time: 0.0001s", 1)
        + record("annotation: total fetch execution time: 0.0010s for 5 rows.", 1)
        + record("annotation: total fetch execution time: 0.0020s for 7 rows.", 2))
    #expect(report.statements.map(\.rows) == [5, 7])
    #expect(report.statements.map(\.times.total) == [1_000, 2_000])
    #expect(report.firstTime == "2024-03-01 10:00:01.500000+0100")
    #expect(report.lastTime == "2024-03-01 10:00:02.500000+0100")
    #expect(report.kinds[.sql] == 2 && report.kinds[.continuation] == nil)
    #expect(report.kinds.values.reduce(0, +) == report.lines)
  }

  @Test func trailingNULIsIgnored() {
    let sql = "CoreData: sql: SELECT 0, t0.Z_PK FROM ZA t0"
    let report = SampleLogs.report("\(sql)\0\n\(sql)\n\0\0\n")
    #expect(report.statements.map(\.calls) == [2] && !report.statements[0].isTruncated)
    #expect(report.kinds == [.sql: 2, .blank: 1])
  }

  /// Devices and `log show --style syslog` write processes without threads.
  @Test(arguments: [
    ("App[1:100]", "App[1:200]"), ("host App[10]: (CoreData)", "host Share[20]: (CoreData)"),
  ])
  func threadsAreSeparated(one: String, other: String) {
    let a = "2024-01-01 10:00:00.000 \(one) CoreData:"
    let b = "2024-01-01 10:00:00.000 \(other) CoreData:"
    let report = SampleLogs.report(
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

  /// Xcode prints the time and the thread of a message below it.
  @Test func metadataContainsTimeAndThread() {
    func lines(_ text: String, _ second: Int, _ thread: String) -> String {
      "CoreData: \(text)\nType: Notice | Timestamp: 2024-03-01 10:00:0\(second).500000+01:00 | "
        + "Process: App | Library: CoreData | Category: sql | TID: 0x\(thread)\n"
    }
    let report = SampleLogs.report(
      lines("sql: SELECT 0, t0.Z_PK FROM ZITEM t0", 1, "1a")
        + lines("sql: SELECT 0, t0.Z_PK FROM ZTAG t0", 2, "2b")
        + lines("annotation: sql connection fetch time: 0.0010s", 3, "1a")
        + lines("annotation: sql connection fetch time: 0.0020s", 3, "2b")
        + lines("annotation: total fetch execution time: 0.0100s for 5 rows.", 4, "1a")
        + lines("annotation: total fetch execution time: 0.0200s for 7 rows.", 5, "2b"))
    #expect(report.statements.map(\.rows) == [5, 7])
    #expect(report.statements.map(\.connection) == [1_000, 2_000])
    #expect(report.firstTime == "2024-03-01 10:00:01.500000+01:00")
    #expect(report.lastTime == "2024-03-01 10:00:05.500000+01:00")
    #expect(report.kinds[.metadata] == 6 && report.lines == 12)
  }

  /// A value is bound to the execution of its thread, and only those of one are kept.
  @Test func boundValuesAreThoseOfOneThread() {
    let a = "2024-01-01 10:00:00.000 App[1:100] CoreData:"
    let b = "2024-01-01 10:00:00.000 App[1:200] CoreData:"
    let sql = "sql: SELECT 0, t0.Z_PK FROM ZITEM t0 WHERE  t0.ZNAME = ? AND  t0.ZAGE = ?"
    let report = SampleLogs.report(
      """
      \(a) \(sql)
      \(b) \(sql)
      \(a) details: SQLite bind[0] = "x"
      \(b) details: SQLite bind[0] = "y"
      \(a) details: SQLite bind[1] = 1
      \(b) details: SQLite bind[1] = 2
      """)
    #expect(report.statements.map(\.binds) == [["\"x\"", "1"]])
  }

  /// OpenCoreData logs a fetch's result after its prefetches.
  @Test func resultOfAFetchNamesItsOwnStatement() {
    let prefetch =
      "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZCOUNTRY IN (SELECT * FROM _Z_intarray0)"
    func report(_ sql: String, repeated: String) -> LogReport {
      SampleLogs.report(
        """
        CoreData: sql: \(sql)
        CoreData: annotation: sql connection fetch time: 0.0001s
        CoreData: sql: \(prefetch)
        CoreData: annotation: sql connection fetch time: 0.0001s
        CoreData: annotation: total fetch execution time: 0.0002s for 4 rows.
        CoreData: annotation: Prefetching with key 'moods'.  Got 4 rows.
        CoreData: annotation: fetch using NSSQLiteStatement <0x2> on entity 'Country' \(repeated)
        CoreData: annotation: total fetch execution time: 0.0004s for 2 rows.
        """)
    }
    let sql = "SELECT t0.Z_ENT, t0.Z_PK FROM ZREGION t0 WHERE  t0.Z_ENT = ?"
    let whole = report(sql, repeated: "with sql text '\(sql) ' returned 2 rows")
    #expect(whole.statements.map(\.entity) == ["Country", nil])
    // Without its end, the statement could be another one.
    let cut = report(sql, repeated: "with sql text 'SELECT t0.Z_ENT, t0.Z_<…>")
    #expect(cut.statements.map(\.entity) == [nil, nil])
  }

  /// A save is two transactions, one of which writes rows; updates of `Z_PRIMARYKEY` don't count.
  @Test func savesAreCountedLikeTheCounters() {
    let report = SampleLogs.report(
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

  @Test func percentilesAreComputedFromTimes() {
    let text = (1...100).map { number in
      SampleLogs.fetch(
        "SELECT 0, t0.Z_PK FROM ZITEM t0", rows: 1,
        time: "0.\(number + 10_000)s".replacing("0.1", with: "0."))
    }.joined()
    let statement = SampleLogs.report(text).statements[0]
    #expect(statement.calls == 100 && statement.times.count == 100)
    #expect(statement.times.percentile(95) == 9_500)
    #expect(statement.times.largest == 10_000)
    #expect(statement.times.mean == 5_050)
  }

  /// A list that shows the country of each mood: two interleaved fault storms.
  @Test func stormsNeedEnoughFaults() {
    let storm = (1...30).map { SampleLogs.fault("Mood", $0) + SampleLogs.fault("Country", $0) }
    let report = SampleLogs.report(
      storm.joined() + (1...9).map { SampleLogs.fault("Region", $0) }.joined())
    #expect(report.storms.map(\.name) == ["fault-storm(Mood)", "fault-storm(Country)"])
    #expect(report.storms.map(\.count) == [30, 30])
    #expect(report.storms.map(\.firstLine) == [1, 5])
    #expect(report.costs.all == [.selects: 69, .rows: 69, .misses: 69])
    #expect(report.statements[1].objectFaults == 30 && report.statements[1].entity == "Country")
  }

  @Test func fetchLoopsNeedConsecutiveFetches() {
    let fetch = SampleLogs.fetch(
      "SELECT 0, t0.Z_PK FROM ZITEM t0 WHERE  t0.ZNAME = ?  LIMIT 1", rows: 1)
    let others = (1...6).map {
      SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZTAG\($0) t0", rows: 1)
    }.joined()
    let loop = SampleLogs.report(String(repeating: fetch, count: 12))
    #expect(loop.storms.map(\.name) == ["fetch-loop(ZITEM)"])
    #expect(loop.costs.all[.fetches] == 12)
    let apart = SampleLogs.report(String(repeating: fetch + others, count: 12))
    #expect(apart.storms.isEmpty)
    let slow = (0..<12).map { second in
      fetch.replacing(
        "CoreData:", with: "2024-01-01 10:00:\(second * 3 + 10).000 App[1:1] CoreData:")
    }
    #expect(SampleLogs.report(slow.joined()).storms.isEmpty)
  }

  @Test("Fetches that differ only in literals are a loop")
  func fetchLoopsHaveLiterals() {
    let pages = (0..<12).map {
      SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZITEM t0 LIMIT 20 OFFSET \(20 * $0)", rows: 20)
    }
    let report = SampleLogs.report(pages.joined())
    #expect(report.statements.count == 12)
    #expect(report.storms.map(\.name) == ["fetch-loop(ZITEM)"])
    #expect(report.storms.map(\.count) == [12] && report.storms.map(\.statement) == [1])
  }

  @Test("A repetition is on one thread; the SELECTs of others don't interrupt it")
  func repetitionsAreOfOneThread() {
    func lines(_ table: String, _ thread: Int) -> String {
      SampleLogs.fetch("SELECT 0, t0.Z_PK FROM \(table) t0 WHERE  t0.ZNAME = ?", rows: 1)
        .replacing("CoreData:", with: "2024-01-01 10:00:00.000 App[1:\(thread)] CoreData:")
    }
    let shared = (0..<6).map { _ in lines("ZITEM", 1) + lines("ZITEM", 2) }
    #expect(SampleLogs.report(shared.joined()).storms.isEmpty)
    let others = (1...6).map { lines("ZTAG\($0)", 2) }.joined()
    let loop = (0..<12).map { _ in lines("ZITEM", 1) + others }
    let report = SampleLogs.report(loop.joined())
    #expect(report.storms.map(\.name) == ["fetch-loop(ZITEM)"])
    #expect(report.storms.map(\.count) == [12] && report.storms.map(\.runs) == [1])
    let both = (0..<10).map { _ in lines("ZITEM", 1) + lines("ZITEM", 2) }
    let runs = SampleLogs.report(both.joined()).storms
    #expect(runs.map(\.count) == [20] && runs.map(\.runs) == [2] && runs.map(\.longest) == [10])
    #expect(runs.map(\.firstLine) == [1])
  }

  /// The times of a log without dates start over at midnight, and those without years in January.
  @Test(arguments: [("", ""), ("Dec 31 ", "Jan  1 ")])
  func repetitionContinuesAcrossMidnight(before: String, after: String) {
    let fetch = SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZITEM t0 WHERE  t0.ZNAME = ?", rows: 1)
    let lines = ["\(before)23:59:59.9", "\(after)00:00:00.2"].map { time in
      String(repeating: fetch, count: 6)
        .replacing("CoreData:", with: "\(time) App[1:1] CoreData:")
    }
    #expect(SampleLogs.report(lines.joined()).storms.map(\.count) == [12])
    #expect(SampleLogs.report(lines.reversed().joined()).storms.isEmpty)
  }
}
