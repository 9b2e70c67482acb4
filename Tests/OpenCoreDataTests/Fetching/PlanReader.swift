import ManagedModel
import OpenCoreData
import SQLiteDriver

@testable import OpenCoreData

/// Reads query plans on the store of a test.
struct PlanReader {
  private let connection: Connection

  init(_ store: CityStore) throws {
    connection = try Connection(path: store.stack.storeURL.path, access: .inspecting)
    try StoreFunctions.register(on: connection)
  }

  /// The lines of the plan.
  func lines(_ sql: String) throws -> [String] {
    try connection.explainQueryPlan(sql).lines
  }
}
