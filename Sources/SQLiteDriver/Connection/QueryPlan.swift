/// The steps of a statement's query plan, as returned by EXPLAIN QUERY PLAN.
package struct QueryPlan: Sendable, Hashable {
  /// A step, with the steps inside it.
  package struct Node: Sendable, Hashable {
    /// SQLite's ID of the step, unique in its plan.
    package let id: Int
    /// The ID of the enclosing step, or 0.
    package let parent: Int
    /// SQLite's description, such as `SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)`.
    package let detail: String
    package let children: [Node]
  }

  /// A row of EXPLAIN QUERY PLAN.
  struct Row {
    var id: Int
    var parent: Int
    var detail: String
  }

  /// The top-level steps, in SQLite's order: nested loops from the outside in.
  package let roots: [Node]

  init(_ rows: [Row]) {
    let known = Set(rows.map(\.id))
    let children = Dictionary(grouping: rows) { known.contains($0.parent) ? $0.parent : 0 }
    roots = QueryPlan.nodes(of: 0, in: children)
  }

  private static func nodes(of parent: Int, in children: [Int: [Row]]) -> [Node] {
    (children[parent] ?? []).map { row in
      Node(
        id: row.id, parent: row.parent, detail: row.detail,
        children: nodes(of: row.id, in: children))
    }
  }

  /// All steps, each before the steps inside it.
  package var nodes: [Node] {
    QueryPlan.flattened(roots)
  }

  private static func flattened(_ nodes: [Node]) -> [Node] {
    nodes.flatMap { [$0] + flattened($0.children) }
  }

  /// The tree as the `sqlite3` shell draws it, without the first line, `QUERY PLAN`.
  package var lines: [String] {
    QueryPlan.lines(of: roots, indent: "")
  }

  private static func lines(of nodes: [Node], indent: String) -> [String] {
    nodes.enumerated().flatMap { index, node in
      let isLast = index == nodes.count - 1
      let line = indent + (isLast ? "`--" : "|--") + node.detail
      return [line] + lines(of: node.children, indent: indent + (isLast ? "   " : "|  "))
    }
  }
}

extension QueryPlan.Node {
  /// The kinds of access to a table.
  package enum Operation: Sendable {
    /// A full table scan or full index scan.
    case scan
    /// A search for specific rows by primary key or index.
    case search
    /// Another step, such as a sort, a subquery, or a compound.
    case other
  }

  /// The kind of the step, from the first word of its description.
  package var operation: Operation {
    if detail.hasPrefix("SCAN ") { return .scan }
    if detail.hasPrefix("SEARCH ") { return .search }
    return .other
  }

  /// The table that is read, by its name in the statement (the alias), or `nil` for constant rows
  /// and for steps that don't read a table.
  package var table: String? {
    guard operation != .other else { return nil }
    let words = words.dropFirst()
    if words.starts(with: ["CONSTANT", "ROW"]) || words.dropFirst().starts(with: ["CONSTANT"]) {
      return nil
    }
    // Before SQLite 3.36, the description was `SCAN TABLE ZMOOD AS t0`.
    let names = words.first == "TABLE" || words.first == "SUBQUERY" ? words.dropFirst() : words
    if let alias = names.dropFirst(2).first, names.dropFirst().first == "AS" { return alias }
    return names.first
  }

  /// The stored index that is used, or `nil` for none, the primary key, or an automatic index.
  package var index: String? {
    guard !isAutomaticIndex, let position = words.firstIndex(of: "INDEX"), !isVirtualTable,
      words[..<position].contains("USING"), position + 1 < words.count
    else { return nil }
    return words[position + 1]
  }

  /// The constraint of the search, such as `ZNAME=? AND ZAGE>?`, or `nil` if there is none.
  package var constraint: String? {
    let words = words
    guard operation == .search, let using = words.firstIndex(of: "USING") else { return nil }
    let rest = words[using...].joined(separator: " ")
    guard let start = rest.firstIndex(of: "(") else { return nil }
    var depth = 0
    for position in rest[start...].indices {
      if rest[position] == "(" { depth += 1 }
      if rest[position] == ")" { depth -= 1 }
      if depth == 0 { return String(rest[rest.index(after: start)..<position]) }
    }
    return nil
  }

