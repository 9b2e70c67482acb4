package import Foundation
import OpenCoreData
package import ProfileEvents
package import SQLiteDriver
import WorkbenchText

/// Asks SQLite how it would run captured SQL on a store, without changing a byte of it.
///
/// Apple's functions, collations and `_Z_intarrayN` are there, so that what Apple's framework logs can
/// be explained too. Use it on one thread at a time.
package final class PlanReader {
  private let connection: Connection
  /// What `ANALYZE` left in the store when it was opened.
  package let statistics: TableStatistics

  /// - Parameter isOpenElsewhere: whether the store is being written now; the read then runs concurrently.
  /// - Throws: `SQLiteError` when the file cannot be opened.
  package init(storeURL: URL, isOpenElsewhere: Bool = false) throws {
    connection = try StoreConnection.open(
      path: storeURL.path, access: isOpenElsewhere ? .reading : .looking)
    statistics = TableStatistics(connection)
  }

  deinit {
    connection.close()
  }

  /// The plan of a statement; a scan of a partial index says its condition.
  ///
  /// Cost: the statement is prepared, not run; one SELECT more for an index that is scanned.
  /// - Parameter binds: what one of its runs bound, as it is recorded; nil if unknown.
  /// - Throws: `SQLiteError` when it cannot be prepared on this store.
  package func plan(of sql: String, binds: [String]? = nil) throws(SQLiteError) -> QueryPlan {
    try connection.explainQueryPlan(sql, binds: (binds ?? []).map(BindText.value))
      .telling(conditionsOfPartialIndexes: connection.conditionOfIndex)
  }

  /// The plan as a tree, line by line; the reason when there is none.
  package func lines(of sql: String, binds: [String]? = nil) -> [String] {
    do {
      return try plan(of: sql, binds: binds).lines
    } catch {
      return ["no plan: \(error)"]
    }
  }

  /// What one run visits, by the store's statistics; nil if they're missing.
  package func estimate(of sql: String, binds: [String]? = nil) -> PlanEstimate? {
    guard let plan = try? plan(of: sql, binds: binds) else { return nil }
    return PlanEstimate(plan, sql: sql, statistics: statistics)
  }

  /// Shapes with their plans, verdicts and estimates.
  package func explain(_ shapes: [StatementShape]) -> [StatementShape] {
    shapes.map { shape in
      do {
        let plan = try plan(of: shape.sql, binds: shape.binds)
        var explained = shape.explained(by: plan.lines)
        explained.estimate = PlanEstimate(plan, sql: shape.sql, statistics: statistics)
        return explained
      } catch {
        var unexplained = shape
        unexplained.plan = ["no plan: \(error)"]
        return unexplained
      }
    }
  }
}

/// A statement's plan, work and estimate as lines for people.
package enum PlanText {
  /// A shape with what it cost and how SQLite runs it: the head, the work, the plan, the verdict.
  package static func lines(_ shape: StatementShape) -> [String] {
    let rows = NumberText.counted(shape.rows, "row")
    var facts = [rows] + work(shape.work, runs: shape.count)
    if let estimate = shape.estimate { facts.append(estimate.description) }
    var lines = [
      "#\(shape.number)  \(NumberText.grouped(shape.count)) x  \(SQLAbbreviation.short(shape.sql))",
      "    " + facts.joined(separator: " · "),
    ]
    lines += shape.plan.map { "    \($0)" }
    if !shape.verdict.isEmpty { lines.append("    \(shape.verdict)") }
    return lines
  }

  /// `95,000 VM steps (19 a run)`, `5,000 rows scanned`, `1 sort`, `60 function calls`.
  ///
  /// - Parameters:
  ///   - work: nil if it was not counted.
  ///   - runs: How often the statement ran.
  package static func work(_ work: StatementWork?, runs: Int) -> [String] {
    guard let work else { return [] }
    var steps = NumberText.counted(work.vmSteps, "VM step")
    if runs > 1 { steps += " (\(NumberText.grouped(work.vmSteps / runs)) a run)" }
    let others: [(Int, String, String)] = [
      (work.fullScanSteps, "row scanned", "rows scanned"), (work.sorts, "sort", "sorts"),
      (work.autoIndexRows, "row into an automatic index", "rows into automatic indexes"),
      (work.functionCalls, "function call", "function calls"),
      (work.collationCalls, "collation call", "collation calls"),
    ]
    return [steps]
      + others.filter { $0.0 > 0 }.map { NumberText.counted($0.0, $0.1, $0.2) }
  }
}

/// Rows that one run of a statement visits, as `sqlite_stat1` lets one guess.
///
/// Ours, not SQLite's: the library doesn't provide its estimate. A scan visits the rows the table
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
      let loops = Loops(plan.roots, outline: SQLOutline(sql), statistics), loops.reads
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

    init?(_ nodes: [QueryPlan.Node], outline: SQLOutline, _ statistics: TableStatistics) {
      for node in nodes where !node.isVirtualTable {
        var inside = 1.0
        if node.operation != .other, node.table != nil {
          guard let rows = Loops.rows(of: node, outline, statistics) else { return nil }
          visits += passes * rows
          passes *= max(rows, 1)
          reads = true
        } else if node.detail.hasPrefix("CORRELATED ") {
          inside = passes
        }
        guard let inner = Loops(node.children, outline: outline, statistics) else { return nil }
        visits += inside * inner.visits
        reads = reads || inner.reads
        if node.detail == "MULTI-INDEX OR" { passes *= max(inner.visits, 1) }
      }
    }

    private static func rows(
      of node: QueryPlan.Node, _ outline: SQLOutline, _ statistics: TableStatistics
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
      let table = outline.table(of: name) ?? name
      return statistics.rows(of: table).map { Double($0) * part }
    }
  }
}

/// What `ANALYZE` has written down about a store's tables and indexes.
package struct TableStatistics: Sendable {
  /// Rows by table.
  private var rows: [String: Int] = [:]
  /// By index: entries in all, then entries for one value of the first column, then of the first two.
  private var indexes: [String: [Int]] = [:]

  /// Reads `sqlite_stat1`.
  ///
  /// Nothing is known where `ANALYZE` has never run. Cost: two reads, not recorded.
  init(_ connection: Connection) {
    guard
      (try? connection.values("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'"))?.isEmpty
        == false
    else { return }
    for values in (try? connection.values("SELECT tbl, idx, stat FROM sqlite_stat1")) ?? [] {
      guard case .text(let table) = values[0], case .text(let text) = values[2] else { continue }
      let numbers = text.split(separator: " ").prefix { Int($0) != nil }.compactMap { Int($0) }
      guard let all = numbers.first else { continue }
      if case .text(let index) = values[1] { indexes[index] = numbers }
      rows[table] = max(all, rows[table] ?? 0)
    }
  }

  /// Whether `ANALYZE` has never run.
  package var isEmpty: Bool { rows.isEmpty }

  /// The rows of a table when it was analysed; nil when it was not, or was empty.
  package func rows(of table: String) -> Int? { rows[table] }

  /// Entries of an index that have the same values in its first columns.
  ///
  /// - Parameter columns: How many of them are compared with `=`; 0 for the whole index.
  func entries(of index: String, equal columns: Int) -> Int? {
    guard let numbers = indexes[index], !numbers.isEmpty else { return nil }
    return numbers[min(columns, numbers.count - 1)]
  }
}
