import ProfileEvents
package import RunResults
package import ScenarioLanguage
import WorkbenchText

/// The outcome of one step.
package struct StepOutcome: Sendable {
  package var step: Step
  /// A summary of the result: `moods: 5,000 Mood, all faults`.
  package var summary: String
  package var costs: TimedCosts
  package var findings: [Finding]
  /// The recorded step, which determines its range of events.
  package var recorded: RecordedStep
  /// The gauges right after the step, which are read only if the step has its own expectations.
  package var gauges: [ScopedMetric: Int] = [:]
  /// The error code of a step with `fails`, or `nil` if it didn't fail.
  package var failureCode: Int?

  /// Whether the step failed with the code in `fails`, or succeeded if it has no `fails`.
  package var endedAsExpected: Bool { failureCode == step.fails }
}