  /// Whether the index is a covering index: it contains every column that is read.
  package var isCovering: Bool { detail.contains(" COVERING INDEX") }

  /// Whether the index is an automatic index, created for this execution only.
  package var isAutomaticIndex: Bool { detail.contains(" USING AUTOMATIC ") }

  /// Whether the step uses the table's primary key.
  package var usesPrimaryKey: Bool { detail.contains(" PRIMARY KEY") }

  /// Whether the table is a virtual table: an integer array, an R-tree, or a full-text index.
  package var isVirtualTable: Bool { detail.contains(" VIRTUAL TABLE ") }

  /// The purpose of the step's temp B-tree, or `nil` if it doesn't use one.
  package var tempBTreePurpose: String? {
    let start = "USE TEMP B-TREE FOR "
    let end = " USING TEMP B-TREE"
    if detail.hasPrefix(start) { return String(detail.dropFirst(start.count)) }
    return detail.hasSuffix(end) ? String(detail.dropLast(end.count)) : nil
  }

  /// The name by which other steps refer to the result of this step.
  var definedName: String? {
    let words = words
    guard let verb = words.first, verb == "CO-ROUTINE" || verb == "MATERIALIZE" else { return nil }
    return words.count > 1 ? words[1] : nil
  }

  private var words: [String] {
    detail.split(separator: " ").map(String.init)
  }
}

extension QueryPlan {
  /// Returns the plan with the WHERE clause of each scanned partial index after its name.
  ///
  /// `SCAN t0 USING INDEX warm` becomes `SCAN t0 USING INDEX warm WHERE ZLATITUDE > 50`, because
  /// SQLite's description doesn't distinguish such a scan from a full one. The printed form can be
  /// parsed.
  ///
  /// - Parameter condition: A closure that returns the WHERE clause of the index with a name, or
  ///   `nil` if it isn't a partial index.
  package func addingConditions(
    ofPartialIndexes condition: (String) -> String?
  ) -> QueryPlan {
    QueryPlan(
      nodes.map { node in
        var detail = node.detail
        if node.operation == .scan, node.partialCondition == nil,
          let condition = node.index.flatMap(condition)
        {
          detail += Node.conditionMark + condition
        }
        return Row(id: node.id, parent: node.parent, detail: detail)
      })
  }
}

extension QueryPlan.Node {
  static let conditionMark = " WHERE "

  /// The WHERE clause of the scanned partial index, or `nil` for any other step and until it's set.
  package var partialCondition: String? {
    guard operation == .scan, let mark = detail.firstRange(of: QueryPlan.Node.conditionMark) else {
      return nil
    }
    return String(detail[mark.upperBound...])
  }
}

extension Connection {
  /// Returns the WHERE clause of a partial index on one line, or `nil` for any other index.
  ///
  /// **Cost:** one statement.
  package func conditionOfIndex(_ name: String) -> String? {
    let rows = try? values(
      "SELECT sql FROM sqlite_master WHERE type = 'index' AND name = ?", [.text(name)])
    guard case .text(let sql)?? = rows?.first?.first else { return nil }
    return Connection.condition(ofIndex: sql)
  }

  /// Returns the WHERE clause of `CREATE INDEX`, outside parentheses and quotes.
  ///
  /// White space outside of quotes becomes one space.
  package static func condition(ofIndex sql: String) -> String? {
    var (depth, quote, word) = (0, Character?.none, "")
    var (condition, isFound) = ("", false)
    for character in sql {
      let isQuoted = quote != nil
      if character == quote {
        quote = nil
      } else if !isQuoted {
        quote = quotes[character]
        if character == "(" { depth += 1 }
        if character == ")" { depth -= 1 }
      }
      let isOfName = character.isLetter || character.isNumber || character == "_"
      if !isFound, !isQuoted, depth == 0, isOfName {
        word += character.uppercased()
        continue
      }
      // `where` in the name of an index or a column isn't the keyword.
      isFound = isFound || word == "WHERE"
      word = ""
      guard isFound else { continue }
      if isQuoted || !character.isWhitespace {
        condition.append(character)
      } else if !condition.isEmpty, condition.last != " " {
        condition.append(" ")
      }
    }
    if condition.last == " " { condition.removeLast() }
    return isFound ? condition : nil
  }

