import ScenarioLanguage

/// A rule that needs the events of one step alone, so that it can speak as soon as the step is over.
protocol StepRule {
  /// What it finds.
  static var rule: RuleName { get }

  /// The findings of one step, in the order in which they began.
  ///
  /// - Parameters:
  ///   - recording: The events of the step (`Recording.slice(of:)`).
  ///   - context: What the step read, which the events alone do not tell.
  static func findings(in recording: Recording, context: StepContext) -> [Finding]
}
