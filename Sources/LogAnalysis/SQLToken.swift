/// A word, a number, a quoted text or a sign of SQL.
struct SQLToken {
  enum Kind {
    case word
    case quoted
    /// A quoted text, or a bracket around a name, whose end is missing.
    case open
    case sign
  }

  let kind: Kind
  let text: LogBytes

  /// The tokens of a text; comments are not expected in captured SQL and read as signs and words.
  static func all(in text: LogBytes) -> [SQLToken] {
    var tokens: [SQLToken] = []
    let bytes = text.bytes
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let start = index
      let byte = bytes[index]
      index += 1
      if byte.isBlank || byte == 0x0A { continue }
      if byte.isWord {
        // `t0.ZNAME` is one word.
        while index < bytes.endIndex, bytes[index].isWord || bytes[index] == UInt8(ascii: ".") {
          index += 1
        }
        tokens.append(SQLToken(kind: .word, text: LogBytes(bytes[start..<index])))
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
        tokens.append(
          SQLToken(kind: isOpen ? .open : .quoted, text: LogBytes(bytes[start..<index])))
      } else {
        while byte != UInt8(ascii: "("), byte != UInt8(ascii: ")"), index < bytes.endIndex,
          "<>=!|".utf8.contains(bytes[index]), "<>=!|".utf8.contains(byte)
        {
          index += 1
        }
        tokens.append(SQLToken(kind: .sign, text: LogBytes(bytes[start..<index])))
      }
    }
    return tokens
  }

  /// The word in upper case; empty for other tokens.
  var keyword: String {
    kind == .word ? text.string.uppercased() : ""
  }

  /// Whether it is this one sign.
  func isSign(_ sign: Character) -> Bool {
    kind == .sign && text.count == 1 && text.first == sign.asciiValue
  }

  /// `t0.ZNAME`: a column with the alias of its table.
  var isColumn: Bool {
    guard kind == .word, text.starts(with: "t"), let dot = text.range(of: ".") else { return false }
    return text.bytes[(text.bytes.startIndex + 1)..<dot.lowerBound].allSatisfy(\.isDigit)
  }

  /// `t0`: what a statement calls a table.
  var isAlias: Bool {
    kind == .word && text.count > 1 && text.first == UInt8(ascii: "t")
      && text.bytes.dropFirst().allSatisfy(\.isDigit)
  }

  /// A name as Core Data gives tables and columns: `ZITEM`, `Z_PK`, `Z_1TAGS`.
  var isStoreName: Bool {
    kind == .word && text.first == UInt8(ascii: "Z") && text.count > 1
      && text.bytes.allSatisfy { $0.isUpper || $0.isDigit || $0 == UInt8(ascii: "_") || $0 >= 0x80 }
  }
}
