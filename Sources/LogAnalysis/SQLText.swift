import ProfileEvents
import ScenarioLanguage
import StatementAnalysis

/// A statement in a log, which can be complete, wrapped, or truncated.
package struct SQLText {
  let text: LogBytes

  /// Creates a statement from the text after `sql:`, without whitespace at its ends and without
  /// truncation marks.
  package init(_ text: LogBytes) {
    var text = text.trimmed
    var isMarked = false
    while true {
      if text.ends(with: "<…>") {
        text = LogBytes(text.bytes.dropLast(5)).trimmed
      } else if text.ends(with: "…") {
        text = LogBytes(text.bytes.dropLast(3)).trimmed
      } else if text.ends(with: "...") {
        text = LogBytes(text.bytes.dropLast(3)).trimmed
      } else {
        break
      }
      isMarked = true
    }
    self.text = text
    isMarkedTruncated = isMarked
  }

  /// Whether the log marks the statement as truncated with `<…>`, `…`, or `...`.
  let isMarkedTruncated: Bool

  /// The verb of a statement.
  enum Verb: String {
    case select = "SELECT"
    case insert = "INSERT"
    case replace = "REPLACE"
    case update = "UPDATE"
    case delete = "DELETE"
    case begin = "BEGIN"
    case commit = "COMMIT"
    case end = "END"
    case rollback = "ROLLBACK"
    case pragma = "PRAGMA"
    case create = "CREATE"
    case drop = "DROP"
    case alter = "ALTER"
    case with = "WITH"
    case analyze = "ANALYZE"
    case reindex = "REINDEX"
    case vacuum = "VACUUM"
    case savepoint = "SAVEPOINT"
    case release = "RELEASE"
    case attach = "ATTACH"
    case detach = "DETACH"
    case explain = "EXPLAIN"
    case values = "VALUES"
  }

  /// The verb, or `nil` if the text isn't SQL, such as `<private>`.
  var verb: Verb? {
    let word = text.bytes.prefix { $0.isUpper || $0.isLower }
    guard !word.isEmpty, word.count <= 9 else { return nil }
    return Verb(rawValue: LogBytes(word).string.uppercased())
  }

  /// The text with runs of whitespace replaced by one space, because the same statement can be
  /// wrapped in different ways.
  package var key: LogBytes {
    var kept: [UInt8] = []
    kept.reserveCapacity(text.count)
    var isWhitespace = false
    for byte in text.bytes {
      if byte.isWhitespace || byte == 0x0A {
        isWhitespace = true
      } else {
        if isWhitespace, !kept.isEmpty { kept.append(UInt8(ascii: " ")) }
        isWhitespace = false
        kept.append(byte)
      }
    }
    return LogBytes(kept[...])
  }

  /// Whether the statement isn't visibly truncated.
  ///
  /// Truncation between two terms leaves a complete statement and can't be detected.
  var isComplete: Bool {
    guard !isMarkedTruncated, let verb else { return !isMarkedTruncated }
    // The system log hides values this way. What follows is unknown.
    if text.ends(with: "<private>") { return true }
    let tokens = SQLToken.all(in: text)
    guard let last = tokens.last, last.kind != .open else { return false }
    var depth = 0
    for token in tokens {
      if token.isSign("(") { depth += 1 }
      if token.isSign(")") { depth -= 1 }
    }
    guard depth <= 0 else { return false }
    // `pragma journal_mode=DELETE` ends with a word that other statements can't end with.
    guard [.select, .insert, .replace, .update, .delete, .with].contains(verb) else { return true }
    guard !SQLText.isIncomplete(endingWith: last) else { return false }
    // Core Data compares each column, so one without an operator after WHERE or ON is truncated.
    if last.isColumn, let before = tokens.dropLast().last,
      ["WHERE", "ON", "AND", "OR", "NOT"].contains(before.keyword)
    {
      return false
    }
    if ["WHERE", "AND", "OR"].contains(last.keyword) { return false }
    return hasRequiredClause(verb, tokens)
  }

  /// The number of opening parentheses minus the number of closing ones, or `nil` if the text ends
  /// inside quotation marks.
  var openParentheses: Int? {
    let tokens = SQLToken.all(in: text)
    guard tokens.last?.kind != .open else { return nil }
    return tokens.count { $0.isSign("(") } - tokens.count { $0.isSign(")") }
  }

  /// Whether the text is incomplete as long as a parenthesis isn't closed.
  var needsClosingParentheses: Bool {
    isMarkedTruncated || verb != nil && !text.ends(with: "<private>")
  }

  /// Returns whether the clause that the verb requires is present.
  private func hasRequiredClause(_ verb: Verb, _ tokens: [SQLToken]) -> Bool {
    let words = tokens.lazy.map(\.keyword)
    switch verb {
    case .select: return words.contains("FROM") || !tokens.contains { $0.isColumn }
    case .insert, .replace:
      return words.contains { ["VALUES", "SELECT", "DEFAULT"].contains($0) }
    case .update: return words.contains("SET")
    case .delete: return words.contains("FROM")
    default: return true
    }
  }

  /// Returns whether SQL can't end with a token.
  static func isIncomplete(endingWith token: SQLToken) -> Bool {
    switch token.kind {
    case .sign:
      return !token.isSign(")") && !token.isSign("?") && !token.isSign(";")
        && !token.isSign("*") && !token.isSign("]")
    case .word: return openKeywords.contains(token.keyword)
    case .quoted, .open: return false
    }
  }

  private static let openKeywords: Set<String> = [
    "SELECT", "DISTINCT", "FROM", "WHERE", "AND", "OR", "NOT", "ON", "BY", "SET", "VALUES", "INTO",
    "IN", "IS", "LIKE", "AS", "JOIN", "HAVING", "LIMIT", "OFFSET", "COLLATE", "UNION", "GROUP",
    "ORDER", "LEFT", "OUTER", "INNER", "BETWEEN", "INSERT", "UPDATE", "DELETE", "ESCAPE", "EXISTS",
  ]
}

