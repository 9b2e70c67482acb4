/// Names and strings as SQL text, where no parameter can stand for them.
package enum SQLSyntax {
  /// Returns a name: in quotation marks if it isn't a plain identifier.
  package static func quoted(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF) || byte >= 0x80
    }
    return isPlain ? name : enclosed(name, in: UInt8(ascii: "\""))
  }

  /// Returns a string literal.
  package static func literal(_ text: String) -> String {
    enclosed(text, in: UInt8(ascii: "'"))
  }

  /// Encloses a text in marks, and doubles the marks inside.
  ///
  /// Bytes are compared, not characters: a combining mark makes a quotation mark another character,
  /// but doesn't change what it means to SQLite.
  private static func enclosed(_ text: String, in mark: UInt8) -> String {
    var bytes = [mark]
    for byte in text.utf8 {
      if byte == mark { bytes.append(mark) }
      bytes.append(byte)
    }
    bytes.append(mark)
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension SQLiteValue {
  /// The value as an SQL literal.
  package var literal: String {
    switch self {
    case .null: "NULL"
    case .integer(let value): value == .min ? "(-9223372036854775807 - 1)" : "\(value)"
    case .real(let value):
      value.isNaN ? "NULL" : value.isInfinite ? (value < 0 ? "-9e999" : "9e999") : "\(value)"
    case .text(let text):
      // A literal ends at a NUL.
      text.utf8.contains(0)
        ? "CAST(\(SQLiteValue.blob(Array(text.utf8)).literal) AS TEXT)" : SQLSyntax.literal(text)
    case .blob(let bytes): "x'\(SQLiteValue.hexadecimal(bytes))'"
    }
  }
}
