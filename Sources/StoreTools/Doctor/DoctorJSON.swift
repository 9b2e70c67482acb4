package import Foundation
import WorkbenchText

/// A doctor's report as JSON: one object with sorted keys.
package enum DoctorJSON {
  /// The text, with an end of line.
  package static func data(_ report: DoctorReport) throws -> Data {
    try JSONOutput.lines(Document(report))
  }

  private struct Document: Encodable {
    let store: String
    let sound: Bool
    let guessed: Bool
    let rules: [String]
    let findings: [Finding]

    init(_ report: DoctorReport) {
      store = report.url.path
      sound = report.isSound
      guessed = report.isGuessed
      rules = DoctorRuleName.allCases.map(\.rawValue)
      findings = report.findings.map(Finding.init)
    }
  }

  private struct Finding: Encodable {
    let rule: String
    let entity: String?
    let property: String?
    let table: String?
    let count: Int
    let examples: [String]
    let message: String
    let next: String

    init(_ finding: DoctorFinding) {
      rule = finding.rule.rawValue
      entity = finding.entity
      property = finding.property
      table = finding.table
      count = finding.count
      examples = finding.examples
      message = finding.message
      next = finding.nextStep
    }
  }
}
