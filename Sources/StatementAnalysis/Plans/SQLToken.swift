/// A token of SQL: a word, a number, a quoted string or name, or a symbol.
///
/// Tokens are sufficient to find the tables, columns, and condition of the statements that Core
/// Data generates. There's no complete SQL parser.
package struct SQLToken: Sendable {
  /// The kind of a token.
  package enum Kind: Sendable {
    /// A word or a number, including parts joined by dots: `t0.ZNAME`.
    case word
    /// A string in single quotes or a name in double quotes.
    case quoted
    /// A quoted string or name without a closing quote.
    case open
    case sign
  }

  package let kind: Kind
  /// The token's bytes, including quotes.
  package let bytes: ArraySlice<UInt8>

  /// Returns the tokens of a statement.
  ///
  /// Comments, which captured SQL doesn't contain, become symbols and words. Cost: linear in the
  /// length of the statement; the tokens share its bytes.
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
            // A doubled quote is an escaped quote.
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

  /// The word in uppercase; empty for tokens of other kinds.
  package var keyword: String {
    kind == .word ? String(decoding: bytes, as: UTF8.self).uppercased() : ""
  }

  /// Returns whether the token is a given one-character symbol.
  package func isSign(_ sign: Character) -> Bool {
    kind == .sign && bytes.count == 1 && bytes.first == sign.asciiValue
  }

  /// Returns whether a byte is a space, a tab, a line ending, or the NUL that some tools leave in a
  /// log.
  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == 0x0D || byte == 0x0A
      || byte == 0
  }

  /// Returns whether a byte is a letter, a digit, `_`, or part of a non-ASCII character.
  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }

  /// Returns whether a byte can be part of `<=`, `<>`, `!=`, or `||`.
  private static func isComparison(_ byte: UInt8) -> Bool {
    "<>=!|".utf8.contains(byte)
  }
}
