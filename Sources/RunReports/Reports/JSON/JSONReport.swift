package import Foundation
package import Profiling
import WorkbenchText

/// The result of a run for machines: everything that a report is made of.
///
/// Keys are sorted and times are the only numbers that differ between two runs, so two files can be
/// compared line by line. An object or list that holds no other stands on one line.
package enum JSONReport {
  /// The whole result as UTF-8 text that ends with a newline.
  ///
  /// - Throws: `EncodingError`, which no value of a result can cause.
  package static func data(_ result: RunResult) throws -> Data {
    try JSONOutput.flat(JSONDocument(result))
  }
}
