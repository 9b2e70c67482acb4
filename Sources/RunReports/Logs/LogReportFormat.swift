package import Foundation
package import LogAnalysis
import OpenCoreData
package import StatementAnalysis
import WorkbenchText

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

  package init(
    report: LogReport, before: LogReport? = nil, evaluation: LogEvaluation? = nil,
    advice: IndexAdvice? = nil, showsBinds: Bool = false
  ) {
    self.report = report
    self.before = before
    self.evaluation = evaluation
    self.advice = advice
    self.showsBinds = showsBinds
  }
}

/// The formats in which the report of a log can be written.
package enum LogReportFormat: String, CaseIterable, Sendable {
  /// A self-contained page without a script, in the style of a run's (`HTMLReport`).
  case html
  /// Markdown, for a comment on a pull request.
  case md

  /// Returns the report in this format.
  ///
  /// - Throws: An error of the template's parser, which a test rules out.
  package func data(_ input: LogReportInput) throws -> Data {
    switch self {
    case .html:
      Data(try PageTemplate.render(PackageResources.log_html, LogPage(input)).utf8)
    case .md: Data(PrintableText.escaped(LogReportFormat.markdown(LogPage(input))).utf8)
    }
  }

  /// The maximum number of statements in Markdown.
  private static let limit = 30

  private static func markdown(_ page: LogPage) -> String {
    var lines = [
      "## \(MarkdownText.plain(page.title))", "",
      "\(page.isGood ? "✓" : "✗") **\(MarkdownText.plain(page.outcome))**. "
        + "\(MarkdownText.plain(page.lead)) \(MarkdownText.plain(page.told))", "",
    ]
    lines += page.storms.map { storm in
      "- ▲ **\(MarkdownText.plain(storm.name))** \(MarkdownText.plain(storm.cost)), "
        + "\(MarkdownText.plain(storm.place))  \n  fix \(MarkdownText.plain(storm.fix))"
    }
    for text in [page.budget, page.compared?.text].compactMap(\.self) {
      lines += [""] + text.split(separator: "\n").map { "- \(MarkdownText.plain(String($0)))" }
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
    let hidden = page.statements.count - limit
    if hidden > 0 { lines += ["", "and \(hidden) more statements"] }
    if let advice = page.advice {
      lines += [""] + advice.split(separator: "\n").map { "- \(MarkdownText.plain(String($0)))" }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
