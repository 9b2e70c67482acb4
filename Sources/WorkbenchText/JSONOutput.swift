package import Foundation
import OpenCoreData

/// JSON as this program writes it: sorted keys, two spaces a level, a newline at its end.
///
/// Characters that would act on a terminal are escaped inside strings (`PrintableText`), so JSON can be
/// printed as it is, and a parser still reads the exact value.
package enum JSONOutput {
  /// One key or element a line.
  ///
  /// - Throws: the encoder's error, for a number that JSON does not have.
  package static func lines(_ value: some Encodable) throws -> Data {
    let json = [UInt8](try encoder([.prettyPrinted]).encode(value))
    return Data(PrintableText.escaped(json: json) + [UInt8(ascii: "\n")])
  }

  /// What holds no other object or list on one line, so that many small ones can be read.
  ///
  /// - Throws: as `lines`.
  package static func flat(_ value: some Encodable) throws -> Data {
    let json = [UInt8](try encoder([]).encode(value))
    return Data(JSONLayout.bytes(of: PrintableText.escaped(json: json)))
  }

  private static func encoder(_ layout: JSONEncoder.OutputFormatting) -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = layout.union([.sortedKeys, .withoutEscapingSlashes])
    return encoder
  }
}
