package import Foundation
import WorkbenchText

/// Rows that could not be read, in words.
package enum DamagedRowsText {
  private static let most = 20

  /// The errors behind each other, and how many more there are.
  package static func list(_ errors: [NSError]) -> String {
    let shown = errors.prefix(most).map { ErrorText.of($0) }.joined(separator: "\n  ")
    return errors.count <= most ? shown : "\(shown)\n  … and \(errors.count - most) more"
  }
}