extension SQLText {
  /// The words that can begin a clause, and therefore a line of a wrapped statement.
  static let clauses: Set<String> = [
    "FROM", "WHERE", "ORDER", "GROUP", "HAVING", "LIMIT", "OFFSET", "VALUES", "JOIN", "LEFT",
    "INNER", "OUTER", "CROSS", "ON", "AND", "OR", "SET", "UNION", "EXCEPT", "INTERSECT", "COLLATE",
    "IN", "NOT", "IS", "LIKE", "BETWEEN", "ESCAPE", "SELECT", "ASC", "DESC", "AS", "THEN", "ELSE",
    "END", "CASE", "WHEN", "DO", "CONFLICT", "RETURNING", "DISTINCT", "BY", "INTO", "NULL",
  ]

  /// Returns whether a line without a class continues this statement.
  ///
  /// An app's own output can be between the lines of a log. An incomplete statement accepts lines
  /// that look like SQL; a complete one accepts only another clause.
  ///
  /// - Parameter isComplete: `isComplete`, which takes time in proportion to the text.
  func accepts(_ line: LogBytes, isComplete: @autoclosure () -> Bool) -> Bool {
    let tokens = SQLToken.all(in: line)
    guard let first = tokens.first else { return false }
    let startsClause =
      first.kind == .word && first.text.bytes.allSatisfy(\.isUpper)
      && SQLText.clauses.contains(first.keyword)
    let hasOperand = tokens.contains { token in
      token.isColumn || token.isStoreName || token.isSign("?") || token.keyword == "NULL"
        || token.text.starts(with: "_Z_") || token.text.starts(with: "__var")
    }
    guard !isComplete() else {
      return startsClause && (hasOperand || SQLText.isCounted(tokens)) || isBroken(by: line)
    }
    if startsClause { return tokens.count == 1 || hasOperand || SQLText.isCounted(tokens) }
    return hasOperand || SQLText.isPunctuation(tokens)
  }

  /// Returns whether tokens are only keywords, signs, and numbers: `LIMIT 100`, `DESC`, `ORDER BY`.
  private static func isCounted(_ tokens: [SQLToken]) -> Bool {
    tokens.allSatisfy { token in
      token.kind == .sign || clauses.contains(token.keyword)
        || token.text.bytes.allSatisfy(\.isDigit)
    }
  }

  /// Returns whether tokens are only signs and numbers, including a comma or a parenthesis:
  /// `, ?, ?)`.
  private static func isPunctuation(_ tokens: [SQLToken]) -> Bool {
    tokens.allSatisfy { $0.kind == .sign || $0.text.bytes.allSatisfy(\.isDigit) }
      && tokens.contains { $0.isSign(",") || $0.isSign(")") || $0.isSign("(") }
  }

