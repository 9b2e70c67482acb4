import Foundation

/// JSON as this program writes it: sorted keys, two blanks a level, a newline at its end.
enum JSONOutput {
  /// One key or element a line.
  ///
  /// - Throws: the encoder's error, for a number that JSON does not have.
  static func lines(_ value: some Encodable) throws -> Data {
    var data = try encoder([.prettyPrinted]).encode(value)
    data.append(UInt8(ascii: "\n"))
    return data
  }

  /// What holds no other object or list on one line, so that many small ones can be read.
  ///
  /// - Throws: as `lines`.
  static func flat(_ value: some Encodable) throws -> Data {
    Data(JSONLayout.bytes(of: [UInt8](try encoder([]).encode(value))))
  }

  private static func encoder(_ layout: JSONEncoder.OutputFormatting) -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = layout.union([.sortedKeys, .withoutEscapingSlashes])
    return encoder
  }
}
