import StatementAnalysis

extension SQLToken {
  /// Returns the tokens of a part of a log.
  static func all(in text: LogBytes) -> [SQLToken] {
    all(in: text.bytes)
  }

  /// The bytes of the token, including quotation marks.
  var text: LogBytes { LogBytes(bytes) }

  /// A Boolean value that indicates whether the token is a column with a table alias, such as
  /// `t0.ZNAME`.
  var isColumn: Bool {
    guard kind == .word, text.starts(with: "t"), let dot = text.range(of: ".") else { return false }
    return text.bytes[(text.bytes.startIndex + 1)..<dot.lowerBound].allSatisfy(\.isDigit)
  }

  /// A Boolean value that indicates whether the token is a table alias, such as `t0`.
  var isAlias: Bool {
    kind == .word && text.count > 1 && text.first == UInt8(ascii: "t")
      && text.bytes.dropFirst().allSatisfy(\.isDigit)
  }

  /// A Boolean value that indicates whether the token is a table or column name of Core Data, such
  /// as `ZITEM`, `Z_PK`, or `Z_1TAGS`.
  var isStoreName: Bool {
    kind == .word && text.first == UInt8(ascii: "Z") && text.count > 1
      && text.bytes.allSatisfy { $0.isUpper || $0.isDigit || $0 == UInt8(ascii: "_") || $0 >= 0x80 }
  }
}
