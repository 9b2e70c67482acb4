import OpenCoreData

/// Finds parts of a model that are not used, or otherwise than they say: the warnings of its reader
/// and of its own check.
struct DoubtfulPartRule: ModelRule {
  static let name = "doubtful-part"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    checked.problems
      .filter { $0.isWarning && !DanglingDestinationRule.isAbout($0, in: checked.model) }
      .map { ModelFinding(Self.name, $0) }
  }
}
