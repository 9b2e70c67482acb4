import Foundation
import ProfileEvents
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import LogAnalysis

@Suite("Logs are read without losing lines")
struct LogReaderTests {
  /// Genuine logs: the number of lines, of executions, and of lines of each kind.
  ///
  /// Two lines of each name its origin.
  @Test(
    .enabled(if: SharedData.moodyStores != nil),
    arguments: [
      (
        "01-fatbobman-count-level1.log", 41, 12,
        [
          .sql: 12, .connectionTime: 11, .fetchTime: 11, .countTime: 1, .relationshipFault: 1,
          .intarray: 2, .prefetch: 1,
        ]
      ),
      (
        "05-objcio-moody-book-fetch-fault-save.log", 24, 10,
        [.sql: 10, .connectionTime: 2, .fetchTime: 2, .objectFault: 1, .continuation: 7]
      ),
      ("07-swiftdata-store-open-level1.log", 13, 8, [.sql: 8, .connecting: 1, .remoteChange: 2]),
      (
        "08-apress-wordlist-level1-and-3-2014.log", 8, 2,
        [.sql: 2, .countTime: 2, .bind: 1, .countResult: 1]
      ),
      ("09-openradar-12965555-level3-2013.log", 7, 0, [.fetchResult: 1, .continuation: 4]),
      ("12-swiftdata-search-level4.log", 5, 2, [.sql: 2, .bind: 1]),
      ("14-wal-checkpoint-contention.log", 8, 0, [.maintenance: 2, .checkpoint: 4]),
      ("16-errors-and-warnings.log", 5, 0, [.error: 3]),
      ("17-connecting-and-journal.log", 4, 1, [.connecting: 1, .sql: 1]),
      ("18-objcio-eqp-sqlite-shell.txt", 9, 0, [.plan: 7]),
    ] as [(String, Int, Int, [LogKind: Int])])
  func readsGenuineLogsWithoutUnrecognizedLines(
    name: String, lines: Int, calls: Int, kinds: [LogKind: Int]
  ) throws {
    let report = try LogReader.read(SharedData.url("sqldebug/\(name)").path)
    #expect(report.lines == lines)
    #expect(report.unrecognized == 0)
    #expect(report.statements.reduce(0) { $0 + $1.calls } == calls)
    #expect(report.kinds == kinds.merging([.app: 2]) { $1 })
  }

  @Test func kindsAndClassesAreCountedByPosition() {
    #expect(LogKind.allCases.map(\.position) == Array(LogKind.allCases.indices))
    #expect(LogClass.allCases.map(\.position) == Array(LogClass.allCases.indices))
  }

  /// A line that begins with a space isn't in the usual format.
  @Test(arguments: [
    "2026-11-25 09:00:00.001 App[1:2] CoreData: sql: BEGIN EXCLUSIVE",
    "CoreData: annotation:   total fetch execution time: 0.0001s for 2 rows.  ",
    "CoreData:\tdetails: SQLite bind[0] = \"CoreData: sql: a\"", "App CoreData: sql:",
  ])
  func usualLinesAreParsedLikeOthers(_ line: String) throws {
    #expect(StandardLine(ArraySlice(line.utf8)) != nil)
    #expect(StandardLine(ArraySlice(" \(line)".utf8)) == nil)
    let usual = LogLine(ArraySlice(line.utf8))
    let other = LogLine(ArraySlice(" \(line)".utf8))
    let (first, second) = (try #require(usual.message), try #require(other.message))
    #expect(first.logClass == second.logClass && first.text == second.text)
    #expect(" \(usual.prefix.string)" == other.prefix.string)
  }

  @Test func everyLineHasOneKind() {
    var bytes = Array("\u{FEFF}ata: sql: BEGIN EXCLUSIVE\r\n".utf8)
    bytes += Array("hello \u{1B}[31mred\u{1B}[0m\r\n\r\n".utf8)
    bytes += [0x43, 0xFF, 0xFE, 0x0A]
    bytes += Array("CoreData: annotation: an unknown message\n".utf8)
    bytes +=
      Array("CoreData: details: SQLite bind[0] = \"\u{FFFD}".utf8) + [0xC3, 0x28]
      + Array("\"\n".utf8)
    bytes += Array("Type: Notice | Timestamp: 2023-06-12 10:00:00 | Category: sql\n".utf8)
    bytes += Array("CoreData: sql: COMMIT".utf8)
    let report = SampleLogs.report(bytes)
    #expect(report.lines == 8)
    #expect(
      report.kinds == [.sql: 2, .app: 2, .blank: 1, .bind: 1, .metadata: 1])
    #expect(report.unrecognized == 1)
    #expect(report.unrecognizedLines.map(\.text) == ["an unknown message"])
    #expect(report.kinds.values.reduce(report.unrecognized, +) == report.lines)
  }

