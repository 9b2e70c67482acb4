import ScenarioLanguage

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

  /// The verb; nil for a text that is no SQL, `<private>` among them.
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
