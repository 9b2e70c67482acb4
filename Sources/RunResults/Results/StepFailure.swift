package import Foundation
package import ProfileEvents
import WorkbenchText

/// An error that indicates that a step failed.
package struct StepFailure: Error, CustomStringConvertible {
  /// The step as one line.
  package let step: String
  package let location: CallSite
  /// The error that the framework threw.
  package let error: NSError

  /// Creates the error of a step.
  package init(step: String, location: CallSite, error: NSError) {
    self.step = step
    self.location = location
    self.error = error
  }

  /// A message with the location, the step, the error's description, and its domain and code.
  package var description: String {
    "\(location): `\(step)` failed: \(ErrorText.of(error)) (\(error.domain) \(error.code))"
  }
}
