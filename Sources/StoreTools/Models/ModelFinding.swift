package import Foundation
package import OpenCoreData
import WorkbenchText

/// A problem of a model: an error, or something that costs more than it needs to.
package struct ModelFinding: Sendable, Hashable {
  /// The name of the rule, such as `missing-inverse`.
  package var rule: String
  /// The problem and the next step, with the entity, the property, and the location in the file.
  package var error: ModelError

  /// Creates a finding.
  ///
  /// - Parameters:
  ///   - rule: The name of the rule.
  ///   - message: The description of the problem, as one sentence.
  ///   - nextStep: The next step for the user, as one sentence.
  ///   - entity: The affected entity.
  ///   - property: The affected property.
  init(
    _ rule: String, _ message: String, _ nextStep: String, entity: NSEntityDescription?,
    property: String? = nil
  ) {
    self.rule = rule
    error = ModelError(message, nextStep: nextStep, entity: entity?.name, property: property)
  }

  /// Creates a finding for a problem that the model's reader or its validation reported.
  init(_ rule: String, _ error: ModelError) {
    self.rule = rule
    self.error = error
  }
}

/// A rule of `cdprof model --check`.
protocol ModelRule {
  /// The name of the rule, in lowercase with hyphens.
  static var name: String { get }

  init()

  /// Returns the findings of the rule, sorted by the names of the entities.
  func findings(in checked: CheckedModel) throws -> [ModelFinding]
}

extension ModelRule {
  /// Returns a finding of this rule.
  func finding(
    _ message: String, _ nextStep: String, _ entity: NSEntityDescription?,
    _ property: String? = nil
  ) -> ModelFinding {
    ModelFinding(Self.name, message, nextStep, entity: entity, property: property)
  }
}

/// The text and JSON formats of findings about a model.
package enum ModelFindingText {
  /// Returns one line for each finding, and the number of findings.
  package static func lines(_ findings: [ModelFinding], in found: FoundModel) -> [String] {
    let entities = NumberText.counted(found.model.entities.count, "entity", "entities")
    guard !findings.isEmpty else {
      return ["No findings: \(entities), \(ModelRules.ruleNames.count) rules."]
    }
    return findings.map { "\($0.error) [\($0.rule)]" }
      + ["", "\(NumberText.counted(findings.count, "finding")) in \(entities)."]
  }

  /// Returns one JSON object:
  /// `{"findings": [{"rule", "entity", "property", "message", "nextStep", …}]}`.
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
