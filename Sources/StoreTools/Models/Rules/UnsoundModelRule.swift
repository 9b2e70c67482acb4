import OpenCoreData

/// Finds what keeps a model from being used: the errors of its reader and of its own check.
struct UnsoundModelRule: ModelRule {
  static let name = "unsound-model"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    checked.problems.filter { !$0.isWarning }.map { ModelFinding(Self.name, $0) }
  }
}
