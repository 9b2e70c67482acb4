/// The tables a statement names, without parsing SQL as a whole.
package enum StatementTables {
  /// The table behind an alias: `ZMOOD` for `t0` in `FROM ZMOOD t0` and in `FROM ZMOOD AS t0`.
  ///
  /// Nil when the statement defines no such alias.
  package static func table(of alias: String, in sql: String) -> String? {
    all(in: sql).first { $0.alias == alias }?.table
  }

  /// Tables with their aliases, in the order of the text; a table without one is its own alias.
  package static func all(in sql: String) -> [(table: String, alias: String)] {
    let words = sql.split { " \n\t".contains($0) }.flatMap(parts)
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

  /// `FROM`, `JOIN`, `UPDATE`, `INTO`; a comma only between tables.
  private static func introduces(_ word: String, in words: [String], at place: Int) -> Bool {
    switch word.uppercased() {
    case "FROM", "JOIN", "INTO", "UPDATE": return true
    case ",":
      // `FROM A t0, B t1`: back over alias and name to the word that introduced the first.
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

  /// A word without brackets; commas and brackets stand by themselves.
  private static func parts(_ word: Substring) -> [String] {
    var parts: [String] = []
    var current = ""
    for character in word {
      if "(),;".contains(character) {
        if !current.isEmpty { parts.append(current) }
        parts.append(String(character))
        current = ""
      } else if character != "\"" {
        current.append(character)
      }
    }
    if !current.isEmpty { parts.append(current) }
    return parts
  }
}
