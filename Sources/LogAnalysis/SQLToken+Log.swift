import StatementAnalysis

extension SQLToken {
  /// The tokens of a part of a log.
  static func all(in text: LogBytes) -> [SQLToken] {
    all(in: text.bytes)
  }

  /// Its bytes, quotes included.
  var text: LogBytes { LogBytes(bytes) }

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
