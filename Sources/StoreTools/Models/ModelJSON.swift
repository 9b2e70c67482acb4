package import Foundation
import OpenCoreData
import WorkbenchText

/// A model as JSON: one object with sorted keys.
package enum ModelJSON {
  /// The text, with an end of line.
  package static func data(_ found: FoundModel) throws -> Data {
    try JSONOutput.lines(ModelDocumentJSON(found))
  }
}
