/// The engine of a run that didn't use SQLite.
package struct EngineDescription: Sendable, Equatable, Codable {
  /// The name of the database, `PostgreSQL`.
  package var name: String
  package var version: String
  /// What makes its costs differ from those of another server; `nil` for nothing.
  package var conditions: String?

  package init(name: String, version: String, conditions: String? = nil) {
    self.name = name
    self.version = version
    self.conditions = conditions
  }

  /// The engine for display: `PostgreSQL 17.2, 20 ms for each round trip`.
  package var text: String {
    "\(name) \(version)" + (conditions.map { ", \($0)" } ?? "")
  }
}
