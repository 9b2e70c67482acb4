package import Foundation
import OpenCoreData
import SQLiteDriver

/// Asks SQLite how it would run captured SQL on a store, without changing a byte of it.
package final class PlanReader {
  private let connection: Connection

  /// - Parameter isOpenElsewhere: whether somebody writes the store now; it is then read beside them.
  /// - Throws: `SQLiteError` when the file cannot be opened.
  package init(storeURL: URL, isOpenElsewhere: Bool = false) throws {
    connection = try StoreConnection.open(
      path: storeURL.path, access: isOpenElsewhere ? .reading : .looking)
  }

  deinit {
    connection.close()
  }

  /// The plan as a tree, line by line; the reason when there is none.
  package func lines(of sql: String) -> [String] {
    do {
      return try connection.explainQueryPlan(sql).lines
    } catch {
      return ["no plan: \(error)"]
    }
  }

  /// Shapes with their plans and verdicts.
  package func explain(_ shapes: [StatementShape]) -> [StatementShape] {
    shapes.map { $0.explained(by: lines(of: $0.sql)) }
  }
}
