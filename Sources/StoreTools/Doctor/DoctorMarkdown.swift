package import Foundation
import WorkbenchText

/// Formats a doctor's report as Markdown, for a comment on a pull request.
package enum DoctorMarkdown {
  /// Returns a heading, and a table of the findings, the most severe first.
  package static func data(_ report: DoctorReport) -> Data {
    let name = MarkdownText.code(report.url.lastPathComponent)
    var lines = ["### \(name): \(report.isIntact ? "no problems found" : report.severities)"]
    if report.isInferred {
      lines += [
        "",
        "The store has no readable model. Checks that need one were skipped, and property names are "
          + "inferred from column names.",
      ]
    }
    if !report.isIntact {
      lines += ["", MarkdownText.row(["severity", "finding", "problem", "next"])]
      lines.append(MarkdownText.row(["---", "---", "---", "---"]))
      let sorted = DoctorSeverity.allCases.reversed().flatMap { severity in
        report.findings.filter { $0.severity == severity }
      }
      lines += sorted.map { finding in
        let examples = finding.examples.map(MarkdownText.code).joined(separator: ", ")
        let problem = MarkdownText.plain(finding.message)
        return MarkdownText.row([
          finding.severity.rawValue, MarkdownText.code(finding.rule.rawValue),
          examples.isEmpty ? problem : "\(problem): \(examples)",
          MarkdownText.plain(finding.nextStep),
        ])
      }
    }
    return Data((lines.joined(separator: "\n") + "\n").utf8)
  }
}