  /// Returns the statement with a line added.
  ///
  /// If a name was split, its halves are rejoined.
  func adding(_ line: LogBytes) -> LogBytes {
    var joined = Array(text.bytes)
    if line.first?.isWhitespace == true || !isFollowedDirectly(by: line) {
      joined.append(UInt8(ascii: " "))
    }
    joined += line.withoutIndent.bytes
    return LogBytes(joined[...])
  }

  /// Returns whether no space is missing before a line: it begins with the rest of a name, or with
  /// a sign that Core Data writes directly after other text.
  private func isFollowedDirectly(by next: LogBytes) -> Bool {
    if next.first?.isWord == true {
      return text.last == UInt8(ascii: ".")
        || text.last?.isWord == true && endsInName(continuedBy: next)
          && (!isComplete || isBroken(by: next))
    }
    if next.first == UInt8(ascii: ")") {
      return text.last?.isWord == true || text.last == UInt8(ascii: "?")
    }
    guard next.first == UInt8(ascii: ",") else { return false }
    // A space follows the name of a collation.
    return !LogBytes(text.bytes.dropLast(lastWord.count)).trimmed.ends(with: "COLLATE")
  }

  /// The word that the text ends with, such as `t0.ZNAME`; empty if it ends with a sign.
  private var lastWord: LogBytes {
    let length = text.bytes.reversed().prefix { $0.isWord || $0 == UInt8(ascii: ".") }.count
    return LogBytes(text.bytes.suffix(length))
  }

  /// Returns whether a line begins with the rest of the name that the text ends with.
  private func endsInName(continuedBy next: LogBytes) -> Bool {
    if SQLText.isTail(next) { return !endsInKeyword(before: next) }
    // Another name can't follow a column.
    return SQLToken.all(in: next).first?.isStoreName == true
      && SQLToken.all(in: lastWord).first?.isColumn == true
  }

  /// Returns whether the text ends with a whole keyword: `SELECT` before `COUNT(*)`, but not the
  /// `OR` of `ORDER` before `DER BY`.
  private func endsInKeyword(before next: LogBytes) -> Bool {
    guard let word = SQLText.keyword(atEndOf: lastWord) else { return false }
    return !SQLText.isKeyword(word + (SQLToken.all(in: next).first?.keyword ?? ""))
  }

  /// Returns the keyword that text ends with, in uppercase, or `nil` if it ends otherwise.
  static func keyword(atEndOf text: LogBytes) -> String? {
    guard let word = SQLToken.all(in: text).last?.keyword, isKeyword(word) else { return nil }
    return word
  }

  private static func isKeyword(_ word: String) -> Bool {
    clauses.contains(word) || Verb(rawValue: word) != nil
  }

  /// Returns whether a line that is certainly SQL begins with the rest of the name that a complete
  /// statement ends with: `… FROM ZM`, `OOD t0 ORDER BY t0.ZDATE`.
  ///
  /// A terminal wraps lines this way at its last column.
  private func isBroken(by line: LogBytes) -> Bool {
    line.first?.isWhitespace != true && text.last?.isWord == true && SQLText.isTail(line)
      && SQLText.isFragment(line)
  }

  /// Returns whether a line begins with the rest of a name: a word that isn't a clause, a column,
  /// or an alias.
  static func isTail(_ line: LogBytes) -> Bool {
    guard let first = SQLToken.all(in: line).first, first.kind == .word else { return false }
    return !clauses.contains(first.keyword) && !first.isColumn && !first.isStoreName
      && !first.isAlias
  }

  /// Returns whether a line that doesn't follow a statement is part of one whose beginning is
  /// truncated.
  static func isFragment(_ line: LogBytes) -> Bool {
    let tokens = SQLToken.all(in: line)
    let columns = tokens.count { $0.isColumn && $0.text.contains(".Z") }
    return columns >= 2 || columns == 1 && tokens.contains { clauses.contains($0.text.string) }
  }
}

