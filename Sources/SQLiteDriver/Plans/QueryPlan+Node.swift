extension QueryPlan.Node {
  /// What a step does with a table.
  package enum Operation: Sendable {
    /// Reads all of it, or all of one of its indexes.
    case scan
    /// Goes to the rows it wants by a key or an index.
    case search
    /// Anything else: a sort, a subquery, a compound.
    case other
  }

  /// What the step does, by its verb.
  package var operation: Operation {
    if detail.hasPrefix("SCAN ") { return .scan }
    if detail.hasPrefix("SEARCH ") { return .search }
    return .other
  }

  /// The table read, by the name the statement gives it (its alias); nil for constant rows and for
  /// steps that read none.
  package var table: String? {
    guard operation != .other else { return nil }
    let words = words.dropFirst()
    if words.starts(with: ["CONSTANT", "ROW"]) || words.dropFirst().starts(with: ["CONSTANT"]) {
      return nil
    }
    // Up to SQLite 3.35 the text was `SCAN TABLE ZMOOD AS t0`.
    let names = words.first == "TABLE" || words.first == "SUBQUERY" ? words.dropFirst() : words
    if let alias = names.dropFirst(2).first, names.dropFirst().first == "AS" { return alias }
    return names.first
  }

  /// The stored index used; nil for none, for the primary key and for an automatic one.
  package var index: String? {
    guard !isAutomaticIndex, let place = words.firstIndex(of: "INDEX"), !isVirtualTable,
      words[..<place].contains("USING"), place + 1 < words.count
    else { return nil }
    return words[place + 1]
  }

  /// What the search compares, as in `ZNAME=? AND ZAGE>?`; nil without a comparison.
  package var constraint: String? {
    let words = words
    guard operation == .search, let using = words.firstIndex(of: "USING") else { return nil }
    let rest = words[using...].joined(separator: " ")
    guard let start = rest.firstIndex(of: "(") else { return nil }
    var depth = 0
    for place in rest[start...].indices {
      if rest[place] == "(" { depth += 1 }
      if rest[place] == ")" { depth -= 1 }
      if depth == 0 { return String(rest[rest.index(after: start)..<place]) }
    }
    return nil
  }

  /// Whether the rows themselves need not be read: the index holds all that is asked for.
  package var isCovering: Bool { detail.contains(" COVERING INDEX") }

  /// Whether the index is made for this run alone.
  package var isAutomaticIndex: Bool { detail.contains(" USING AUTOMATIC ") }

  /// Whether the step goes by the table's primary key.
  package var usesPrimaryKey: Bool { detail.contains(" PRIMARY KEY") }

  /// Whether the table is no stored one: an integer array, an R-tree, a full-text index.
  package var isVirtualTable: Bool { detail.contains(" VIRTUAL TABLE ") }

  /// What the step sorts for; nil when it makes no temporary B-tree.
  package var tempBTreePurpose: String? {
    let start = "USE TEMP B-TREE FOR "
    let end = " USING TEMP B-TREE"
    if detail.hasPrefix(start) { return String(detail.dropFirst(start.count)) }
    return detail.hasSuffix(end) ? String(detail.dropLast(end.count)) : nil
  }

  /// The name under which other steps read what this step makes.
  var definedName: String? {
    let words = words
    guard let verb = words.first, verb == "CO-ROUTINE" || verb == "MATERIALIZE" else { return nil }
    return words.count > 1 ? words[1] : nil
  }

  private var words: [String] {
    detail.split(separator: " ").map(String.init)
  }
}