  /// The characters that end what others begin.
  private static let quotes: [Character: Character] = ["'": "'", "\"": "\"", "`": "`", "[": "]"]
}

extension QueryPlan {
  /// Parses a plan printed by the `sqlite3` shell, by `lines`, or by SQLDebug.
  ///
  /// Supports the tree of newer libraries (`` `--SEARCH t0 … ``) and the columns of older ones
  /// (`0|0|0|SEARCH TABLE …`), with or without the line `QUERY PLAN`. Other lines are ignored, so
  /// text without a plan results in a plan without steps.
  package init(lines: [String]) {
    var rows: [Row] = []
    /// The IDs of the enclosing steps, from the outside in.
    var open: [Int] = []
    for line in lines {
      if let (depth, detail) = QueryPlan.drawn(line) {
        open.removeLast(max(0, open.count - depth))
        rows.append(Row(id: rows.count + 1, parent: open.last ?? 0, detail: detail))
        open.append(rows.count)
      } else if let detail = QueryPlan.column(line) {
        rows.append(Row(id: rows.count + 1, parent: 0, detail: detail))
      }
    }
    self.init(rows)
  }

  /// Returns the depth and the description in a line such as `|  |--SCAN t1`.
  private static func drawn(_ line: String) -> (depth: Int, detail: String)? {
    var depth = 0
    var rest = line[...]
    while rest.hasPrefix("|  ") || rest.hasPrefix("   ") {
      depth += 1
      rest = rest.dropFirst(3)
    }
    guard rest.hasPrefix("|--") || rest.hasPrefix("`--") else { return nil }
    return (depth, String(rest.dropFirst(3)))
  }

  /// Returns the description in a line such as `0|0|0|SCAN TABLE ZMOOD AS t0`.
  private static func column(_ line: String) -> String? {
    let parts = line.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, parts[..<3].allSatisfy({ Int($0) != nil }) else { return nil }
    return String(parts[3])
  }
}

extension QueryPlan {
  /// The full scans of stored tables or their indexes.
  ///
  /// `SCAN … USING COVERING INDEX` is included, because it reads the entire index. Scans of integer
  /// arrays and other virtual tables, of constant rows, and of subqueries aren't included. A
  /// subquery that is read by another name can't be distinguished from a table and is included.
  package var fullScans: [Node] {
    let nodes = nodes
    let inner = Set(nodes.compactMap(\.definedName))
    return nodes.filter { node in
      guard node.operation == .scan, !node.isVirtualTable, let table = node.table else {
        return false
      }
      return !inner.contains(table) && !node.detail.hasPrefix("SCAN SUBQUERY ")
    }
  }

  /// Whether the plan contains a full scan.
  package var isFullScan: Bool {
    !fullScans.isEmpty
  }

  /// The purposes of the plan's temp B-trees: `ORDER BY`, `GROUP BY`, `DISTINCT`, `UNION`, or
  /// `RIGHT PART OF ORDER BY` if an index provides the first part.
  package var tempBTrees: [String] {
    nodes.compactMap(\.tempBTreePurpose)
  }

  /// Whether the plan searches a table by its primary key.
  package var searchesPrimaryKey: Bool {
    nodes.contains { $0.operation == .search && $0.usesPrimaryKey }
  }

  /// Whether SQLite creates an automatic index, for every execution of this statement.
  package var usesAutomaticIndex: Bool {
    nodes.contains(where: \.isAutomaticIndex)
  }

  /// The names of the stored indexes in use, in plan order and without duplicates.
  package var indexes: [String] {
    var names: [String] = []
    for case let name? in nodes.map(\.index) where !names.contains(name) {
      names.append(name)
    }
    return names
  }
}
