package import Foundation
package import ProfileEvents
import WorkbenchText

/// A step that could not be run to its end.
package struct StepFailure: Error, CustomStringConvertible {
  /// The step as one line.
  package let step: String
  package let location: CallSite
  /// What the framework threw.
  package let error: NSError

  /// Place, step, and the error in words with its code.
  package var description: String {
    "\(location): `\(step)` failed: \(ErrorText.of(error)) (\(error.domain) \(error.code))"
  }
}
