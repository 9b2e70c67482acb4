package import SQLiteDriver
import WorkbenchText

/// Rows that one run of a statement visits, as `sqlite_stat1` lets one guess.
///
/// Ours, not SQLite's: the library does not tell what it expected. A scan visits the rows the table
/// had when it was analysed; a search the average number of entries for the columns compared with
/// `=`, and a quarter of them for each bound of a range. A `LIMIT` is left out of account.
package struct PlanEstimate: Sendable, Equatable, CustomStringConvertible {
  /// Rows and index entries of all loops of one run.
  package let rows: Int

  /// An estimate that was made before.
  package init(rows: Int) {
    self.rows = rows
  }

  /// Estimates a plan.
  ///
  /// Nil when the statistics do not know one of the tables, or the plan reads none.
  package init?(_ plan: QueryPlan, sql: String, statistics: TableStatistics) {
    guard !statistics.isEmpty,
      let loops = Loops(plan.roots, sql: sql, statistics: statistics), loops.reads
    else { return nil }
    rows = Int(min(loops.visits.rounded(.up), 1e15))
  }

  /// `~5,000 rows visited a run (our estimate from sqlite_stat1)`.
  package var description: String {
    "~\(NumberText.counted(rows, "row")) visited a run (our estimate from sqlite_stat1)"
  }

  /// Nested loops, from the outside in.
  private struct Loops {
    /// Rows visited by all of them together.
    var visits = 0.0
    /// Rows that come out of the innermost, for each of which what follows runs.
    var passes = 1.0
    var reads = false

    init?(_ nodes: [QueryPlan.Node], sql: String, statistics: TableStatistics) {
      for node in nodes where !node.isVirtualTable {
        var inside = 1.0
        if node.operation != .other, node.table != nil {
          guard let rows = Loops.rows(of: node, sql: sql, statistics) else { return nil }
          visits += passes * rows
          passes *= max(rows, 1)
          reads = true
        } else if node.detail.hasPrefix("CORRELATED ") {
          inside = passes
        }
        guard let inner = Loops(node.children, sql: sql, statistics: statistics) else { return nil }
        visits += inside * inner.visits
        reads = reads || inner.reads
        if node.detail == "MULTI-INDEX OR" { passes *= max(inner.visits, 1) }
      }
    }

    private static func rows(
      of node: QueryPlan.Node, sql: String, _ statistics: TableStatistics
    ) -> Double? {
      let terms = (node.constraint ?? "").split(separator: " ").filter { $0 != "AND" }
      let bounds = terms.count { $0.contains("<") || $0.contains(">") }
      let part = 1 / Double(1 << (2 * bounds))
      if node.operation == .search, node.usesPrimaryKey, bounds == 0 { return 1 }
      if let index = node.index {
        let equal = node.operation == .scan ? 0 : terms.count { $0.hasSuffix("=?") }
        return statistics.entries(of: index, equal: equal).map { max(Double($0) * part, 1) }
      }
      if node.isAutomaticIndex { return 1 }
      let name = node.table ?? ""
      let table = StatementTables.table(of: name, in: sql) ?? name
      return statistics.rows(of: table).map { Double($0) * part }
    }
  }
}
