package import OpenCoreData

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
