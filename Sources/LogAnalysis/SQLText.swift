import ProfileEvents
import ScenarioLanguage
import StatementAnalysis

/// A statement as a log has it: whole, wrapped over lines, or cut.
package struct SQLText {
  let text: LogBytes

  /// Takes a text behind `sql:`; blanks at its ends and marks of a cut are not part of it.
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
    isMarkedCut = isMarked
  }

  /// Whether the log itself says that it was cut: `<…>`, `…`.
  let isMarkedCut: Bool

  /// What a statement does.
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

  /// The verb; nil for a text that isn't SQL, `<private>` among them.
  var verb: Verb? {
    let word = text.bytes.prefix { $0.isUpper || $0.isLower }
    guard !word.isEmpty, word.count <= 9 else { return nil }
    return Verb(rawValue: LogBytes(word).string.uppercased())
  }

  /// The text with each run of blanks as one: two of one shape may be wrapped in two ways.
  package var key: LogBytes {
    var kept: [UInt8] = []
    kept.reserveCapacity(text.count)
    var isBlank = false
    for byte in text.bytes {
      if byte.isBlank || byte == 0x0A {
        isBlank = true
      } else {
        if isBlank, !kept.isEmpty { kept.append(UInt8(ascii: " ")) }
        isBlank = false
        kept.append(byte)
      }
    }
    return LogBytes(kept[...])
  }

  /// Whether nothing is seen to be missing at its end.
  ///
  /// A cut between two terms leaves a whole statement and cannot be seen.
  var isComplete: Bool {
    guard !isMarkedCut, let verb else { return !isMarkedCut }
    // The system's log hides values so; what follows is not known.
    if text.ends(with: "<private>") { return true }
    let tokens = SQLToken.all(in: text)
    guard let last = tokens.last, last.kind != .open else { return false }
    var depth = 0
    for token in tokens {
      if token.isSign("(") { depth += 1 }
      if token.isSign(")") { depth -= 1 }
    }
    guard depth <= 0 else { return false }
    // `pragma journal_mode=DELETE` ends with a word that others cannot end with.
    guard [.select, .insert, .replace, .update, .delete, .with].contains(verb) else { return true }
    guard !SQLText.wantsMore(last) else { return false }
    // Core Data compares each column: one alone behind WHERE or AND has lost its operator.
    if last.isColumn, let before = tokens.dropLast().last,
      ["WHERE", "AND", "OR", "NOT"].contains(before.keyword)
    {
      return false
    }
    if ["WHERE", "AND", "OR"].contains(last.keyword) { return false }
    return hasItsClause(verb, tokens)
  }

  /// Whether the clause is there without which the verb means nothing.
  private func hasItsClause(_ verb: Verb, _ tokens: [SQLToken]) -> Bool {
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

  /// Whether SQL cannot end with a token.
  static func wantsMore(_ token: SQLToken) -> Bool {
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

  /// Whether a line that follows no statement is a piece of one: the beginning was truncated.
  static func isFragment(_ line: LogBytes) -> Bool {
    let tokens = SQLToken.all(in: line)
    let columns = tokens.count { $0.isColumn && $0.text.contains(".Z") }
    return columns >= 2 || columns == 1 && tokens.contains { clauses.contains($0.text.string) }
  }
}

extension SQLText {
  /// The table whose rows a statement reads or changes; nil where none is named.
  ///
  /// Of a join it is the one called `t0`, whose rows become objects.
  var table: String? {
    let tokens = SQLToken.all(in: text)
    func name(after place: Int) -> String? {
      guard place + 1 < tokens.count, tokens[place + 1].kind != .sign else { return nil }
      let text = tokens[place + 1].text.string
      return text.trimmingQuotes
    }
    let words = tokens.map(\.keyword)
    switch verb {
    case .select, .delete, .with:
      for place in words.indices where words[place] == "FROM" || words[place] == "JOIN" {
        let alias = words.indices.contains(place + 2) ? words[place + 2] : ""
        if alias == "T0", let table = name(after: place) { return table }
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

  /// How the counters count it; a statement on Core Data's own tables is housekeeping.
  func kind(table: String?) -> StatementKind {
    switch verb {
    case .begin, .commit, .end, .rollback: return .transaction
    case .select, .with: return SQLText.holdsRows(table) ? .select : .housekeeping
    case .insert, .replace: return SQLText.holdsRows(table) ? .insert : .housekeeping
    case .update: return SQLText.holdsRows(table) ? .update : .housekeeping
    case .delete: return SQLText.holdsRows(table) ? .delete : .housekeeping
    default: return .housekeeping
    }
  }

  /// Whether a table holds rows of entities or their links: `ZITEM`, `Z_1TAGS`.
  private static func holdsRows(_ table: String?) -> Bool {
    guard let table = table?.uppercased(), table.first == "Z" else { return false }
    guard table.hasPrefix("Z_") else { return true }
    return table.dropFirst(2).first?.isNumber == true
  }

  /// Whether it loads a page of a batched fetch: rows by key, as many as a page has.
  var isPage: Bool {
    text.contains("t0.Z_PK IN ") && text.contains(" LIMIT ")
  }

  /// Whether it reads the links of a many-to-many for a prefetch, whose rows come next.
  var readsLinks: Bool {
    text.contains(" IN (SELECT * FROM _Z_intarray") && !text.contains("t0.Z_OPT")
      && text.contains("FROM Z_")
  }

  /// Whether it answers a count request.
  ///
  /// Dictionaries with a count are a fetch: Core Data puts a blank before their column.
  var isCount: Bool {
    text.starts(with: "SELECT COUNT(") && !text.starts(with: "SELECT COUNT( t")
      && !text.starts(with: "SELECT COUNT(*),")
  }
}

extension String {
  /// Without the quotes around a name.
  fileprivate var trimmingQuotes: String {
    guard let first, "\"'`".contains(first), last == first, count > 1 else { return self }
    return String(dropFirst().dropLast())
  }
}
