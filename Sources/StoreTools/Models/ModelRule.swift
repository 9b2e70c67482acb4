import OpenCoreData

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
