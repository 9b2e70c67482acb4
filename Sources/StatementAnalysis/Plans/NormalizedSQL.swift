/// The text that a statement shares with those that differ only in the length of their lists.
///
/// Core Data writes a placeholder for each element of a list, so that `IN (?,?)` and `IN (?,?,?)`
/// are two statements with the same purpose.
package enum NormalizedSQL {
  /// Returns the SQL with each list of placeholders and literals after `IN` as `(?)`, and with
  /// white space as one space.
  ///
  /// Quoted strings and names outside of lists keep their text. **Cost:** linear in the length of
  /// the statement.
  package static func text(_ sql: String) -> String { text(sql, withLiterals: true) }

  /// Returns the normalized SQL with each literal as `?`, such as the numbers after `LIMIT` and
  /// `OFFSET`.
  ///
  /// It's the same for statements that differ only in values. **Cost:** linear in the length of the
  /// statement.
  package static func pattern(_ sql: String) -> String { text(sql, withLiterals: false) }

  private static func text(_ sql: String, withLiterals: Bool) -> String {
    let bytes = ArraySlice(sql.utf8)
    let tokens = SQLToken.all(in: bytes)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var end = bytes.startIndex
    var index = 0
    while index < tokens.count {
      let token = tokens[index]
      if token.bytes.startIndex > end, !result.isEmpty { result.append(UInt8(ascii: " ")) }
      if withLiterals || !isLiteral(token) {
        result += token.bytes
      } else {
        result.append(UInt8(ascii: "?"))
      }
      end = token.bytes.endIndex
      index += 1
      if token.keyword == "IN", let last = endOfList(tokens, from: index) {
        result += " (?)".utf8
        end = tokens[last].bytes.endIndex
        index = last + 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Returns the index of the closing parenthesis of a list without names, or `nil` if none begins
  /// at an index.
  private static func endOfList(_ tokens: [SQLToken], from start: Int) -> Int? {
    guard start < tokens.count, tokens[start].isSign("(") else { return nil }
    let end = tokens[(start + 1)...].firstIndex { !isInList($0) }
    return end.flatMap { $0 > start + 1 && tokens[$0].isSign(")") ? $0 : nil }
  }

  private static func isInList(_ token: SQLToken) -> Bool {
    switch token.kind {
    case .word: token.keyword == "NULL" || isLiteral(token)
    case .quoted: isLiteral(token)
    case .open: false
    case .sign: ["?", ",", "-", "+"].contains { token.isSign($0) }
    }
  }

  /// Returns whether a token is a number or a string.
  private static func isLiteral(_ token: SQLToken) -> Bool {
    switch token.kind {
    case .word: token.bytes.first.map { (0x30...0x39).contains($0) } == true
    case .quoted: token.bytes.first == UInt8(ascii: "'")
    case .open, .sign: false
    }
  }
}
