package import Foundation
import OpenCoreData

/// A model as JSON: one object with sorted keys.
package enum ModelJSON {
  /// The text, with an end of line.
  package static func data(_ found: FoundModel) throws -> Data {
    try data(ModelDocumentJSON(found))
  }

  /// Any value as JSON for other programs: sorted keys, an end of line.
  static func data(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    var data = try encoder.encode(value)
    data.append(UInt8(ascii: "\n"))
    return data
  }
}
