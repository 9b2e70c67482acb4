import CEmbeddedFiles
package import Foundation
package import LogAnalysis
import ManagedModel
import ProfileEvents
package import StatementAnalysis
import WorkbenchText

/// The values of the template for a log, formatted for display.
///
/// Strings are plain text, which the template escapes.
struct LogPage {
  struct Mark {
    var kind: String
    /// The start and the width, in percent of the log's lines.
    var left: String
    var width: String
    var title: String
  }

  struct Track {
    var name: String
    var count: String
    /// A description of the marks for assistive technology.
    var label: String
    var marks: [Mark]
  }

  struct Storm {
    var name: String
    var cost: String
    var location: String
    var fix: String
  }

  struct Compared {
    var file: String
    var text: String
  }

  struct Section {
    var name: String
    var lines: String
    var counts: String
  }

  struct Message {
    var line: String
    var kind: String
    var text: String
    var times: String
  }

  /// The maximum number of statements, storms, and sections on a page.
  static let limit = 200
  private static let trackLimit = 12

  let title: String
  /// The result in a few words.
  let outcome: String
  let isGood: Bool
  let lead: String
  let summary: String
  /// The evaluation of the log's sections, or `nil` without a budget.
  let budget: String?
  let tracks: [Track]
  let first: String
  let last: String
  let storms: [Storm]
  /// The number of storms that aren't shown, in words, or `nil` if all are.
  let moreStorms: String?
  let compared: Compared?
  let statements: [LogPageStatement]
  /// The number of all statements of the log.
  let statementCount: Int
  /// The number of statements that aren't shown, or `nil` if all are.
  let more: String?
  let advice: String?
  let sections: [Section]
  /// The number of sections that aren't shown, in words, or `nil` if all are.
  let moreSections: String?
  let hasSections: Bool
  let messages: [Message]
  let hasMessages: Bool
  let version: String

  init(_ input: LogReportInput) {
    let report = input.report
    title = report.file
    isGood = input.evaluation?.passes ?? report.storms.isEmpty
    outcome = LogPage.outcome(input)
    lead = LogPage.lead(report)
    summary = LogPage.summary(report)
    budget = input.evaluation.map {
      LogEvaluationText.lines($0, of: report).joined(separator: "\n")
    }
    tracks = LogPage.tracks(report)
    first = "line 1" + (report.firstTime.isEmpty ? "" : ", \(report.firstTime)")
    last =
      "line \(NumberText.grouped(report.lines))"
      + (report.lastTime.isEmpty ? "" : ", \(report.lastTime)")
    storms = report.storms.prefix(LogPage.limit).map { LogPage.storm($0, report) }
    moreStorms = LogPage.more(report.storms.count, "finding")
    compared = input.before.map { before in
      Compared(
        file: before.file,
        text: ComparisonText.lines(RunComparison(before, report)).joined(separator: "\n"))
    }
    let sorted = report.statementsByTime
    statements = sorted.prefix(LogPage.limit).map {
      LogPageStatement($0, showsBinds: input.showsBinds)
    }
    statementCount = sorted.count
    let hidden = sorted.count - statements.count
    more = hidden > 0 ? "and \(NumberText.grouped(hidden)) more; use --json to list all" : nil
    advice = input.advice.map { AdviceText.lines($0).joined(separator: "\n") }
    sections = report.sections.prefix(LogPage.limit).map { section in
      Section(
        name: section.name, lines: "\(section.firstLine) to \(section.lastLine)",
        counts: LogText.costs(section.costs, suffix: LogText.hitsNote(report)))
    }
    moreSections = LogPage.more(report.sections.count, "section")
    hasSections = !sections.isEmpty
    messages = (report.problems + report.unrecognizedLines).map { sample in
      Message(
        line: NumberText.grouped(sample.line), kind: sample.logClass.name, text: sample.text,
        times: NumberText.grouped(sample.count))
    }
    hasMessages = !messages.isEmpty
    version = ToolVersion.current
  }

  private static func more(_ count: Int, _ noun: String) -> String? {
    count > limit ? "and \(NumberText.counted(count - limit, "more \(noun)"))" : nil
  }

  static func outcome(_ input: LogReportInput) -> String {
    let storms = input.report.storms.count
    let found = storms == 0 ? "no findings" : NumberText.counted(storms, "finding")
    guard let evaluation = input.evaluation else { return found }
    return (evaluation.passes ? "expectations met" : "expectations not met") + ", \(found)"
  }

  static func lead(_ report: LogReport) -> String {
    let selects = report.costs.value(of: .selects)
    let rows = report.costs.value(of: .rows)
    let all =
      "\(NumberText.counted(selects, "SELECT")) returned \(NumberText.counted(rows, "row")) in "
      + "\(time(report.microseconds))."
    guard let worst = report.statementsByTime.first, worst.own > 0, report.microseconds > 0 else {
      return all
    }
    let share = Int((Double(worst.own) / Double(report.microseconds) * 100).rounded())
    return "\(all) Statement #\(worst.number) took \(share)% of it."
  }

