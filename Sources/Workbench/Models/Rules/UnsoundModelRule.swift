import OpenCoreData

/// Finds what keeps a model from being used: what its reader and its own check report.
struct UnsoundModelRule: ModelRule {
  static let name = "unsound-model"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    checked.problems.filter { !DanglingDestinationRule.isAbout($0, in: checked.model) }
      .map { ModelFinding(Self.name, $0) }
  }
}
