package import Foundation
package import RunResults
import WorkbenchText

/// The complete result of a run as JSON.
///
/// Keys are sorted, and only times differ between two runs, so two files can be compared line by
/// line. An object or array without nested ones is written on one line.
package enum JSONReport {
  /// Returns a result as UTF-8 that ends with a line feed.
  ///
  /// - Throws: An `EncodingError`, which no result can cause.
  package static func data(_ result: RunResult) throws -> Data {
    try JSONOutput.flat(JSONDocument(result))
  }
}
