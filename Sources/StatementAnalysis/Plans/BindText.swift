import OpenCoreData
package import SQLiteDriver

/// Parses bound values in the format of SQLDebug.
package enum BindText {
  /// Returns the value that a string describes: `18`, `1.5`, `"s"`, `(null)`, `<0aff>`.
  ///
  /// Anything else is returned as a string value.
  package static func value(_ text: String) -> SQLiteValue {
    if text == "(null)" { return .null }
    if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") {
      return .text(String(text.dropFirst().dropLast()))
    }
    if let number = Int64(text) { return .integer(number) }
    if let number = Double(text) { return .real(number) }
    if let bytes = bytes(text) { return .blob(bytes) }
    return .text(text)
  }

  private static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count >= 2, digits.count.isMultiple(of: 2), digits.first == UInt8(ascii: "<"),
      digits.last == UInt8(ascii: ">")
    else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 1, to: digits.count - 1, by: 2) {
      let pair = String(decoding: digits[place..<(place + 2)], as: UTF8.self)
      guard let byte = UInt8(pair, radix: 16) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}
