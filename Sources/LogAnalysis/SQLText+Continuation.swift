extension SQLText {
  /// Words that begin a clause, and so a line of a wrapped statement.
  static let clauses: Set<String> = [
    "FROM", "WHERE", "ORDER", "GROUP", "HAVING", "LIMIT", "OFFSET", "VALUES", "JOIN", "LEFT",
    "INNER", "OUTER", "CROSS", "ON", "AND", "OR", "SET", "UNION", "EXCEPT", "INTERSECT", "COLLATE",
    "IN", "NOT", "IS", "LIKE", "BETWEEN", "ESCAPE", "SELECT", "ASC", "DESC", "AS", "THEN", "ELSE",
    "END", "CASE", "WHEN", "DO", "CONFLICT", "RETURNING", "DISTINCT", "BY", "INTO", "NULL",
  ]

  /// Whether a line without a class goes on with this statement.
  ///
  /// An app's prints stand between the lines of a log. A statement that lacks something takes what
  /// looks like SQL; a whole one only a further clause.
  func accepts(_ line: LogBytes) -> Bool {
    let tokens = SQLToken.all(in: line)
    guard let first = tokens.first else { return false }
    let startsClause =
      first.kind == .word && first.text.bytes.allSatisfy(\.isUpper)
      && SQLText.clauses.contains(first.keyword)
    let hasOperand = tokens.contains { token in
      token.isColumn || token.isStoreName || token.isSign("?") || token.keyword == "NULL"
        || token.text.starts(with: "_Z_") || token.text.starts(with: "__var")
    }
    guard !isComplete else {
      return startsClause && (hasOperand || SQLText.isCounted(tokens)) || isBroken(by: line)
    }
    if startsClause { return tokens.count == 1 || hasOperand || SQLText.isCounted(tokens) }
    return hasOperand || SQLText.isPunctuation(tokens)
  }

  /// `LIMIT 100`, `DESC`, `ORDER BY`: few words, none of an app's.
  private static func isCounted(_ tokens: [SQLToken]) -> Bool {
    tokens.allSatisfy { token in
      token.kind == .sign || clauses.contains(token.keyword)
        || token.text.bytes.allSatisfy(\.isDigit)
    }
  }

  /// `, ?, ?)`: nothing but signs and numbers, with a comma or a parenthesis among them.
  private static func isPunctuation(_ tokens: [SQLToken]) -> Bool {
    tokens.allSatisfy { $0.kind == .sign || $0.text.bytes.allSatisfy(\.isDigit) }
      && tokens.contains { $0.isSign(",") || $0.isSign(")") || $0.isSign("(") }
  }

  /// The statement with a line added.
  ///
  /// Where a name was broken in two its halves are put together again.
  func adding(_ line: LogBytes) -> LogBytes {
    let added = line.withoutIndent
    var joined = Array(text.bytes)
    let isInName =
      joined.last == UInt8(ascii: ".")
      || joined.last?.isWord == true && SQLText.isTail(added) && (!isComplete || isBroken(by: line))
    if line.first?.isBlank == true || added.first?.isWord != true || !isInName {
      joined.append(UInt8(ascii: " "))
    }
    joined += added.bytes
    return LogBytes(joined[...])
  }

  /// Whether a line that is surely SQL begins with the rest of the name that a whole statement ends with:
  /// `… FROM ZM`, `OOD t0 ORDER BY t0.ZDATE`, as a terminal breaks at its last column.
  private func isBroken(by line: LogBytes) -> Bool {
    line.first?.isBlank != true && text.last?.isWord == true && SQLText.isTail(line)
      && SQLText.isFragment(line)
  }

  /// Whether a line begins with the rest of a name: a word that is neither a clause nor a column.
  static func isTail(_ line: LogBytes) -> Bool {
    guard let first = SQLToken.all(in: line).first, first.kind == .word else { return false }
    return !clauses.contains(first.keyword) && !first.isColumn && !first.isStoreName
      && !first.isAlias
  }

  /// Whether a line that follows no statement is a piece of one: the beginning was cut off.
  static func isFragment(_ line: LogBytes) -> Bool {
    let tokens = SQLToken.all(in: line)
    let columns = tokens.count { $0.isColumn && $0.text.contains(".Z") }
    return columns >= 2 || columns == 1 && tokens.contains { clauses.contains($0.text.string) }
  }
}
