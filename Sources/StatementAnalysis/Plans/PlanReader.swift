package import ProfileEvents
package import SQLiteDriver
import WorkbenchText

/// Reads SQLite's query plans for captured SQL on a store, without modifying the store.
///
/// Core Data's functions, collations, and `_Z_intarrayN` tables are available, so statements that
/// Core Data logs on Apple platforms can be explained too. Use a plan reader on one thread at a
/// time.
package final class PlanReader {
  private let connection: Connection
  /// The statistics of `ANALYZE` that the store contained when it was opened.
  package let statistics: TableStatistics
  /// The indexes of the store; empty if they can't be read.
  ///
  /// **Cost:** one SELECT the first time.
  package private(set) lazy var present: [FileIndex] =
    (try? FileIndex.all(on: connection)) ?? []

  /// Creates a reader for a store.
  ///
  /// - Parameter connection: The connection to the store, which the reader closes.
  package init(_ connection: Connection) {
    self.connection = connection
    statistics = TableStatistics(connection)
  }

  deinit {
    connection.close()
  }

  /// Returns the plan of a statement, in which a scan of a partial index includes the index's WHERE
  /// clause.
  ///
  /// **Cost:** prepares the statement without running it, plus one SELECT for an index that's
  /// scanned.
  ///
  /// - Parameters:
  ///   - sql: The statement.
  ///   - binds: The recorded bound values of one execution, or `nil` if they're unknown.
  /// - Throws: A `SQLiteError` if the statement can't be prepared on this store.
  package func plan(of sql: String, binds: [String]? = nil) throws(SQLiteError) -> QueryPlan {
    try connection.explainQueryPlan(sql, binds: (binds ?? []).map(BindText.value))
      .addingConditions(ofPartialIndexes: connection.conditionOfIndex)
  }

  /// Returns the lines of the plan's tree, or one line with the reason why there's no plan.
  package func lines(of sql: String, binds: [String]? = nil) -> [String] {
    do {
      return try plan(of: sql, binds: binds).lines
    } catch {
      return [Self.reason(error)]
    }
  }

  /// Returns the reason why there's no plan, on one line and without the statement.
  private static func reason(_ error: SQLiteError) -> String {
    "no plan: \(error.code.name): \(error.message)"
  }

  /// Returns the estimated number of rows that one execution visits, or `nil` if the store has no
  /// statistics.
  package func estimate(of sql: String, binds: [String]? = nil) -> PlanEstimate? {
    guard let plan = try? plan(of: sql, binds: binds) else { return nil }
    return PlanEstimate(plan, sql: sql, statistics: statistics)
  }

  /// Returns the statements with their plans, assessments, and estimates.
  package func explain(_ shapes: [StatementShape]) -> [StatementShape] {
    shapes.map { shape in
      do throws(SQLiteError) {
        let plan = try plan(of: shape.sql, binds: shape.binds)
        var explained = shape.explained(by: plan.lines, present: present)
        explained.estimate = PlanEstimate(plan, sql: shape.sql, statistics: statistics)
        return explained
      } catch {
        var unexplained = shape
        unexplained.plan = [Self.reason(error)]
        return unexplained
      }
    }
  }
}

/// The text format of a statement's plan, work, and estimate.
package enum PlanText {
  /// Returns the lines that describe a statement: the SQL, the work, the plan, and the assessment.
  package static func lines(_ shape: StatementShape) -> [String] {
    let rows = NumberText.counted(shape.rows, "row")
    var facts = [rows] + work(shape.work, runs: shape.count)
    if let estimate = shape.estimate { facts.append(estimate.description) }
    var lines = [
      "#\(shape.number)  \(NumberText.grouped(shape.count)) x  \(SQLAbbreviation.short(shape.sql))",
      "    " + facts.joined(separator: " · "),
    ]
    lines += shape.plan.map { "    \($0)" }
    if !shape.assessment.isEmpty { lines.append("    \(shape.assessment)") }
    return lines
  }

  /// Returns descriptions of the work: `95,000 VM steps (19 per run)`, `5,000 rows scanned`,
  /// `1 sort`, `60 function calls`.
  ///
  /// - Parameters:
  ///   - work: The work, or `nil` if it wasn't counted.
  ///   - runs: The number of times that the statement ran.
  package static func work(_ work: StatementWork?, runs: Int) -> [String] {
    guard let work else { return [] }
    var steps = NumberText.counted(work.vmSteps, "VM step")
    if runs > 1 { steps += " (\(NumberText.grouped(work.vmSteps / runs)) per run)" }
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
