import Foundation
import Testing
import WorkbenchFixtures

@testable import LogAnalysis

@Suite("Logs broken at a column are rejoined")
struct LogWrapTests {
  /// The prefix of each Core Data line, and the prefix of the app's own output.
  static let forms: [(prefix: String, app: String)] = [
    ("", ""),
    ("2014-07-31 15:29:04.797 App[73416:2971038] ", ""),
    (
      "2024-05-01 12:00:00.123456+0200 App[4242:99887] [CoreData] ",
      "2024-05-01 12:00:00.1 App[1:2] "
    ),
    (
      "2023-05-01 10:00:00.123456+0200 0x1a2b     Debug       0x0                  1234   0    "
        + "App: (CoreData) [com.apple.coredata:sql] ",
      "2023-05-01 10:00:00.123456+0200 0x1a2b     Default     0x0                  1234   0    App: "
    ),
    (
      "May  1 12:00:00 iPhone App(CoreData)[1234] <Debug>: ",
      "May  1 12:00:00 iPhone App[1234] <Notice>: "
    ),
  ]
  static let widths = [80, 100, 120, 132]

  /// How lines are wrapped: at any character, with or without trailing spaces, or at spaces.
  enum Wrapping: String, CaseIterable, CustomTestStringConvertible {
    case anywhere, stripped, atSpaces

    var testDescription: String { rawValue }

    func pieces(of line: String, _ width: Int) -> [String] {
      var pieces: [String] = []
      var rest = Array(line)
      while rest.count > width {
        var end = width
        if self == .atSpaces {
          guard let space = rest[...width].lastIndex(of: " "), space > 0 else { break }
          end = space
        }
        pieces.append(String(rest[..<end]))
        rest = Array(rest[end...])
        while self == .atSpaces, rest.first == " " { rest.removeFirst() }
      }
      pieces.append(String(rest))
      guard self == .stripped else { return pieces }
      return pieces.map { String($0.reversed().drop { $0 == " " }.reversed()) }
    }
  }

  /// A log with lines of all kinds in one form, and app output, some of it as wide as the column.
  private func log(_ form: (prefix: String, app: String), width: Int) -> [String] {
    let id = "0xd000000000100002 <x-coredata://DE6497F9-8B94-420D-81B7-E25B992E28C2"
    let print = form.app + "loaded"
    var lines = [
      "\(form.prefix)cdprof: annotation: this log has row-cache hits and save times"
    ]
    for index in 1...12 {
      lines += [
        "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZCOLORS, t0.ZDATE, t0.ZLATITUDE, t0.ZLONGITUDE, "
          + "t0.ZMARKEDFORDELETIONDATE, t0.ZCOUNTRY FROM ZMOOD t0 WHERE ( t0.ZDATE > ? AND  "
          + "t0.ZLATITUDE < ?) ORDER BY t0.ZDATE DESC, t0.ZNAME COLLATE NSCollateLocaleSensitive , t0.Z_PK",
        "details: SQLite bind[0] = \"a text of some length that somebody has typed into a field of the app\"",
        "annotation: sql connection fetch time: 0.0\(100 + index)s",
        "annotation: total fetch execution time: 0.0\(200 + index)s for \(index * 17) rows.",
        "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNUMERICISO3166CODE, t0.ZUPDATEDAT, t0.ZCONTINENT FROM "
          + "ZCOUNTRY t0 WHERE  t0.Z_PK = ?  LIMIT 1",
        "annotation: sql connection fetch time: 0.0003s",
        "annotation: total fetch execution time: 0.0004s for 1 rows.",
        "annotation: fault fulfilled from database for : \(id)/Country/p\(index)>",
        "annotation: to-many relationship fault \"moodsOfThisCountry\" for objectID \(id)/Country/p\(index)> "
          + "fulfilled from database.  Got \(index) rows",
        "sql: SELECT COUNT(DISTINCT t0.Z_PK) FROM ZWORD t0 JOIN ZWORDCATEGORY t1 ON t0.ZWORDCATEGORY = "
          + "t1.Z_PK WHERE  t1.ZFIRSTLETTER = ?",
        "annotation: total count request execution time: 0.0002s for count of 190.",
        "sql: BEGIN EXCLUSIVE",
        "sql: INSERT INTO ZBUDGETCATEGORY(Z_PK, Z_ENT, Z_OPT, ZAMOUNT, ZTITLE, ZBELONGSTO, ZCREATEDAT) "
          + "VALUES(?, ?, ?, ?, ?, ?, ?)",
        "sql: UPDATE ZGEOGRAPHICREGION SET ZUPDATEDAT = ?, ZNUMBEROFMOODS = ?, Z_OPT = ?  WHERE Z_PK = ? "
          + "AND Z_OPT = ?",
        "sql: COMMIT",
      ].map { "\(form.prefix)CoreData: \($0)" }
      lines += [
        "\(form.prefix)cdprof: annotation: fault fulfilled from row cache for : \(id)/Country/p\(index)>",
        "\(form.prefix)cdprof: annotation: to-many relationship fault \"moodsOfThisCountry\" for objectID "
          + "\(id)/Country/p\(index)> fulfilled from row cache.  Got \(index) rows",
        "\(form.prefix)cdprof: annotation: save execution time: 0.0\(100 + index)s for \(index) objects.",
        "\(print) \(index) moods",
        String((print + String(repeating: " page", count: 60)).prefix(width)),
        String((print + " OK \(index)" + String(repeating: ".", count: 300)).prefix(width)),
      ]
    }
    return lines
  }

