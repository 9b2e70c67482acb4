package import Foundation
package import OpenCoreData
import WorkbenchText

/// One thing in a model that is wrong or costs more than it has to.
package struct ModelFinding: Sendable, Hashable {
  /// The name of the rule, such as `missing-inverse`.
  package var rule: String
  /// What was found and what to do, with the entity, the property and the place in the file.
  package var error: ModelError

  /// Makes a finding.
  ///
  /// - Parameters:
  ///   - rule: The name of the rule.
  ///   - message: What was found, as one sentence.
  ///   - nextStep: What to do, as one sentence.
  ///   - entity: The entity it is about.
  ///   - property: The property it is about.
  init(
    _ rule: String, _ message: String, _ nextStep: String, entity: NSEntityDescription?,
    property: String? = nil
  ) {
    self.rule = rule
    error = ModelError(message, nextStep: nextStep, entity: entity?.name, property: property)
  }

  /// A finding of what a reader or the model's own check reported.
  init(_ rule: String, _ error: ModelError) {
    self.rule = rule
    self.error = error
  }
}

/// One thing that `cdprof model --check` looks for.
protocol ModelRule {
  /// The name of the rule, in small letters with hyphens.
  static var name: String { get }

  /// Makes the rule.
  init()

  /// What the rule finds, in the order of the entities' names.
  func findings(in checked: CheckedModel) throws -> [ModelFinding]
}

extension ModelRule {
  /// A finding of this rule.
  func finding(
    _ message: String, _ nextStep: String, _ entity: NSEntityDescription?,
    _ property: String? = nil
  ) -> ModelFinding {
    ModelFinding(Self.name, message, nextStep, entity: entity, property: property)
  }
}

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
