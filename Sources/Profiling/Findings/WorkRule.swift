import ScenarioLanguage

/// A rule that needs all steps of a piece of work: what was done first, and what came of it later.
protocol WorkRule {
  /// What it finds.
  static var rule: RuleName { get }

  /// The findings of the work, in the order in which they began.
  static func findings(in work: FinishedWork) -> [Finding]
}
