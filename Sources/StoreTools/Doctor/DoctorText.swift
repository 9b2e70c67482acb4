import Foundation
import WorkbenchText

/// A doctor's report as a person reads it in a terminal.
package enum DoctorText {
  /// The lines, without ends of line.
  package static func lines(_ report: DoctorReport) -> [String] {
    let head =
      report.isSound
      ? "\(report.url.lastPathComponent)   nothing is wrong"
      : "\(report.url.lastPathComponent)   \(NumberText.counted(report.findings.count, "finding"))"
    let note =
      report.isGuessed
      ? [
        "  The store carries no model that can be read: what only a model tells is not looked at,",
        "  and names of properties are guesses.",
      ] : []
    return [head] + note + report.findings.flatMap(lines)
  }

  private static func lines(_ finding: DoctorFinding) -> [String] {
    ["", "✗ \(finding.rule.rawValue)   \(finding.message)"]
      + finding.examples.map { "    \($0)" }
      + ["  Next: \(finding.nextStep)"]
  }
}