  static func summary(_ report: LogReport) -> String {
    let from = report.firstTime.isEmpty ? "" : ", \(report.firstTime) to \(report.lastTime)"
    return "\(NumberText.counted(report.lines, "line")), "
      + "\(NumberText.grouped(report.coreDataLines)) from Core Data\(from)."
      + (report.logsHits ? "" : " Core Data doesn't log row-cache hits.")
  }

  static func time(_ microseconds: Int) -> String {
    NumberText.time(LogReport.nanoseconds(microseconds))
  }
}

extension LogPage {
  static func cost(_ storm: LogStorm) -> String {
    let runs =
      storm.runs == 1
      ? ""
      : " in \(NumberText.grouped(storm.runs)) runs, the longest \(NumberText.grouped(storm.longest))"
    return "\(NumberText.grouped(storm.count)) × #\(storm.statement)\(runs), "
      + time(storm.microseconds)
  }

  /// Returns the lines of a storm, its time, and the section in which it begins.
  static func location(of storm: LogStorm, in report: LogReport) -> String {
    let section = report.sections.first {
      ($0.firstLine...max($0.firstLine, $0.lastLine)).contains(storm.firstLine)
    }
    return "lines \(NumberText.grouped(storm.firstLine)) to \(NumberText.grouped(storm.lastLine))"
      + (storm.firstTime.isEmpty ? "" : ", \(storm.firstTime)")
      + (section.map { ", in \($0.name)" } ?? "")
  }

  private static func storm(_ storm: LogStorm, _ report: LogReport) -> Storm {
    Storm(
      name: storm.name, cost: cost(storm), location: location(of: storm, in: report), fix: storm.fix
    )
  }

  /// Returns the sections, the storms, and the slowest statements, by lines of the log.
  private static func tracks(_ report: LogReport) -> [Track] {
    func mark(_ kind: String, _ first: Int, _ last: Int, _ title: String) -> Mark {
      let all = Double(max(1, report.lines))
      let left = min(99.5, Double(max(0, first - 1)) / all * 100)
      let width = min(100 - left, Double(max(0, last - first) + 1) / all * 100)
      return Mark(
        kind: kind, left: percent(left), width: percent(width), title: title)
    }
    var tracks: [Track] = []
    let sections = report.sections.prefix(limit).map {
      mark("section", $0.firstLine, $0.lastLine, $0.name)
    }
    if !sections.isEmpty {
      tracks.append(
        Track(
          name: "Sections", count: NumberText.grouped(report.sections.count),
          label: report.sections.prefix(limit).map(\.name).joined(separator: ", "),
          marks: sections))
    }
    tracks += report.storms.prefix(trackLimit).map { storm in
      let location = location(of: storm, in: report)
      return Track(
        name: storm.name, count: cost(storm), label: location,
        marks: [mark("fault", storm.firstLine, storm.lastLine, location)])
    }
    let slow = report.slowest.prefix(limit)
    if !slow.isEmpty {
      let marks = slow.map { execution in
        mark(
          "", execution.line, execution.line,
          "line \(execution.line), #\(execution.statement), \(time(execution.microseconds))")
      }
      tracks.append(
        Track(
          name: "Slowest executions", count: NumberText.grouped(slow.count),
          label: marks.prefix(10).map(\.title).joined(separator: "; "), marks: marks))
    }
    return tracks
  }

  /// Returns a number for CSS, with two decimal places.
  private static func percent(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let places = String(100 + hundredths % 100).dropFirst()
    return "\(hundredths / 100).\(places)"
  }
}

/// A statement of a log on the page.
struct LogPageStatement {
  let anchor: String
  let number: String
  let short: String
  let sql: String
  let purpose: String
  let location: String
  let binds: String?
  let plan: String?
  let assessment: String?
  let calls: String
  let rows: String
  let total: String
  let mean: String
  let p95: String
  let max: String

  init(_ statement: LogStatement, showsBinds: Bool) {
    let times = statement.times
    let hasTimes = times.count > 0
    anchor = "statement-\(statement.number)"
    number = "#\(statement.number)"
    short = PageTemplate.truncated(SQLAbbreviation.short(statement.sql))
    sql = PageTemplate.truncated(statement.sql) + (statement.isTruncated ? "…" : "")
    purpose = LogPageStatement.purpose(statement)
    location =
      "lines \(NumberText.grouped(statement.firstLine)) to \(NumberText.grouped(statement.lastLine))"
    binds =
      showsBinds && !statement.binds.isEmpty
      ? PageTemplate.truncated(statement.binds.joined(separator: ", ")) : nil
    let lines = statement.plan.isEmpty ? statement.loggedPlan : statement.plan
    plan = lines.isEmpty ? nil : lines.joined(separator: "\n")
    assessment = statement.assessment.isEmpty ? nil : statement.assessment
    calls = NumberText.grouped(statement.calls)
    rows = statement.kind == .select ? NumberText.grouped(statement.rows) : "–"
    total = hasTimes ? LogPage.time(times.total) : "–"
    mean = hasTimes ? LogPage.time(Int(times.mean)) : "–"
    p95 = hasTimes ? LogPage.time(times.percentile(95)) : "–"
    max = hasTimes ? LogPage.time(times.largest) : "–"
  }

