/// The summary of a statement's text, as `db.query.summary` requires it: the operation and the
/// tables, without values, such as `SELECT ZMOOD ZREGION`.
enum QuerySummary {
  /// The number of characters that the conventions allow.
  static let limit = 255
  /// The prefix of the framework's virtual tables, each of which is a bound list of integers.
  private static let list = "_Z_intarray"

  /// Returns the summary of a statement.
  ///
  /// The tables of subqueries follow their own SELECT; lists of bound keys and functions are left
  /// out. A table is listed each time it's named after FROM, JOIN, INTO, or UPDATE, with its schema
  /// if that's named too.
  static func text(_ sql: String) -> String {
    var words: [String] = []
    var expectsTable = false
    var previous = ""
    for word in tokens(sql) {
      defer { previous = word.uppercased() }
      switch word.uppercased() {
      case "SELECT", "INSERT", "DELETE":
        words.append(word.uppercased())
        expectsTable = false
      case "UPDATE":
        // As the first word, it's followed by the table; otherwise, it's part of ON CONFLICT.
        expectsTable = words.isEmpty
        if words.isEmpty { words.append("UPDATE") }
      // Not after IS DISTINCT, which compares two values.
      case "FROM", "JOIN", "INTO": expectsTable = previous != "DISTINCT"
      case "OR", "ABORT", "FAIL", "IGNORE", "REPLACE", "ROLLBACK": break
      case "(": expectsTable = false
      default:
        if expectsTable {
          // A list of bound keys isn't a table of the store.
          let isFunction = previous != "INTO" && sql[word.endIndex...].first == "("
          if !word.hasPrefix(list), !isFunction {
            words.append(unquoted(word))
          } else if words.count > 1, words.last == "SELECT" {
            words.removeLast()
          }
        }
        expectsTable = false
      }
    }
    var summary = ""
    for word in words {
      guard summary.count + 1 + word.count <= limit else { break }
      summary += summary.isEmpty ? word : " \(word)"
    }
    return summary.isEmpty ? verb(sql) : summary
  }

  /// Returns the first word in capitals, such as `SELECT`.
  static func verb(_ sql: String) -> String {
    sql.drop { !$0.isLetter }.prefix { $0.isLetter }.uppercased()
  }

  /// Returns a name, or a schema and a name, without quotes.
  private static func unquoted(_ word: Substring) -> String {
    var rest = word
    var name = ""
    while let first = rest.first {
      let part = rest.prefix(upTo: endOfName(in: rest))
      let isQuoted = first == "\"" && part.last == "\"" && part.count > 1
      name += isQuoted ? part.dropFirst().dropLast().replacing("\"\"", with: "\"") : part
      rest = rest[part.endIndex...]
      if rest.first == "." {
        name += "."
        rest = rest.dropFirst()
      } else {
        break
      }
    }
    return name
  }

  /// The words, qualified and quoted names, and opening parentheses of a statement, without its
  /// strings.
  private static func tokens(_ sql: String) -> [Substring] {
    var tokens: [Substring] = []
    var rest = sql[...]
    while let first = rest.first {
      var end = endOfName(in: rest)
      if first == "'" {
        rest = rest[end...]
      } else if end > rest.startIndex {
        while rest[end...].first == "." {
          let next = rest.index(after: end)
          let nameEnd = endOfName(in: rest[next...])
          guard nameEnd > next, rest[next] != "'" else { break }
          end = nameEnd
        }
        tokens.append(rest[..<end])
        rest = rest[end...]
      } else {
        if first == "(" { tokens.append(rest.prefix(1)) }
        rest = rest.dropFirst()
      }
    }
    return tokens
  }

  /// Returns the end of the word, or of what is in quotes, that a text begins with; its start if it
  /// begins with something else.
  private static func endOfName(in text: Substring) -> Substring.Index {
    guard let first = text.first else { return text.startIndex }
    guard first == "'" || first == "\"" else {
      let isWord = first.isLetter || first == "_"
      return isWord
        ? text.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }.endIndex
        : text.startIndex
    }
    // A doubled quote begins another part of the same name.
    var end = text.index(after: text.startIndex)
    while end < text.endIndex {
      let isQuote = text[end] == first
      end = text.index(after: end)
      guard isQuote else { continue }
      guard end < text.endIndex, text[end] == first else { break }
      end = text.index(after: end)
    }
    return end
  }
}
