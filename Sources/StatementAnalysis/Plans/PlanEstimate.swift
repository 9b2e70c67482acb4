package import SQLiteDriver
import WorkbenchText

/// An estimate of the rows that one execution of a statement visits, based on `sqlite_stat1`.
///
/// It isn't SQLite's own estimate, which the library doesn't provide. A scan visits the rows that
/// the table had when it was analyzed. A search visits the average number of entries for the
/// columns compared with `=`, and a quarter of them for each bound of a range. An automatic index
/// is built once, by a scan, and its searches visit one row. The estimate ignores a `LIMIT`.
package struct PlanEstimate: Sendable, Equatable, CustomStringConvertible {
  /// The rows and index entries that all loops of one execution visit.
  package let rows: Int

  /// Creates an estimate from a number of rows.
  package init(rows: Int) {
    self.rows = rows
  }

  /// Estimates a plan.
  ///
  /// Returns `nil` if the statistics don't contain one of the tables, or if the plan reads no
  /// table.
  package init?(_ plan: QueryPlan, sql: String, statistics: TableStatistics) {
    guard !statistics.isEmpty,
      let loops = Loops(plan.roots, outline: SQLOutline(sql), statistics), loops.reads
    else { return nil }
    let visits = loops.visits + loops.builds
    // A product of infinity and 0 isn't a number.
    rows = visits < 1e15 ? Int(visits.rounded(.up)) : 1_000_000_000_000_000
  }

  /// The estimate as text: `~5,000 rows visited per run (estimated from sqlite_stat1)`.
  package var description: String {
    "~\(NumberText.counted(rows, "row")) visited per run (estimated from sqlite_stat1)"
  }

  /// Nested loops, outermost first.
  private struct Loops {
    /// The number of rows that all loops visit.
    var visits = 0.0
    /// The number of rows that are scanned to build automatic indexes, once for each execution.
    var builds = 0.0
    /// The number of rows that the innermost loop produces; the next loop runs once for each.
    var passes = 1.0
    var reads = false

    init?(_ nodes: [QueryPlan.Node], outline: SQLOutline, _ statistics: TableStatistics) {
      for node in nodes where !node.isVirtualTable {
        var inside = 1.0
        if node.operation != .other, node.table != nil {
          guard let rows = Loops.rows(of: node, outline, statistics) else { return nil }
          if node.isAutomaticIndex {
            guard let all = Loops.rows(ofTableOf: node, outline, statistics) else { return nil }
            builds += all
          }
          visits += passes * rows
          passes *= max(rows, 1)
          reads = true
        } else if node.detail.hasPrefix("CORRELATED ") || node.detail == "MULTI-INDEX OR" {
          inside = passes
        }
        guard let inner = Loops(node.children, outline: outline, statistics) else { return nil }
        visits += inside * inner.visits
        builds += inner.builds
        reads = reads || inner.reads
        if node.detail == "MULTI-INDEX OR" { passes *= max(inner.visits, 1) }
      }
    }

    private static func rows(
      of node: QueryPlan.Node, _ outline: SQLOutline, _ statistics: TableStatistics
    ) -> Double? {
      let terms = (node.constraint ?? "").split(separator: " ").filter { $0 != "AND" }
      let bounds = terms.count { $0.hasSuffix("<?") || $0.hasSuffix(">?") }
      let part = 1 / Double(1 << (2 * bounds))
      if node.operation == .search, node.usesPrimaryKey, bounds == 0 { return 1 }
      if let index = node.index {
        // A skip-scan searches once for each value of the leading columns, `ANY(column)`.
        let skipped = terms.prefix { $0.hasPrefix("ANY(") }.count
        let equal = node.operation == .scan ? 0 : skipped + terms.count { $0.hasSuffix("=?") }
        let searches = statistics.values(of: index, columns: skipped)
        return statistics.entries(of: index, equal: equal).map {
          max(Double($0) * searches * part, 1)
        }
      }
      if node.isAutomaticIndex { return 1 }
      return rows(ofTableOf: node, outline, statistics).map { $0 * part }
    }

    private static func rows(
      ofTableOf node: QueryPlan.Node, _ outline: SQLOutline, _ statistics: TableStatistics
    ) -> Double? {
      let name = node.table ?? ""
      return statistics.rows(of: outline.table(of: name) ?? name).map { Double($0) }
    }
  }
}

/// The statistics of `ANALYZE` on a store's tables and indexes.
package struct TableStatistics: Sendable {
  /// The number of rows, by table.
  private var rows: [String: Int] = [:]
  /// By index: the number of entries, then the average number for one value of the first column,
  /// for one pair of values of the first two columns, and so on.
  private var indexes: [String: [Int]] = [:]

  /// Reads `sqlite_stat1`.
  ///
  /// The statistics are empty if `ANALYZE` has never run. **Cost:** two SELECTs, which aren't
  /// recorded.
  init(_ connection: Connection) {
    guard
      (try? connection.values("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'"))?.isEmpty
        == false
    else { return }
    for values in (try? connection.values("SELECT tbl, idx, stat FROM sqlite_stat1")) ?? [] {
      guard case .text(let table) = values[0], case .text(let text) = values[2] else { continue }
      let numbers = text.split(separator: " ").map { Int($0) }.prefix { ($0 ?? -1) >= 0 }
        .compactMap(\.self)
      guard let all = numbers.first else { continue }
      if case .text(let index) = values[1] { indexes[index] = numbers }
      rows[table] = max(all, rows[table] ?? 0)
    }
  }

  /// Whether there are no statistics because `ANALYZE` has never run.
  package var isEmpty: Bool { rows.isEmpty }

  /// Returns the number of rows of a table when it was analyzed, or `nil` if it wasn't analyzed or
  /// was empty.
  package func rows(of table: String) -> Int? { rows[table] }

  /// Returns the average number of entries of an index with the same values in its leftmost
  /// columns.
  ///
  /// - Parameters:
  ///   - index: The index's name.
  ///   - columns: The number of leftmost columns compared with `=`; 0 for the whole index.
  func entries(of index: String, equal columns: Int) -> Int? {
    guard let numbers = indexes[index], !numbers.isEmpty else { return nil }
    return numbers[min(columns, numbers.count - 1)]
  }

  /// Returns the number of different values in the leftmost columns of an index, at least 1.
  func values(of index: String, columns: Int) -> Double {
    guard let all = entries(of: index, equal: 0), let each = entries(of: index, equal: columns)
    else { return 1 }
    return max(Double(all) / Double(max(each, 1)), 1)
  }
}
