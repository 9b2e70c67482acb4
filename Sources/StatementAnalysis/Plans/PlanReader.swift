package import Foundation
import OpenCoreData
package import SQLiteDriver

/// Asks SQLite how it would run captured SQL on a store, without changing a byte of it.
///
/// Apple's functions, collations and `_Z_intarrayN` are there, so that what Apple's framework logs can
/// be explained too. Use it on one thread at a time.
package final class PlanReader {
  private let connection: Connection
  /// What `ANALYZE` left in the store when it was opened.
  package let statistics: TableStatistics

  /// - Parameter isOpenElsewhere: whether somebody writes the store now; it is then read beside them.
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
  /// - Parameter binds: what one of its runs bound, as it is recorded; nil when nobody knows.
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

  /// What one run visits, by the store's statistics; nil where they do not tell.
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
