package import Foundation
import OpenCoreData
import WorkbenchText

/// The text and JSON formats of findings about a model.
package enum ModelFindingText {
  /// Returns one line for each finding, and the number of findings.
  ///
  /// - Parameter comparing: Whether the rules for the change from an earlier version were applied.
  package static func lines(
    _ findings: [ModelFinding], in found: FoundModel, comparing: Bool = false
  ) -> [String] {
    let entities = NumberText.counted(found.model.entities.count, "entity", "entities")
    guard !findings.isEmpty else {
      return [
        "No findings: \(entities), \(ModelRules.ruleNames(comparing: comparing).count) rules."
      ]
    }
    return findings.map { "\($0.error) [\($0.rule)]" }
      + ["", "\(NumberText.counted(findings.count, "finding")) in \(entities)."]
  }

  /// Returns one JSON object:
  /// `{"guessed", "findings": [{"rule", "entity", "property", "message", "nextStep", …}]}`.
  package static func json(_ findings: [ModelFinding], in found: FoundModel) throws -> Data {
    try JSONOutput.lines(
      Document(guessed: found.origin == .tables, findings: findings.map(Finding.init)))
  }

  private struct Document: Encodable {
    /// Whether the model was inferred from a store's tables.
    let guessed: Bool
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
