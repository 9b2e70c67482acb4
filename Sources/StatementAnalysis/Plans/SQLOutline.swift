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
  /// Comments, which captured SQL doesn't contain, become symbols and words. **Cost:** linear in
  /// the length of the statement; the tokens share its bytes.
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

  /// Returns whether the token is a given symbol of one ASCII character.
  package func isSign(_ sign: Unicode.Scalar) -> Bool {
    kind == .sign && bytes.count == 1 && bytes.first == UInt8(ascii: sign)
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

/// The words, tables, and condition of a statement.
package struct SQLOutline: Sendable {
  /// The names, numbers, operators, placeholders, parentheses, commas, and semicolons, in order.
  ///
  /// A name has no quotes, and dots join its parts; a string is a single `'`.
  package let words: [String]
  /// The tables with their aliases, in order; the alias of a table without one is its name.
  package let tables: [(table: String, alias: String)]
  /// Whether the statement is an UPDATE or a DELETE.
  let changesRows: Bool
  /// The words after the statement's own WHERE, up to GROUP BY, ORDER BY, LIMIT, or RETURNING, or
  /// `nil` if there's no WHERE.
  ///
  /// That of a query in `FROM` is the statement's own; that of a subquery in a column or an
  /// assignment isn't, because it doesn't determine the rows.
  package let condition: ArraySlice<String>?

  /// Parses a statement.
  ///
  /// **Cost:** linear in the length of the statement.
  package init(_ sql: String) {
    words = SQLOutline.words(of: sql)
    tables = SQLOutline.tables(in: words)
    changesRows = ["UPDATE", "DELETE"].contains(SQLOutline.verb(of: sql))
    condition = SQLOutline.condition(in: words)
  }

  /// Returns the table with an alias: `ZMOOD` for `t0` in `FROM ZMOOD t0` and in
  /// `FROM ZMOOD AS t0`.
  ///
  /// Returns `nil` if the statement doesn't define the alias.
  package func table(of alias: String) -> String? {
    tables.first { $0.alias == alias }?.table
  }

  /// The words that determine the rows that the statement reads: those of the condition of an
  /// UPDATE or a DELETE, and all words of another statement.
  var searchingWords: ArraySlice<String> { changesRows ? condition ?? [] : words[...] }

  /// Whether the statement has a LIMIT.
  package var isLimited: Bool { words.contains { $0.uppercased() == "LIMIT" } }

  /// Returns the word that states what a statement does, in uppercase.
  ///
  /// It's the first one or, after `WITH`, the verb of the first expression that changes rows, or
  /// that follows the expressions.
  static func verb(of sql: String) -> String {
    let first = sql.drop(while: \.isWhitespace).prefix(while: \.isLetter).uppercased()
    guard first == "WITH" else { return first }
    var depth = 0
    for token in SQLToken.all(in: ArraySlice(sql.utf8)) {
      if token.isSign("(") { depth += 1 }
      if token.isSign(")") { depth -= 1 }
      let word = token.keyword
      switch word {
      case "INSERT", "UPDATE", "DELETE": return word
      // In an expression, `REPLACE` is a function.
      case "SELECT", "VALUES", "REPLACE": if depth == 0 { return word }
      default: break
      }
    }
    return first
  }

  /// Returns the words of a statement; see `words`.
  static func words(of sql: String) -> [String] {
    var words: [String] = []
    // The end of the last word, if the next token can continue it.
    var end: Int?
    for token in SQLToken.all(in: ArraySlice(sql.utf8)) {
      let text = String(decoding: token.bytes, as: UTF8.self)
      let isAdjacent = end == token.bytes.startIndex
      end = nil
      func add(_ text: String) {
        let isPart = text == "." || words.last.map { ".?:@$".contains($0.last ?? " ") } == true
        if isAdjacent, isPart, let last = words.indices.last {
          words[last] += text
        } else {
          words.append(text)
        }
        end = token.bytes.endIndex
      }
      switch token.kind {
      case .word: add(text)
      case .quoted, .open:
        if text.hasPrefix("\"") {
          let name = text.dropFirst().dropLast(token.kind == .open ? 0 : 1)
          add(String(name.replacing("\"\"", with: "\"")))
        } else if token.kind == .quoted {
          words.append("'")
        }
      case .sign:
        switch text {
        case "(", ")", ",", ";": words.append(text)
        // The dot of a quoted name, and the first character of a placeholder.
        case ".": if isAdjacent { add(text) }
        case "?", ":", "@", "$": add(text)
        default:
          if text.allSatisfy("=<>!".contains) || calculations.contains(text) { words.append(text) }
        }
      }
    }
    return words
  }

  /// The operators that calculate a value, which no index contains.
  static let calculations: Set<String> = ["+", "-", "*", "/", "%", "|", "||", "&", "~"]

  /// Returns the condition in words of a statement; see `condition`.
  static func condition(in words: [String]) -> ArraySlice<String>? {
    guard let start = startOfCondition(in: words) else { return nil }
    var depth = 0
    return words[(start + 1)...].prefix { word in
      if word == "(" { depth += 1 }
      if word == ")" { depth -= 1 }
      return depth > 0
        || depth == 0 && !["GROUP", "ORDER", "LIMIT", "RETURNING", ";"].contains(word.uppercased())
    }
  }

  private static func startOfCondition(in words: [String]) -> Int? {
    var depth = 0
    var from: Int?
    var inner: Int?
    for (index, word) in words.enumerated() {
      switch word.uppercased() {
      case "(": depth += 1
      case ")": depth -= 1
      case "FROM" where depth == 0 && from == nil: from = index
      case "WHERE" where depth == 0: return index
      case "WHERE" where inner == nil:
        if let from, words[from + 1] == "(" { inner = index }
      default: break
      }
    }
    return inner
  }
}

extension SQLOutline {
  /// Returns the tables in words of a statement; see `tables`.
  static func tables(in words: [String]) -> [(table: String, alias: String)] {
    var tables: [(table: String, alias: String)] = []
    for (position, word) in words.enumerated() {
      guard position > 0, introduces(words[position - 1], in: words, at: position - 1), isName(word)
      else { continue }
      var next = position + 1
      if next < words.count, words[next].uppercased() == "AS" { next += 1 }
      let alias = next < words.count && isName(words[next]) ? words[next] : word
      tables.append((word, alias))
    }
    return tables
  }

  /// Returns whether a table can follow a word: `FROM`, `JOIN`, `UPDATE`, `INTO`, or a comma
  /// between tables.
  private static func introduces(_ word: String, in words: [String], at position: Int) -> Bool {
    switch word.uppercased() {
    case "FROM", "JOIN", "INTO", "UPDATE": return true
    case ",":
      // `FROM A t0, B t1`: skip the alias and the name back to the word before the first table.
      for back in [2, 3] where position >= back {
        if ["FROM", "JOIN"].contains(words[position - back].uppercased()) { return true }
      }
      return false
    default: return false
    }
  }

  private static let keywords: Set<String> = [
    "WHERE", "ORDER", "GROUP", "LEFT", "OUTER", "INNER", "CROSS", "JOIN", "ON", "LIMIT", "SET",
    "VALUES", "UNION", "USING", "INDEXED", "NOT", "HAVING", "SELECT", "OR", "DEFAULT", "AS",
  ]

  private static func isName(_ word: String) -> Bool {
    guard let first = word.first, first.isLetter || first == "_" || first == "\"" else {
      return false
    }
    return !keywords.contains(word.uppercased())
  }
}

extension SQLOutline {
  /// The maximum number of words of a condition that are examined, which bounds time and depth; a
  /// longer condition is a list of values.
  static let maximumConditionWords = 1_000

  /// The sides of each `OR` of `searchingWords`, including those in parentheses.
  var alternatives: [[ArraySlice<String>]] {
    guard words.count <= SQLOutline.maximumConditionWords else { return [] }
    let enclosed = searchingWords.indices.filter { words[$0] == "(" }.compactMap { start in
      SQLOutline.end(of: words[start...]).map { words[(start + 1)..<$0] }
    }
    return ([condition ?? []] + enclosed).map { SQLOutline.parts(of: $0, at: "OR") }
      .filter { $0.count > 1 }
  }

  /// Returns the parts between the occurrences of a word outside of parentheses, without the `AND`
  /// of a `BETWEEN`.
  static func parts(
    of words: ArraySlice<String>, at separator: String
  ) -> [ArraySlice<String>] {
    var parts: [ArraySlice<String>] = []
    var start = words.startIndex
    var depth = 0
    var isBetween = false
    for index in words.indices {
      switch words[index].uppercased() {
      case "(": depth += 1
      case ")": depth -= 1
      case "BETWEEN" where depth == 0: isBetween = true
      case "AND" where depth == 0 && isBetween: isBetween = false
      case separator where depth == 0:
        parts.append(words[start..<index])
        start = index + 1
      default: break
      }
    }
    return parts + [words[start...]]
  }

  /// Returns the position of the parenthesis that closes the first one.
  static func end(of words: ArraySlice<String>) -> Int? {
    var depth = 0
    for index in words.indices {
      if words[index] == "(" { depth += 1 }
      if words[index] == ")" { depth -= 1 }
      if depth == 0 { return index }
    }
    return nil
  }
}