  private static func purpose(_ statement: LogStatement) -> String {
    [
      (statement.objectFaults, "object fault"),
      (statement.relationshipFaults, "relationship fault"), (statement.prefetches, "prefetch"),
    ].filter { $0.0 > 0 }.map { count, name in
      NumberText.counted(count, name, name == "prefetch" ? "prefetches" : nil)
    }.joined(separator: ", ")
  }
}

/// What a page about a log shows.
package struct LogReportInput {
  package var report: LogReport
  /// An earlier log to compare with, or `nil`.
  package var before: LogReport?
  /// The evaluation of the log's sections, or `nil` without a budget.
  package var evaluation: LogEvaluation?
  /// The suggested indexes, or `nil` without a store.
  package var advice: IndexAdvice?
  /// Whether to show bound values, which can be private.
  package var showsBinds: Bool
  /// What identifies the log in JSON Lines.
  package var labels: [ReportLabel]

  package init(
    report: LogReport, before: LogReport? = nil, evaluation: LogEvaluation? = nil,
    advice: IndexAdvice? = nil, showsBinds: Bool = false, labels: [ReportLabel] = []
  ) {
    self.report = report
    self.before = before
    self.evaluation = evaluation
    self.advice = advice
    self.showsBinds = showsBinds
    self.labels = labels
  }
}

/// The formats in which the report of a log can be written.
package enum LogReportFormat: String, CaseIterable, Sendable {
  /// A self-contained page without a script, in the style of a run's (`HTMLReport`).
  case html
  /// Markdown, for a comment on a pull request.
  case md
  /// JUnit XML, for a CI service: a test case for each expectation of the log's sections.
  case junit
  /// Chrome trace events, for Perfetto, if the log contains times of day.
  case trace
  /// JSON Lines, with a line for the log, each section, statement, and finding.
  case jsonl

  /// Returns the report in this format.
  ///
  /// - Throws: An `InvalidInputError` for a trace of a log without times; an error of the
  ///   template's parser, which a test rules out.
  package func data(_ input: LogReportInput) throws -> Data {
    switch self {
    case .html:
      Data(
        try PageTemplate.render(String(cString: embedded_log_html()), LogPage(input)).utf8)
    case .md: Data(PrintableText.escaped(LogReportFormat.markdown(LogPage(input))).utf8)
    case .junit: Data(PrintableText.escaped(LogReportFormat.junit(input)).utf8)
    case .trace: try LogReportFormat.trace(input.report)
    case .jsonl: LogReportFormat.lines(input)
    }
  }

  /// The maximum number of statements in Markdown.
  private static let limit = 30

  private static func markdown(_ page: LogPage) -> String {
    var lines = [
      "## \(MarkdownText.plain(page.title))", "",
      "\(page.isGood ? "✓" : "✗") **\(MarkdownText.plain(page.outcome))**. "
        + "\(MarkdownText.plain(page.lead)) \(MarkdownText.plain(page.summary))", "",
    ]
    lines += page.storms.map { storm in
      "- ▲ **\(MarkdownText.plain(storm.name))** \(MarkdownText.plain(storm.cost)), "
        + "\(MarkdownText.plain(storm.location))  \n  fix \(MarkdownText.plain(storm.fix))"
    }
    if let more = page.moreStorms { lines += ["", more] }
    for text in [page.budget, page.compared?.text].compactMap(\.self) {
      lines += [""] + MarkdownText.list(text)
    }
    lines += [
      "", MarkdownText.row(["#", "calls", "rows", "total", "mean", "p95", "statement"]),
      MarkdownText.row(["---:", "---:", "---:", "---:", "---:", "---:", "---"]),
    ]
    lines += page.statements.prefix(limit).map { statement in
      MarkdownText.row(
        [
          statement.number, statement.calls, statement.rows, statement.total, statement.mean,
          statement.p95,
        ].map(MarkdownText.plain) + [MarkdownText.code(statement.short)])
    }
    let hidden = page.statementCount - limit
    if hidden > 0 {
      lines += ["", "and \(NumberText.counted(hidden, "more statement"))"]
    }
    if let advice = page.advice { lines += [""] + MarkdownText.list(advice) }
    return lines.joined(separator: "\n") + "\n"
  }
}
