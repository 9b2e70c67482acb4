import Testing
import WorkbenchFixtures

@testable import LogAnalysis

@Suite("The report of a log for a terminal")
struct LogTextTests {
  /// Returns the lines of a statement's execution with a bound value.
  private static func execution(_ sql: String, bind: String?, time: String) -> String {
    var lines = SampleLogs.fetch(sql, rows: 1, time: time).split(separator: "\n")
    if let bind { lines.insert("CoreData: details: SQLite bind[0] = \(bind)", at: 1) }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Times in microseconds.
  @Test(arguments: [
    (0, "0.0 ms"), (49, "0.0 ms"), (50, "0.1 ms"), (5_349, "5.3 ms"), (5_350, "5.4 ms"),
    (99_950, "100.0 ms"), (999_949, "999.9 ms"), (999_950, "1,000 ms"), (1_000_499, "1,000 ms"),
    (1_000_500, "1,001 ms"), (12_345_678, "12,346 ms"),
  ])
  func timesAreRoundedToTheNearestTenth(microseconds: Int, text: String) {
    #expect(LogText.time(microseconds) == text)
  }

  @Test("The numbers of lines in the head add up")
  func numbersOfLinesAddUp() {
    let log = """
      cdprof: begin list
      CoreData: sql: SELECT 0, t0.Z_PK FROM ZMOOD t0
      CoreData: annotation: an unknown message

      an app's print
      cdprof: end

      """
    let lines = LogText.lines(SampleLogs.report(log))
    #expect(
      lines.first?.hasSuffix(
        "   6 lines: 2 from Core Data (1 unrecognized), 2 section marks, 1 from other sources, "
          + "1 blank") == true, "\(lines.first ?? "")")
    let core = "CoreData: sql: COMMIT\n"
    #expect(
      LogText.lines(SampleLogs.report(core)).first?.hasSuffix(
        "   1 line: 1 from Core Data (0 unrecognized), 0 from other sources, 0 blank") == true)
  }

  /// The lines of a device have the process only, so a time can follow that of another thread.
  @Test func timesWithoutAStatementAreExplained() {
    let prefix = "Mar  5 23:59:58 iPhone Shop(CoreData)[4711] <Notice>: CoreData: "
    let log = [
      "sql: SELECT 0, t0.Z_PK FROM ZMOOD t0",
      "annotation: total fetch execution time: 0.0001s for 1 rows.",
      "annotation: total fetch execution time: 0.0002s for 2 rows.",
    ].map { "\(prefix)\($0)\n" }.joined()
    let note =
      "1 time without a statement: the log is truncated, or its lines don't name the threads "
      + "that wrote them"
    #expect(LogText.lines(SampleLogs.report(log)).contains { $0.hasSuffix(note) })
  }

  @Test func statementsAreListedWithRoundedTimes() throws {
    let sql = "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZNOTE = ?"
    let log = ["0.00104s", "0.00106s", "1.0004s"].map {
      Self.execution(sql, bind: nil, time: $0)
    }
    let lines = LogText.lines(SampleLogs.report(log.joined()))
    let row = try #require(lines.first { $0.hasPrefix("  #1 ") })
    let columns = row.split(separator: " ", omittingEmptySubsequences: true).prefix(9)
    #expect(columns.joined(separator: " ") == "#1 3 1,003 ms 334.2 ms 1,000 ms 3")
  }

  /// A statement has the bound values of its first execution that has some; the list contains the
  /// 30 statements that took longest.
  @Test func listedStatementsHaveBoundValues() {
    let log = (1...32).map { number in
      Self.execution(
        "SELECT 0, t0.Z_PK FROM ZT\(number) t0 WHERE  t0.ZNOTE = ?",
        bind: number == 31 ? nil : "\"value \(number)\"", time: "0.\(1_000 + number)s")
    }
    let first = "SELECT 0, t0.Z_PK FROM ZT31 t0 WHERE  t0.ZNOTE = ?"
    let again = ["\"late\"", "\"later\""].map { Self.execution(first, bind: $0, time: "0.0001s") }
    let report = SampleLogs.report((log + again).joined())
    let lines = LogText.lines(report, showsBinds: true)
    let bound = lines.filter { $0.contains(" bound: ") }
    #expect(bound.count == 30)
    #expect(
      bound.prefix(3) == [
        "  #31 bound: \"late\"", "  #32 bound: \"value 32\"", "  #30 bound: \"value 30\"",
      ])
    #expect(bound.last == "  #3 bound: \"value 3\"")
    #expect(lines.contains("  and 2 more; use --json to list all"))
    #expect(!LogText.lines(report).contains { $0.contains(" bound: ") || $0.contains("late") })
  }

  /// The plan on the given store replaces the logged one, which has no assessment.
  @Test func listedStatementsHavePlans() {
    let names = ["ZONE", "ZTWO", "ZTHREE"]
    var report = SampleLogs.report(
      names.map {
        Self.execution("SELECT 0, t0.Z_PK FROM \($0) t0", bind: nil, time: "0.1000s")
      }.joined())
    #expect(report.statements.map(\.number) == [1, 2, 3])
    report.statements[0].loggedPlan = ["SCAN t0"]
    report.statements[2].loggedPlan = ["SCAN t0"]
    report.statements[2].plan = ["SEARCH t0 USING INDEX a", "USE TEMP B-TREE FOR ORDER BY"]
    report.statements[2].assessment = "The plan sorts."
    let lines = LogText.lines(report)
    let start = lines.firstIndex { $0.hasPrefix("  #1  SELECT") } ?? lines.endIndex
    #expect(
      Array(lines[start...].prefix(7)) == [
        "  #1  SELECT 0, t0.Z_PK FROM ZONE t0", "      SCAN t0", "",
        "  #3  SELECT 0, t0.Z_PK FROM ZTHREE t0", "      SEARCH t0 USING INDEX a",
        "      USE TEMP B-TREE FOR ORDER BY", "      The plan sorts.",
      ])
  }
}