extension SQLText {
  /// The table that the statement reads or changes, or `nil` if it names none.
  ///
  /// In a join, this is the table with the alias `t0`, whose rows become objects.
  var table: String? {
    let tokens = SQLToken.all(in: text)
    func name(after position: Int) -> String? {
      guard position + 1 < tokens.count, tokens[position + 1].kind != .sign else { return nil }
      let text = tokens[position + 1].text.string
      return text.trimmingQuotes
    }
    let words = tokens.map(\.keyword)
    switch verb {
    case .select, .delete, .with:
      for position in words.indices where words[position] == "FROM" || words[position] == "JOIN" {
        let alias = words.indices.contains(position + 2) ? words[position + 2] : ""
        if alias == "T0", let table = name(after: position) { return table }
      }
      return words.firstIndex(of: "FROM").flatMap(name)
    case .insert, .replace:
      return words.firstIndex(of: "INTO").flatMap(name)
    case .update:
      guard let set = words.firstIndex(of: "SET"), set > 0 else { return nil }
      return tokens[set - 1].text.string.trimmingQuotes
    default:
      return nil
    }
  }

  /// Returns the kind under which the statement is counted.
  ///
  /// Statements on Core Data's internal tables are housekeeping.
  func kind(table: String?) -> StatementKind {
    switch verb {
    case .begin, .commit, .end, .rollback: return .transaction
    case .select, .with:
      // A fetch of a wide entity can be truncated before its table.
      let isFetch = table == nil && SQLToken.all(in: text).contains { $0.isColumn }
      return isFetch || SQLText.isEntityOrJoinTable(table) ? .select : .housekeeping
    case .insert, .replace: return SQLText.isEntityOrJoinTable(table) ? .insert : .housekeeping
    case .update: return SQLText.isEntityOrJoinTable(table) ? .update : .housekeeping
    case .delete: return SQLText.isEntityOrJoinTable(table) ? .delete : .housekeeping
    default: return .housekeeping
    }
  }

  /// Returns whether a table is an entity table or a join table, such as `ZITEM` or `Z_1TAGS`.
  private static func isEntityOrJoinTable(_ table: String?) -> Bool {
    guard let table = table?.uppercased(), table.first == "Z" else { return false }
    guard table.hasPrefix("Z_") else { return true }
    return table.dropFirst(2).first?.isNumber == true
  }

  /// Whether the statement loads a batch of a batched fetch: rows by primary key, with the batch
  /// size as the limit.
  var isBatch: Bool {
    text.contains("t0.Z_PK IN ") && text.contains(" LIMIT ")
  }

  /// Whether the statement reads the join rows of a many-to-many relationship for a prefetch, whose
  /// rows the next statement loads.
  var readsJoinRows: Bool {
    text.contains(" IN (SELECT * FROM _Z_intarray") && !text.contains("t0.Z_OPT")
      && text.contains("FROM Z_")
  }

  /// Whether the statement executes a count request.
  ///
  /// A dictionary fetch with a count isn't a count request. Core Data puts a space before its
  /// column.
  var isCount: Bool {
    text.starts(with: "SELECT COUNT(") && !text.starts(with: "SELECT COUNT( t")
      && !text.starts(with: "SELECT COUNT(*),")
  }
}

extension String {
  /// The string without the quotation marks around a name.
  fileprivate var trimmingQuotes: String {
    guard let first, "\"'`".contains(first), last == first, count > 1 else { return self }
    return String(dropFirst().dropLast())
  }
}

extension SQLToken {
  /// Returns the tokens of a part of a log.
  static func all(in text: LogBytes) -> [SQLToken] {
    all(in: text.bytes)
  }

  /// The bytes of the token, including quotation marks.
  var text: LogBytes { LogBytes(bytes) }

  /// Whether the token is a column with a table alias, such as `t0.ZNAME`.
  var isColumn: Bool {
    guard kind == .word, text.starts(with: "t"), let dot = text.range(of: ".") else { return false }
    return text.bytes[(text.bytes.startIndex + 1)..<dot.lowerBound].allSatisfy(\.isDigit)
  }

  /// Whether the token is a table alias, such as `t0`.
  var isAlias: Bool {
    kind == .word && text.count > 1 && text.first == UInt8(ascii: "t")
      && text.bytes.dropFirst().allSatisfy(\.isDigit)
  }

  /// Whether the token is a table or column name of Core Data, such as `ZITEM`, `Z_PK`, or
  /// `Z_1TAGS`.
  var isStoreName: Bool {
    kind == .word && text.first == UInt8(ascii: "Z") && text.count > 1
      && text.bytes.allSatisfy { $0.isUpper || $0.isDigit || $0 == UInt8(ascii: "_") || $0 >= 0x80 }
  }
}