  private func report(_ lines: [String]) -> LogReport {
    SampleLogs.report(lines.joined(separator: "\n") + "\n")
  }

  /// The results that don't depend on how the log is wrapped.
  private func facts(_ report: LogReport) -> [String] {
    report.statements.map {
      "\($0.calls) \($0.times.count) \($0.times.total) \($0.rows) \(SQLText(LogBytes($0.sql)).key.string)"
    } + report.storms.map { "\($0.name) \($0.count)" }
      + report.kinds.filter { ![.app, .continuation].contains($0.key) }
      .map { "\($0.key.rawValue) \($0.value)" }.sorted()
      + ["\(report.unrecognized)", "\(report.logsHits)", report.firstTime, report.lastTime]
  }

  @Test(arguments: widths, forms.indices)
  func brokenLogsCountLikeIntactOnes(width: Int, form: Int) {
    let lines = log(LogWrapTests.forms[form], width: width)
    let whole = report(lines)
    #expect(whole.wrap == nil)
    for wrapping in Wrapping.allCases {
      let wrapped = lines.flatMap { wrapping.pieces(of: $0, width) }
      let joined = report(wrapped)
      #expect(joined.wrap != nil, "\(wrapping)")
      #expect(joined.lines == wrapped.count)
      #expect(joined.kinds.values.reduce(0, +) + joined.unrecognized == wrapped.count)
      let (found, expected) = (facts(joined), facts(whole))
      for (one, other) in zip(found, expected) where one != other {
        Issue.record("\(wrapping): \(one)\nexpected \(other)")
      }
      #expect(found.count == expected.count, "\(wrapping)")
      #expect(joined.costs == whole.costs, "\(wrapping)")
    }
  }

  @Test("The name of a section is complete in a broken log", arguments: widths, forms.indices)
  func namesOfSectionsAreRejoined(width: Int, form: Int) {
    let name =
      "chapter 6, faults and relationships/all moods of a list that prefetches countries, with a name of "
      + "more than one line in any of the columns, and more words"
    let prefix = LogWrapTests.forms[form].prefix
    let lines =
      log(LogWrapTests.forms[form], width: width) + ["\(prefix)cdprof: begin \(name)"]
      + log(LogWrapTests.forms[form], width: width)
    for wrapping in Wrapping.allCases {
      let joined = report(lines.flatMap { wrapping.pieces(of: $0, width) })
      #expect(joined.sections.map(\.name) == [name], "\(wrapping)")
    }
  }