  /// A terminal wraps lines at its last column, even within a name.
  @Test(arguments: [
    "SELECT t0.Z_ENT, t0.Z_PK FROM ZM|OOD t0 WHERE  t0.ZCOUNTRY = ? ORDER BY t0.ZDATE",
    "SELECT t0.Z_ENT, t0.Z_PK FROM ZMOOD t0 WHERE  t0.|ZCOUNTRY = ? ORDER BY t0.ZDATE",
    "SELECT t0.Z_ENT, t0.Z_|PK FROM ZMOOD t0 WHERE  t0.ZCOU|NTRY = ?",
    "DELETE FROM ZMOOD WHERE Z_P|K IN (SELECT t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZDATE < ?)",
  ])
  func statementBrokenInANameIsRejoined(sql: String) {
    let lines = sql.replacingOccurrences(of: "|", with: "\n")
    let report = SampleLogs.report("CoreData: sql: \(lines)\nmood t0 is the best\n")
    #expect(report.statements.map(\.sql) == [sql.replacingOccurrences(of: "|", with: "")])
    #expect(report.kinds[.app] == 1)
  }

  /// A console's lines are wrapped between words, those of a terminal anywhere (`/`).
  @Test(
    "The lines of a wrapped statement are joined as Core Data writes it, without a known column",
    arguments: [
      "SELECT|COUNT(DISTINCT t0.Z_PK) FROM ZWORD t0 JOIN ZKIND t1 ON t0.ZKIND|= t1.Z_PK WHERE t1.ZNAME = ?",
      "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE|NSCoreDataLike(t0.ZNAME, ?, 0)",
      "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE t0.ZDATE > ? OR/DER BY t0.ZDATE",
      "SELECT 0, t0.Z_PK, t0.ZNAMENORMALI/ZED, t0.ZNAME FROM ZCITY t0",
      "SELECT 0, t0.Z_PK, t0.ZNUMBER/, t0.ZNAME FROM ZORDER t0 WHERE ( t0.ZNAME = ?/)",
    ])
  func wrappedStatementsAreJoinedAsWritten(sql: String) {
    let lines = sql.replacing("|", with: "\n").replacing("/", with: "\n")
    let report = SampleLogs.report("CoreData: sql: \(lines)\n")
    let expected = sql.replacing("|", with: " ").replacing("/", with: "")
    #expect(report.statements.map(\.sql) == [expected])
    #expect(report.costs[.selects] == 1)
  }

