/// A word, a number, a quoted text or name, or a sign of SQL.
///
/// Tokens suffice to find the tables, the columns, and the condition of what Core Data writes; nothing here
/// parses SQL as a whole.
package struct SQLToken: Sendable {
  /// What a token is.
  package enum Kind: Sendable {
    /// A word or a number, with what dots join to it: `t0.ZNAME`.
    case word
    /// A text in single quotes or a name in double quotes.
    case quoted
    /// A quoted text or name whose end is missing.
    case open
    case sign
  }

  package let kind: Kind
  /// Quotes included.
  package let bytes: ArraySlice<UInt8>

  /// The tokens of SQL; comments aren't expected in captured SQL and read as signs and words.
  ///
  /// Cost: linear; the bytes are shared with the text.
  package static func all(in bytes: ArraySlice<UInt8>) -> [SQLToken] {
    var tokens: [SQLToken] = []
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let start = index
      let byte = bytes[index]
      index += 1
      if isBlank(byte) { continue }
      let kind: Kind
      if isWord(byte) {
        while index < bytes.endIndex, isWord(bytes[index]) || bytes[index] == UInt8(ascii: ".") {
          index += 1
        }
        kind = .word
      } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
        var isOpen = true
        while isOpen, index < bytes.endIndex {
          if bytes[index] == byte {
            // A doubled quote is one inside the text.
            if index + 1 < bytes.endIndex, bytes[index + 1] == byte {
              index += 1
            } else {
              isOpen = false
            }
          }
          index += 1
        }
        kind = isOpen ? .open : .quoted
      } else {
        while isComparison(byte), index < bytes.endIndex, isComparison(bytes[index]) { index += 1 }
        kind = .sign
      }
      tokens.append(SQLToken(kind: kind, bytes: bytes[start..<index]))
    }
    return tokens
  }

  /// The word in uppercase; empty for other tokens.
  package var keyword: String {
    kind == .word ? String(decoding: bytes, as: UTF8.self).uppercased() : ""
  }

  /// Whether it is this one sign.
  package func isSign(_ sign: Character) -> Bool {
    kind == .sign && bytes.count == 1 && bytes.first == sign.asciiValue
  }

  /// A space, a tab, a line end, or the NUL that some tools leave in a log.
  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == 0x0D || byte == 0x0A
      || byte == 0
  }

  /// A letter, a digit, `_`, or a byte of a letter beyond ASCII.
  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }

  /// A part of `<=`, `<>`, `!=`, `||`.
  private static func isComparison(_ byte: UInt8) -> Bool {
    "<>=!|".utf8.contains(byte)
  }
}
