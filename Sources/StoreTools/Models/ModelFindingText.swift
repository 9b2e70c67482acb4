package import Foundation
import OpenCoreData
import WorkbenchText

/// Findings about a model, as text and as JSON.
package enum ModelFindingText {
  /// One line for each finding, and how many there are.
  package static func lines(_ findings: [ModelFinding], in found: FoundModel) -> [String] {
    let entities = NumberText.counted(found.model.entities.count, "entity", "entities")
    guard !findings.isEmpty else {
      return ["Nothing found: \(entities), \(ModelRules.ruleNames.count) rules."]
    }
    return findings.map { "\($0.error) [\($0.rule)]" }
      + ["", "\(NumberText.counted(findings.count, "finding")) in \(entities)."]
  }

  /// One object: `{"findings": [{"rule", "entity", "property", "message", "nextStep", …}]}`.
  package static func json(_ findings: [ModelFinding]) throws -> Data {
    try JSONOutput.lines(Document(findings: findings.map(Finding.init)))
  }

  private struct Document: Encodable {
    let findings: [Finding]
  }

  private struct Finding: Encodable {
    let rule: String
    let entity: String?
    let property: String?
    let message: String
    let nextStep: String?
    let file: String?
    let line: Int?
    let column: Int?

    init(_ finding: ModelFinding) {
      rule = finding.rule
      entity = finding.error.entity
      property = finding.error.property
      message = finding.error.message
      nextStep = finding.error.nextStep
      file = finding.error.file
      line = finding.error.line
      column = finding.error.column
    }
  }
}
