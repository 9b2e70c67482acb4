/// Makes untrusted text, such as a store's values, safe to print.
///
/// A terminal interprets control characters and escape sequences, and bidirectional marks change
/// the order in which text is displayed. Both are replaced by Swift's escapes, such as `\u{1B}`, so
/// that the output shows the actual characters. Only this type decides which characters are unsafe.
package enum PrintableText {
  /// Returns a string with every unsafe character escaped; line feeds and tabs aren't escaped.
  ///
  /// **Cost:** one pass over the bytes, and no allocation for a string without such a character.
  package static func escaped(_ text: String) -> String {
    isPlain(text.utf8) ? text : escaped(text.unicodeScalars)
  }

  /// Returns a string as one line: line feeds are escaped as well, so that a value can't look like
  /// a separate line.
  package static func line(_ text: String) -> String {
    let escaped = escaped(text)
    return escaped.utf8.contains(0x0A) ? escaped.replacing("\n", with: "\\n") : escaped
  }

  /// Returns UTF-8 bytes with every unsafe character escaped, and with U+FFFD for bytes that aren't
  /// UTF-8.
  package static func escaped(_ bytes: [UInt8]) -> [UInt8] {
    isPlain(bytes)
      ? bytes : Array(escaped(String(decoding: bytes, as: UTF8.self).unicodeScalars).utf8)
  }

  /// Returns JSON in which every unsafe character inside a string is written as `\uXXXX`.
  ///
  /// The value that a parser reads stays the same.
  /// - Parameter json: Valid JSON, so that such characters occur only inside strings.
  package static func escaped(json: [UInt8]) -> [UInt8] {
    guard !isPlain(json) else { return json }
    var result = String.UnicodeScalarView()
    for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
      // The whitespace of JSON can contain carriage returns; its strings can't.
      guard isUnsafe(scalar), scalar != "\r" else {
        result.append(scalar)
        continue
      }
      result.append(contentsOf: jsonEscape(of: scalar).unicodeScalars)
    }
    return Array(String(result).utf8)
  }

  /// Returns `\u001b`, or a surrogate pair for a character beyond U+FFFF.
  package static func jsonEscape(of scalar: Unicode.Scalar) -> String {
    scalar.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }

  /// Returns whether a character affects a terminal or the display of other characters: controls
  /// except line feed and tab, bidirectional marks, line and paragraph separators, interlinear
  /// annotations, and language tags.
  package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A: false
    case 0x00...0x1F, 0x7F...0x9F: true
    case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x206F: true
    case 0xFFF9...0xFFFB, 0xE0001: true
    default: false
    }
  }

  /// Returns whether the bytes are only printable ASCII, line feeds, and tabs.
  private static func isPlain(_ bytes: some Sequence<UInt8>) -> Bool {
    bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F || $0 == 0x0A || $0 == 0x09 }
  }

  private static func escaped(_ scalars: String.UnicodeScalarView) -> String {
    var result = String.UnicodeScalarView()
    for scalar in scalars {
      guard isUnsafe(scalar) else {
        result.append(scalar)
        continue
      }
      let escape =
        scalar == "\r" ? "\\r" : "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      result.append(contentsOf: escape.unicodeScalars)
    }
    return String(result)
  }
}
