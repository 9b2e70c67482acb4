import ManagedModel
package import RunResults
import WorkbenchText

/// The result of a run as Markdown: outcome, unmet expectations, costs, findings, and the command.
package enum MarkdownReport {
  /// Returns a result as a document that ends with a line feed.
  package static func text(_ result: RunResult) -> String {
    let table = ReportTable(result)
    let headline = ReportHeadline(result, lead: table.lead).parts.map { part in
      part.isNumber ? "**\(MarkdownText.plain(part.text))**" : MarkdownText.plain(part.text)
    }
    let story = result.story.joiningLines
    var blocks = [
      "## \(result.passes ? "✓" : "✗") \(MarkdownText.plain(result.scenario)): \(result.summary)"
    ]
    blocks += unmet(result)
    blocks += unevaluated(result)
    blocks.append(headline.joined())
    if !story.isEmpty { blocks.append(MarkdownText.plain(story)) }
    blocks.append(lines(of: table).joined(separator: "\n"))
    blocks.append(
      "▲ findings · counts are exact and reproducible · \\* this machine, informational"
        + (result.environment.timeNote.map { " · \($0)" } ?? ""))
    let findings = ReportFinding.all(of: result)
    if !findings.isEmpty {
      blocks.append(findings.map(text).joined(separator: "\n"))
    }
    let environment = result.environment
    let engine = result.engine.map { "\(MarkdownText.plain($0.text)), " } ?? ""
    blocks.append(
      "\(MarkdownText.code(result.command)), cdprof \(environment.cdprof) "
        + "(\(environment.build)), \(engine)SQLite \(environment.sqlite), "
        + MarkdownText.plain(environment.machine))
    return blocks.joined(separator: "\n\n") + "\n\n\(OutputMark.markdown)\n"
  }

  private static func unevaluated(_ result: RunResult) -> [String] {
    let lines = UnevaluatedText.all(in: result).map { "- \(MarkdownText.plain($0.text))" }
    return lines.isEmpty ? [] : [lines.joined(separator: "\n")]
  }

  private static func unmet(_ result: RunResult) -> [String] {
    let unmet = UnmetExpectations.all(of: result)
    guard !unmet.isEmpty else { return [] }
    var rows = [
      "| variant | metric | expected | actual | line |", "| --- | --- | ---: | ---: | --- |",
    ]
    for variant in unmet {
      for line in variant.lines {
        let formula = line.formula.map { " = \($0)" } ?? ""
        rows.append(
          MarkdownText.row([
            MarkdownText.plain(variant.variant), MarkdownText.code(line.metric),
            MarkdownText.plain(line.expected + formula), "**\(MarkdownText.plain(line.actual))**",
            MarkdownText.code(line.location),
          ]))
      }
    }
    let differences = unmet.flatMap { variant in
      variant.differences.map { "- \(MarkdownText.plain("\(variant.variant): \($0)"))" }
    }
    return [rows.joined(separator: "\n")]
      + (differences.isEmpty ? [] : [differences.joined(separator: "\n")])
  }

  private static func lines(of table: ReportTable) -> [String] {
    let headings =
      ["", "variant", table.leadHeading, "expected"]
      + table.headings.map { ($0.sign.map { "\($0) " } ?? "") + $0.text }
    let rule = ["---", "---", "---:", "---"] + table.headings.map { _ in "---:" }
    return [
      MarkdownText.row(headings.map(MarkdownText.plain)), MarkdownText.row(rule),
    ]
      + table.rows.map { row in
        MarkdownText.row(
          [
            row.holds ? "✓" : "✗",
            MarkdownText.plain(row.name) + (row.findings.map { " ▲\($0)" } ?? ""),
            "**\(row.text)**", row.formula.map(MarkdownText.code) ?? "",
          ] + row.cells.map { MarkdownText.plain($0.text) })
      }
  }

  private static func text(_ finding: ReportFinding) -> String {
    let location = finding.location.map { " from \(MarkdownText.code($0))" } ?? ""
    let fix = [
      finding.fix.map(MarkdownText.code), finding.advice.nonEmpty.map(MarkdownText.plain),
    ].compactMap(\.self)
    let now = finding.now.map { "  \n  now \(MarkdownText.code($0))" } ?? ""
    return "- ▲ **\(MarkdownText.plain(finding.name))** \(finding.count) "
      + "\(MarkdownText.plain(finding.what))\(location)\(now)  \n"
      + "  fix \(fix.joined(separator: " ")); \(MarkdownText.plain(finding.verification))"
  }
}
