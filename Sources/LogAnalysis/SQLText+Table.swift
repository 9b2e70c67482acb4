import ProfileEvents

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
