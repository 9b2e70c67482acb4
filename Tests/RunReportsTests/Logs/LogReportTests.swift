import Foundation
import ScenarioFiles
import ScenarioLanguage
import Testing
import WorkbenchFixtures

@testable import LogAnalysis
@testable import RunReports

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("The page of a log")
struct LogReportTests {
  /// A fetch with a private value, ten faults in a section, and an error.
  private static let log =
    "CoreData: sql: SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZNOTE = ?\n"
    + "CoreData: details: SQLite bind[0] = \"<i>private</i>\"\n"
    + "CoreData: annotation: sql connection fetch time: 0.0100s\n"
    + "CoreData: annotation: total fetch execution time: 0.0300s for 20 rows.\n"
    + "CoreData: error: <script>alert(1)</script>\n" + "cdprof: begin list & more\n"
    + (1...10).map { SampleLogs.fault("Country", $0) }.joined() + "cdprof: end\n"

  private func page(_ format: LogReportFormat = .html, _ input: LogReportInput) throws -> String {
    String(decoding: try format.data(input), as: UTF8.self)
  }

  @Test("The page shows findings with lines and section, statements with times and rows, messages")
  func showsTheLog() throws {
    let report = SampleLogs.report(Self.log)
    let page = try page(.html, LogReportInput(report: report))
    #expect(page.contains("11 SELECTs returned 30 rows in 32 ms. Statement #1 took 94% of it."))
    #expect(page.contains("<b>fault-storm(Country)</b> 10 × #2, 2 ms"))
    #expect(page.contains("lines 7 to 43, in list &amp; more"))
    #expect(page.components(separatedBy: "<tr id=\"statement-").count == 3)
    #expect(page.contains("data-name=\"rows\">20<") && page.contains("data-name=\"calls\">10<"))
    // A section, a storm, and eleven executions.
    #expect(page.components(separatedBy: "<span class=\"mark ").count == 14)
    #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
    #expect(!page.contains("<script") && page.contains("script-src 'none'"))
  }

  /// Each time of a line is at most a day, but there can be any number of lines.
  @Test func sumsOfTimesCanExceedNanoseconds() throws {
    var report = SampleLogs.report(Self.log)
    report.statements[0].own = Int.max / 2
    report.storms[0].microseconds = Int.max / 2
    report.costs.microseconds = Int.max / 2
    for (format, time) in [
      (LogReportFormat.html, "9,223,372,036.9 s"), (.md, "9,223,372,036.9 s"),
      (.jsonl, "\"nanoseconds\":9223372036854775807"),
    ] {
      let text = try page(format, LogReportInput(report: report, before: report))
      #expect(text.contains(time), "\(format)")
    }
  }

  @Test("Bound values are escaped, and are shown only on request")
  func showsBoundValuesOnRequest() throws {
    let report = SampleLogs.report(Self.log)
    for format in LogReportFormat.allCases where format != .trace {
      #expect(!(try page(format, LogReportInput(report: report))).contains("private"))
    }
    let shown = try page(.html, LogReportInput(report: report, showsBinds: true))
    #expect(shown.contains("&lt;i&gt;private&lt;/i&gt;") && !shown.contains("<i>private"))
  }

  @Test("The page compares with an earlier log, by section and statement")
  func comparesWithAnEarlierLog() throws {
    let before = SampleLogs.report(Self.log)
    let after = SampleLogs.report(
      Self.log + SampleLogs.fetch("SELECT COUNT(*) FROM ZMOOD", rows: 1))
    let page = try page(.html, LogReportInput(report: after, before: before))
    #expect(page.contains("<h2 id=\"compared\">Compared with "))
    #expect(page.contains("new, 1 call") && page.contains("list &amp; more: the same counts"))
    #expect(!(try self.page(.html, LogReportInput(report: after))).contains("id=\"compared\""))
  }

  @Test("Markdown has the findings and a row for each statement")
  func writesMarkdown() throws {
    let text = try page(.md, LogReportInput(report: SampleLogs.report(Self.log)))
    #expect(text.contains("- ▲ **fault-storm(Country)** 10 × \\#2, 2 ms"))
    #expect(text.contains("| \\#1 | 1 | 20 | 30 ms | 30 ms | 30 ms | `SELECT 0, t0.Z_PK"))
  }

  /// Four spaces after the mark of an item make code, in which escapes are shown.
  @Test("Indented lines of a comparison are items below others in Markdown")
  func indentedLinesAreItems() throws {
    let sql = "SELECT COUNT(*) FROM ZMOOD"
    let logs = (1...2).map { count in
      Self.log + (0..<count).map { _ in SampleLogs.fetch(sql, rows: 1) }.joined()
    }
    let text = try page(
      .md,
      LogReportInput(report: SampleLogs.report(logs[1]), before: SampleLogs.report(logs[0])))
    #expect(text.contains("\n- the whole log\n  - "))
    #expect(
      text.contains("\n  - 1 → 2 calls, 1 → 2 rows   SELECT COUNT(\\*) FROM ZMOOD\n  - time   "))
    #expect(!text.contains("-  "))
  }

  @Test("The numbers of what isn't listed are those of the log, not of the page")
  func countsWhatIsNotListed() throws {
    let log = (1...210).map { number in
      "cdprof: begin part \(number)\n" + SampleLogs.fetch("SELECT 0 FROM ZT\(number) t0", rows: 1)
    }.joined()
    let input = LogReportInput(report: SampleLogs.report(log + "cdprof: end\n"))
    #expect(try page(.md, input).contains("\nand 180 more statements\n"))
    let html = try page(.html, input)
    #expect(html.contains("and 10 more; use --json to list all"))
    #expect(html.contains(">and 10 more sections<"))
    #expect(LogPage(input).tracks.first?.count == "210")
  }

  @Test("SQL on a page has at most 3,000 characters", arguments: [3_000, 3_001, 9_000])
  func truncatesSQL(length: Int) {
    let text = PageTemplate.truncated(String(repeating: "é", count: length))
    #expect(text.count == (length > 3_000 ? 3_001 : 3_000))
    #expect(text.hasSuffix("…") == (length > 3_000))
  }

  @Test("JUnit has a test case for each expectation and each missing section")
  func writesJUnit() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("budget.yml")
    let budget = """
      model: \(PackagedScenarios.folder.appendingPathComponent("Models/Moody.xcdatamodel").path)
      sections:
        - {name: list & more, expect: {selects: 10, misses(Country): at most 3}}
        - {name: absent, expect: {selects: 1}}
      """
    try Data(budget.utf8).write(to: file)
    let report = SampleLogs.report(Self.log)
    let evaluation = try LogBudgetEvaluator(budget: LogBudget.read(path: file.path))
      .evaluation(of: report)
    let text = try page(.junit, LogReportInput(report: report, evaluation: evaluation))
    #expect(text.contains("tests=\"4\" failures=\"3\" errors=\"0\" time="))
    #expect(text.contains(".list &amp; more\" name=\"selects: 10\" file="))
    #expect(
      text.contains("<failure type=\"expectation\" message=\"expected at most 3, actual 10\">"))
    #expect(text.contains("message=\"the log doesn't contain `cdprof: begin absent`\""))
    #expect(XMLParser(data: Data(text.utf8)).parse())
  }
}
