package import Foundation

/// The result of a run for machines: counts, expectations, findings, statements.
///
/// Keys are sorted and times are the only numbers that differ between two runs, so two files can be
/// compared line by line.
package enum JSONReport {
  /// The whole result as UTF-8 text that ends with a newline.
  ///
  /// - Throws: `EncodingError`, which no value of a result can cause.
  package static func data(_ result: RunResult) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    var data = try encoder.encode(JSONDocument(result))
    data.append(UInt8(ascii: "\n"))
    return data
  }
}
