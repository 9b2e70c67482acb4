import OpenCoreData
package import Profiling

/// The result of a run as plain text: what a terminal shows, then findings and how to repeat it.
package enum TextReport {
  /// The whole text, with an end of line at its end.
  package static func text(_ result: RunResult) -> String {
    let findings = ReportFinding.all(of: result).flatMap(lines)
    let lines =
      RunText.lines(result) + (findings.isEmpty ? [] : [""] + findings)
      + ["", "\(result.command)   cdprof \(result.environment.cdprof)"]
    return lines.map { PrintableText.line($0) + "\n" }.joined()
  }

  private static func lines(_ finding: ReportFinding) -> [String] {
    let place = finding.location.map { " from \($0)" } ?? ""
    var lines = ["▲ \(finding.name): \(finding.count) \(finding.what)\(place)"]
    if let now = finding.now { lines.append("    now   \(now)") }
    let cure = (finding.cure + [finding.advice]).filter { !$0.isEmpty }
    lines.append("    cure  \(cure.joined(separator: "; "))   \(finding.tried)")
    return lines + ["    in    \(finding.variants)"]
  }
}