  /// A statement wrapped within a name and between words, with app output in between.
  @Test func wrappedStatementsAreRejoined() {
    let report = SampleLogs.report(
      """
      CoreData: sql: SELECT t0.Z_ENT, t0.Z_PK, t0.ZMARKEDFORDELE
      TIONDATE, t0.ZNAME
      Hello from the app
        FROM ZITEM t0
        WHERE ( t0.ZNAME = ? AND
          t0.ZDATE > ?)
      ORDER BY t0.ZNAME
      Ordered 3 items
      FROM here on it is quiet
      CoreData: annotation: fault fulfilled from database for : 0xd0
      <x-coredata://DE6497F9-8B94-420D-81B7-E25B992E28C2/Country/p4>
      CoreData: annotation: to-many relationship fault "tags" for objectID 0xa7 <x-coredata://0/Item/p1> fulfilled from
      database.  Got 0 rows
      CoreData: error: (1) failed with {
          NSFilePath = "/x";
      }
      that was it
      """)
    #expect(
      report.statements.map(\.sql) == [
        "SELECT t0.Z_ENT, t0.Z_PK, t0.ZMARKEDFORDELETIONDATE, t0.ZNAME FROM ZITEM t0 "
          + "WHERE ( t0.ZNAME = ? AND t0.ZDATE > ?) ORDER BY t0.ZNAME"
      ])
    #expect(
      report.kinds == [
        .sql: 1, .continuation: 9, .app: 4, .objectFault: 1, .relationshipFault: 1, .error: 1,
      ])
    #expect(report.costs.byEntity["Country"] == [.misses: 1])
    #expect(report.costs.byRelationship["Item.tags"] == [.misses: 1])
  }

  /// A CI service puts a time stamp before each line, including continuation lines.
  @Test(arguments: [
    ("2024-03-01T10:11:12.2234567Z ", "2024-03-01T10:11:12.2234567Z"),
    ("[10:11:12]: ▸ ", "10:11:12"), ("[10:11:12]: ", "10:11:12"),
  ])
  func ciTimestampsAreStripped(stamp: String, time: String) {
    let report = SampleLogs.report(
      [
        "CoreData: sql: SELECT 0, t0.Z_PK, t0.ZMARKEDFORDELE", "TIONDATE, t0.ZNAME",
        "  FROM ZITEM t0",
        "CoreData: annotation: total fetch execution time: 0.0002s for 3 rows.",
        "CoreData: error: (1) failed with {", "    NSFilePath = \"/x\";", "}", "that was it",
        "CoreData: details: SQLite: EXPLAIN QUERY PLAN SELECT 0 FROM ZITEM t0",
        "0|0|0|SCAN ZITEM t0",
        "",
      ].map { "\(stamp)\($0)\n" }.joined())
    #expect(
      report.statements.map(\.sql) == [
        "SELECT 0, t0.Z_PK, t0.ZMARKEDFORDELETIONDATE, t0.ZNAME FROM ZITEM t0"
      ]
    )
    #expect(
      report.kinds == [
        .sql: 1, .continuation: 4, .fetchTime: 1, .error: 1, .explain: 1, .plan: 1, .app: 1,
        .blank: 1,
      ])
    #expect(report.firstTime == time)
  }

  @Test func truncatedStatementsMatchTheirFullText() {
    let long = "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZITEM t0 WHERE  t0.ZNAME = ?"
    let report = SampleLogs.report(
      [
        long, "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZN<…>", "SELECT 0, t0.Z_PK, t0.Z_OPT,",
        "SELECT t0.Z_ENT, t0.Z_PK, t0.ZBIG<…>", "SELECT t0.Z_ENT, t0.Z_PK, t0.ZBIG, t0.ZBIGG…",
        "<private>", "SELECT 0, t0.Z_PK FROM ZITEM t0 WHERE  t0.ZNAME = <private>",
      ].map { "CoreData: sql: \($0)\n" }.joined())
    #expect(report.statements.map(\.calls) == [3, 2, 1, 1])
    #expect(report.statements.map(\.isTruncated) == [false, true, false, false])
    #expect(report.statements.map(\.number) == [1, 2, 3, 4])
  }

  /// Finding the full text of each takes a search, not a comparison with all others.
  @Test func manyTruncatedStatementsAreSeparate() {
    let sql = "SELECT 0, t0.Z_PK FROM ZITEM t0 WHERE  t0.ZNAME IN ("
    let cut = (0..<InputLimits.logStatements).map { number in
      "CoreData: sql: \(sql)'\(number * 7 % 1_000)', '\(number)'<…>\n"
    }
    let report = SampleLogs.report(cut.joined() + "CoreData: sql: \(sql)<…>\n")
    #expect(report.statements.count == InputLimits.logStatements + 1)
    #expect(report.statements.dropLast().allSatisfy { $0.isTruncated && $0.calls == 1 })
  }

  /// A statement of many lines isn't read again for each of them.
  @Test(arguments: ["CoreData: sql: ", "CoreData: details: SQLite: EXPLAIN QUERY PLAN "])
  func statementHasManyLines(beginning: String) {
    let sql = "SELECT 0, t0.Z_PK FROM ZITEM t0 WHERE  t0.ZNAME IN (lower(?),"
    let report = SampleLogs.report(
      "\(beginning)\(sql)\n" + String(repeating: "?, lower(?),\n", count: 30_000)
        + "?) ORDER BY t0.ZNAME\nshown in list\nCoreData: sql: COMMIT\n")
    #expect(report.kinds[.continuation] == 30_001 && report.kinds[.app] == 1)
    #expect(report.lines == 30_004 && report.unrecognized == 0)
  }

  /// A parenthesis in a string doesn't count.
  @Test func statementEndsWithItsParentheses() {
    let report = SampleLogs.report(
      """
      CoreData: sql: INSERT INTO ZITEM(Z_PK, ZNAME)
      VALUES(?, 'a (',
      t0.ZNAME)
      list (2 items, 3 new)
      CoreData: sql: COMMIT
      """)
    #expect(report.kinds == [.sql: 2, .continuation: 2, .app: 1])
    #expect(report.statements[0].isTruncated == false)
  }

  @Test(
    "A record with a key per line has the class of its category, which can precede the message",
    arguments: [true, false])
  func categoriesOfMultilineRecordsAreClasses(isFirst: Bool) {
    func record(_ category: String, _ text: String, subsystem: String = "com.apple.coredata")
      -> String
    {
      let keys = [#""subsystem" : "\#(subsystem)","#, #""category" : "\#(category)","#]
      let frames = [#""backtrace" : {"#, #"  "category" : "other""#, "},"]
      let lines =
        (isFirst ? keys : []) + [#""eventMessage" : "\#(text)","#] + frames
        + (isFirst ? [] : keys) + [#""threadID" : 7,"#]
        + [#""timestamp" : "2024-03-01 10:00:01.500000+0100""#]
      return "  {\n" + lines.map { "    \($0)\n" }.joined() + "  },\n"
    }
    let report = SampleLogs.report(
      "[\n" + record("sql", "SELECT 0, t0.Z_PK FROM ZA t0")
        + record("sql", "SELECT 0, t0.Z_PK FROM ZB t0", subsystem: "com.example.app")
        + record("annotation", "total fetch execution time: 0.0010s for 5 rows.")
        + record("error", "the store can't be opened") + "]\n")
    #expect(report.statements.map(\.sql) == ["SELECT 0, t0.Z_PK FROM ZA t0"])
    #expect(report.statements.map(\.rows) == [5])
    #expect(report.statements.map(\.firstLine) == [isFirst ? 5 : 3])
    #expect(report.problems.map(\.text) == ["the store can't be opened"])
    #expect(report.firstTime == "2024-03-01 10:00:01.500000+0100")
    #expect(report.kinds[.sql] == 1 && report.kinds[.fetchTime] == 1 && report.kinds[.error] == 1)
    #expect(report.kinds.values.reduce(0, +) == report.lines)
  }

  @Test("Each record of an array on one line is a message, also one with braces and brackets")
  func recordsOfAnArrayOnOneLineAreMessages() {
    func record(_ text: String, _ thread: Int) -> String {
      #"{"eventMessage":"CoreData: \#(text)","threadID":\#(thread),"backtrace":{"frames":[{}]}}"#
    }
    let report = SampleLogs.report(
      "["
        + [
          record("sql: SELECT 0, t0.Z_PK FROM ZA t0", 1),
          record("sql: SELECT 0, t0.Z_PK FROM ZB t0", 2),
          record(#"details: SQLite bind[0] = \"}, {\""#, 2),
          record("annotation: total fetch execution time: 0.0010s for 5 rows.", 1),
          record("annotation: total fetch execution time: 0.0020s for 7 rows.", 2),
        ].joined(separator: ",") + "]\n")
    #expect(report.statements.map(\.rows) == [5, 7])
    #expect(report.statements.map(\.binds) == [[], [#""}, {""#]])
    #expect(report.lines == 5 && report.kinds == [.sql: 2, .bind: 1, .fetchTime: 2])
  }

  @Test func readsVeryLongLines() {
    let report = SampleLogs.report(
      "CoreData: sql: SELECT \(String(repeating: "x", count: 5_000_000))\nCoreData: sql: COMMIT\n")
    #expect(report.lines == 2 && report.kinds == [.sql: 2])
    #expect(report.statements.last?.sql == "COMMIT")
    #expect(report.statements[0].sql.utf8.count == (4 << 20) - "CoreData: sql: ".utf8.count)
  }

  @Test func wideNumbersStayApartInTheTable() {
    let fetch = SampleLogs.fetch(
      "SELECT 0, t0.Z_PK FROM ZMOOD t0 LIMIT 20", rows: 20, time: "90.0000s")
    let lines = LogText.lines(SampleLogs.report(String(repeating: fetch, count: 12_000)))
    let row = lines.first { $0.contains("ZMOOD") } ?? ""
    #expect(row.contains("#1  12,000  1,080,000,000 ms  "), "\(row)")
    #expect(lines.first { $0.contains("statement") }?.count == row.prefix { $0 != "S" }.count + 9)
  }
}
