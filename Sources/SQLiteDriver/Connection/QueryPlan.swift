/// The steps SQLite plans for a statement, as EXPLAIN QUERY PLAN gives them.
package struct QueryPlan: Sendable, Hashable {
  /// A step and the steps inside it.
  package struct Node: Sendable, Hashable {
    /// SQLite's number of the step, unique in its plan.
    package let id: Int
    /// The number of the step around it; 0 for none.
    package let parent: Int
    /// SQLite's words, as in `SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)`.
    package let detail: String
    package let children: [Node]
  }

  /// One row of EXPLAIN QUERY PLAN.
  struct Row {
    var id: Int
    var parent: Int
    var detail: String
  }

  /// The outermost steps, in SQLite's order: loops from the outside in.
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

  /// The tree as the `sqlite3` shell draws it, without its first line `QUERY PLAN`.
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

  /// Whether the rows themselves need not be read: the index contains every column that is read.
  package var isCovering: Bool { detail.contains(" COVERING INDEX") }

  /// Whether the index is made for this run alone.
  package var isAutomaticIndex: Bool { detail.contains(" USING AUTOMATIC ") }

  /// Whether the step goes by the table's primary key.
  package var usesPrimaryKey: Bool { detail.contains(" PRIMARY KEY") }

  /// Whether the table isn't a stored one: an integer array, an R-tree, a full-text index.
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

extension QueryPlan {
  /// The plan with the condition of each partial index that is scanned behind its name.
  ///
  /// `SCAN t0 USING INDEX warm` becomes `SCAN t0 USING INDEX warm WHERE ZLATITUDE > 50`: SQLite's words do
  /// not distinguish such a scan from one of all rows. The printed form can be read back.
  /// - Parameter condition: The condition of the index of a name; nil when it is not partial.
  package func telling(
    conditionsOfPartialIndexes condition: (String) -> String?
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

  /// The condition of the partial index that is scanned; nil for any other step, and as long as it
  /// isn't set.
  package var partialCondition: String? {
    guard operation == .scan, let mark = detail.firstRange(of: QueryPlan.Node.conditionMark) else {
      return nil
    }
    return String(detail[mark.upperBound...])
  }
}

extension Connection {
  /// The condition of a partial index, on one line; nil for any other index.
  ///
  /// One statement.
  package func conditionOfIndex(_ name: String) -> String? {
    let rows = try? values(
      "SELECT sql FROM sqlite_master WHERE type = 'index' AND name = ?", [.text(name)])
    guard case .text(let sql)?? = rows?.first?.first else { return nil }
    return Connection.condition(ofIndex: sql)
  }

  /// The WHERE clause of `CREATE INDEX`, outside of parentheses and quotes.
  static func condition(ofIndex sql: String) -> String? {
    var depth = 0
    var quote: Character?
    var word = ""
    for place in sql.indices {
      let character = sql[place]
      if let open = quote {
        if character == open { quote = nil }
      } else if "'\"`".contains(character) {
        quote = character
      } else if character == "(" {
        depth += 1
      } else if character == ")" {
        depth -= 1
      }
      word = character.isLetter && quote == nil && depth == 0 ? word + character.uppercased() : ""
      guard word == "WHERE" else { continue }
      let condition = sql[sql.index(after: place)...].split(whereSeparator: \.isWhitespace)
      return condition.joined(separator: " ")
    }
    return nil
  }
}

extension QueryPlan {
  /// Reads a plan that was printed: by the `sqlite3` shell, by `lines`, or by SQLDebug.
  ///
  /// Takes the tree of newer libraries (`` `--SEARCH t0 … ``) and the columns of older ones
  /// (`0|0|0|SEARCH TABLE …`), with or without the line `QUERY PLAN`. Other lines are left out, so
  /// text without a plan gives one without steps.
  package init(lines: [String]) {
    var rows: [Row] = []
    /// The numbers of the steps that are open, from the outside in.
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

  /// The depth and the words of a line such as `|  |--SCAN t1`.
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

  /// The words of a line such as `0|0|0|SCAN TABLE ZMOOD AS t0`.
  private static func column(_ line: String) -> String? {
    let parts = line.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, parts[..<3].allSatisfy({ Int($0) != nil }) else { return nil }
    return String(parts[3])
  }
}

extension QueryPlan {
  /// The steps that read every row of a stored table or of one of its indexes.
  ///
  /// `SCAN … USING COVERING INDEX` is one: it reads the whole index. Scans of integer arrays and
  /// other virtual tables, of constant rows and of subqueries are not; a subquery that is read
  /// under another name can't be distinguished from a table and counts.
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

  /// Whether some stored table is read as a whole.
  package var isFullScan: Bool {
    !fullScans.isEmpty
  }

  /// What the temp B-trees of the plan are for: `ORDER BY`, `GROUP BY`, `DISTINCT`,
  /// `UNION`, or `RIGHT PART OF ORDER BY` where an index gives the first part.
  package var tempBTrees: [String] {
    nodes.compactMap(\.tempBTreePurpose)
  }

  /// Whether the plan uses a temp B-tree.
  package var usesTempBTree: Bool {
    !tempBTrees.isEmpty
  }

  /// Whether some table is searched by its primary key.
  package var searchesPrimaryKey: Bool {
    nodes.contains { $0.operation == .search && $0.usesPrimaryKey }
  }

  /// Whether SQLite makes an index for this statement alone, each time it runs.
  package var usesAutomaticIndex: Bool {
    nodes.contains(where: \.isAutomaticIndex)
  }

  /// The names of the stored indexes used, in plan order, each once.
  package var indexes: [String] {
    var names: [String] = []
    for case let name? in nodes.map(\.index) where !names.contains(name) {
      names.append(name)
    }
    return names
  }
}