  /// Too few lines are wrapped to detect the column.
  @Test(
    "OpenCoreData's own lines are also completed without a known column",
    arguments: widths.dropFirst())
  func fewBrokenLinesOfOpenCoreDataAreCompleted(width: Int) {
    let lines = [
      "CoreData: sql: SELECT 0, t0.Z_PK FROM ZNOTE t0",
      "cdprof: annotation: "
        + "to-many relationship fault \"notes\" for objectID 0x1 "
        + "<x-coredata://F1C66DAF-F9F1-47C2-9762-9584B5F908C6/Folder/p1> fulfilled from row cache.  "
        + "Got 30 rows", "CoreData: sql: COMMIT",
    ]
    let whole = report(lines)
    #expect(whole.kinds[.rowCacheHit] == 1)
    let wrapped = report(lines.flatMap { Wrapping.anywhere.pieces(of: $0, width) })
    #expect(wrapped.wrap == nil)
    #expect(wrapped.costs == whole.costs)
    #expect(wrapped.kinds[.app] == nil)
  }

  /// `VALUES(?, ?)` has no space where a line could be wrapped at spaces.
  @Test func lineBrokenAfterAParenthesisIsWrappedInAWord() {
    let insert =
      "CoreData: sql: INSERT INTO ZNOTE(Z_PK, Z_ENT, Z_OPT, ZFOLDER, ZMARKEDFORDELETIONDATE, ZTEXT) "
      + "VALUES(?, ?, ?, ?, ?, ?)"
    let lines = [insert, insert, insert].flatMap { Wrapping.anywhere.pieces(of: $0, 100) }
    #expect(lines[0].hasSuffix("VALUES(") && lines[1].hasPrefix("?"))
    let report = report(lines)
    #expect(report.wrap?.kind == .anywhere && report.wrap?.column == 100)
    #expect(report.statements.map { "CoreData: sql: \($0.sql)" } == [insert])
  }

  /// App output and the complete statement before it are both as wide as the column.
  @Test func intactRecordsAreNotJoined() {
    let long =
      "CoreData: sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNAME, t0.ZDATE FROM ZMOOD t0 WHERE t0.ZDATE > ?"
    let statement =
      "CoreData: sql: SELECT 0, t0.Z_PK, t0.ZNAME FROM ZCOUNTRY t0 WHERE t0.ZNUMBER = ?"
    #expect(statement.count == 80)
    let prints = [
      "Found 12 rows of Mood", "OK", String(repeating: "x", count: 80), "DONE with it", "(3 of 4)",
    ]
    let lines =
      [long, long, long].flatMap { Wrapping.anywhere.pieces(of: $0, 80) }
      + prints.flatMap { [statement, $0] }
    let report = report(lines)
    #expect(report.wrap?.column == 80 && report.wrap?.kind == .anywhere)
    #expect(report.statements.map(\.calls) == [3, 5])
    #expect(report.statements.map { "CoreData: sql: \($0.sql)" } == [long, statement])
    #expect(report.kinds[.app] == prints.count)
  }

  /// Lines of equal length, lists, truncated statements, and multiline output aren't wrapped lines.
  @Test(arguments: [
    String(
      repeating: SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZMOOD t0 ORDER BY t0.ZDATE", rows: 3),
      count: 50)
      + "an app's print\n",
    String(
      repeating:
        "CoreData: sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZCOLORS, t0.ZD<…>\nan app's print\n",
      count: 20),
    String(
      repeating:
        "CoreData: annotation: fetch using NSSQLiteStatement <0x1> on entity 'Mood' with sql text "
        + "'SELECT 0 FROM ZMOOD t0' returned 2 rows with values: (\n    \"<Mood: 0x1>\",\n    \"<Mood>\"\n)\n",
      count: 20),
    String(
      repeating: "CoreData: sql: SELECT 0,\n    t0.Z_PK,\n    t0.ZNAME\n  FROM ZMOOD t0\n",
      count: 20),
  ])
  func intactLogsAreUnchanged(text: String) {
    let report = SampleLogs.report(text)
    #expect(report.wrap == nil)
    #expect(report.statements.allSatisfy { !$0.sql.contains("print") })
  }

  @Test(.enabled(if: SharedData.moodyStores != nil, "the folder `shared` is absent"))
  func genuineLogsAreNotTreatedAsBroken() throws {
    let folder = try SharedData.url("sqldebug")
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let report = try LogReader.read(folder.appendingPathComponent(name).path)
      #expect(report.wrap == nil, "\(name)")
    }
  }
}
