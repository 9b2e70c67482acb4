package import ScenarioLanguage

/// What came of one step.
package struct StepOutcome: Sendable {
  package var step: Step
  /// `moods: 5,000 Mood, all faults`.
  package var summary: String
  package var costs: Costs
  package var findings: [Finding]
  /// Which events of the session's recording are the step's.
  package var recorded: RecordedStep
  /// `registered` and `peak` right after it; read only when it has expectations of its own.
  package var gauges: [ScopedMetric: Int] = [:]
  /// The code it failed with, when it was to fail; nil when it went well.
  package var failureCode: Int?

  /// Whether it failed exactly if it was to fail, and with that code.
  package var holds: Bool { failureCode == step.fails }
}
