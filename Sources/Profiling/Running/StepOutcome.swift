package import Foundation
package import ProfileEvents
package import ScenarioLanguage
import WorkbenchText

/// The outcome of one step.
package struct StepOutcome: Sendable {
  package var step: Step
  /// A summary of the result: `moods: 5,000 Mood, all faults`.
  package var summary: String
  package var costs: Costs
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

/// An error that indicates that a step failed.
package struct StepFailure: Error, CustomStringConvertible {
  /// The step as one line.
  package let step: String
  package let location: CallSite
  /// The error that the framework threw.
  package let error: NSError

  /// A message with the location, the step, the error's description, and its domain and code.
  package var description: String {
    "\(location): `\(step)` failed: \(ErrorText.of(error)) (\(error.domain) \(error.code))"
  }
}
