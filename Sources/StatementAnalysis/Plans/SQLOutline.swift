/// The words, tables, and condition of a statement.
package struct SQLOutline: Sendable {
  /// The names, numbers, operators, placeholders, parentheses, commas, and semicolons, in order.
  ///
  /// A name has no quotes, and dots join its parts; a string is a single `'`.
  package let words: [String]
  /// The tables with their aliases, in order; the alias of a table without one is its name.
  package let tables: [(table: String, alias: String)]
  /// The words after the first WHERE, up to GROUP BY, ORDER BY, or LIMIT, or `nil` if there's no
  /// WHERE.
  package let condition: ArraySlice<String>?

  /// Parses a statement.
  ///
  /// Cost: linear in the length of the statement.
  package init(_ sql: String) {
    words = SQLOutline.words(of: sql)
    tables = SQLOutline.tables(in: words)
    condition = SQLOutline.condition(in: words)
  }

  /// Returns the table with an alias: `ZMOOD` for `t0` in `FROM ZMOOD t0` and in
  /// `FROM ZMOOD AS t0`.
  ///
  /// Returns `nil` if the statement doesn't define the alias.
  package func table(of alias: String) -> String? {
    tables.first { $0.alias == alias }?.table
  }

  /// A Boolean value that indicates whether the statement has a LIMIT.
  package var isLimited: Bool { words.contains { $0.uppercased() == "LIMIT" } }

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
        default: if text.allSatisfy("=<>!".contains) { words.append(text) }
        }
      }
    }
    return words
  }

  private static func condition(in words: [String]) -> ArraySlice<String>? {
    guard let start = words.firstIndex(where: { $0.uppercased() == "WHERE" }) else { return nil }
    return words[(start + 1)...].prefix {
      !["GROUP", "ORDER", "LIMIT", ";"].contains($0.uppercased())
    }
  }
}

extension SQLOutline {
  private static func tables(in words: [String]) -> [(table: String, alias: String)] {
    var tables: [(table: String, alias: String)] = []
    for (place, word) in words.enumerated() {
      guard place > 0, introduces(words[place - 1], in: words, at: place - 1), isName(word) else {
        continue
      }
      var next = place + 1
      if next < words.count, words[next].uppercased() == "AS" { next += 1 }
      let alias = next < words.count && isName(words[next]) ? words[next] : word
      tables.append((word, alias))
    }
    return tables
  }

  /// Returns whether a table can follow a word: `FROM`, `JOIN`, `UPDATE`, `INTO`, or a comma
  /// between tables.
  private static func introduces(_ word: String, in words: [String], at place: Int) -> Bool {
    switch word.uppercased() {
    case "FROM", "JOIN", "INTO", "UPDATE": return true
    case ",":
      // `FROM A t0, B t1`: skip the alias and the name back to the word before the first table.
      for back in [2, 3] where place >= back {
        if ["FROM", "JOIN"].contains(words[place - back].uppercased()) { return true }
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
