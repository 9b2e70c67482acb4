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
