/// The summary of a statement's text, as `db.query.summary` requires it: the operation and the
/// tables, without values, such as `SELECT ZMOOD ZREGION`.
enum QuerySummary {
  /// The number of characters that the conventions allow.
  static let limit = 255
  /// The prefix of the framework's virtual tables, each of which is a bound list of integers.
  private static let list = "_Z_intarray"

  /// Returns the summary of a statement.
  ///
  /// The tables of subqueries follow their own SELECT; lists of bound keys are left out. A table is
  /// listed each time it's named after FROM, JOIN, INTO, or UPDATE.
  static func text(_ sql: String) -> String {
    var words: [String] = []
    var expectsTable = false
    for word in tokens(sql) {
      switch word.uppercased() {
      case "SELECT", "INSERT", "DELETE":
        words.append(word.uppercased())
        expectsTable = false
      case "UPDATE":
        // As the first word, it's followed by the table; otherwise, it's part of ON CONFLICT.
        expectsTable = words.isEmpty
        if words.isEmpty { words.append("UPDATE") }
      case "FROM", "JOIN", "INTO": expectsTable = true
      case "OR", "ABORT", "FAIL", "IGNORE", "REPLACE", "ROLLBACK": break
      case "(": expectsTable = false
      default:
        if expectsTable {
          // The list of bound keys isn't a table of the store.
          if !word.hasPrefix(list) {
            words.append(unquoted(word))
          } else if words.last == "SELECT" {
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

  private static func unquoted(_ word: Substring) -> String {
    guard word.first == "\"", word.last == "\"", word.count > 1 else { return String(word) }
    return String(word.dropFirst().dropLast()).replacing("\"\"", with: "\"")
  }

  /// The words, quoted names, and opening parentheses of a statement, without its strings.
  private static func tokens(_ sql: String) -> [Substring] {
    var tokens: [Substring] = []
    var rest = sql[...]
    while let first = rest.first {
      if first == "'" || first == "\"" {
        // A doubled quote begins another part of the same token.
        var end = rest.index(after: rest.startIndex)
        while end < rest.endIndex {
          let isQuote = rest[end] == first
          end = rest.index(after: end)
          guard isQuote else { continue }
          guard end < rest.endIndex, rest[end] == first else { break }
          end = rest.index(after: end)
        }
        if first == "\"" { tokens.append(rest[..<end]) }
        rest = rest[end...]
      } else if first.isLetter || first == "_" {
        let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
        tokens.append(word)
        rest = rest[word.endIndex...]
      } else {
        if first == "(" { tokens.append(rest.prefix(1)) }
        rest = rest.dropFirst()
      }
    }
    return tokens
  }
}
