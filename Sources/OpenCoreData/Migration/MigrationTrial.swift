import ManagedModel
import ProfileEvents
import SQLiteDriver

/// A lightweight migration of a store that's a copy, with what each step did and what didn't fit.
package struct MigrationTrial: Sendable {
  /// A statement of the migration.
  package struct Step: Sendable {
    /// What the statement does, such as `Mood: add ZRATING`.
    package let name: String
    package let sql: String
    /// The number of rows that it inserted, updated, or deleted.
    package let rows: Int
    package let seconds: Double
  }

  /// Rows that don't fit the new version, which fail the migration of the original.
  package struct Violation: Sendable {
    package let entity: String
    /// The property; the names of several for a uniqueness constraint.
    package let property: String
    /// The number of rows; nil for duplicates, which aren't counted.
    package let rows: Int?
    /// What's wrong, and what to do about it, in two sentences.
    package let reason: String
  }

  /// The statements, in the order in which they ran; those that failed are omitted.
  package private(set) var steps: [Step] = []
  /// Everything that fails the migration of the original.
  package private(set) var violations: [Violation] = []

  /// Migrates a copy in place; unlike a migration, it goes on after rows that don't fit.
  ///
  /// Cost: that of the migration, and one `SELECT COUNT` for each check.
  /// - Parameters:
  ///   - url: The copy. If there are violations, it has a state that no migration leaves.
  ///   - mapping: The mapping, without obstacles.
  /// - Throws: `SQLiteError`, or an error if the store's tables aren't those of its model.
  package init(ofCopyAt url: URL, mapping: InferredMapping) throws {
    var (steps, violations): ([Step], [Violation]) = ([], [])
    var migration = LightweightMigration(
      url: url, mapping: mapping, configuration: nil, options: nil, hub: EventHub())
    migration.completed = { statement, rows, seconds in
      steps.append(
        Step(name: statement.purpose, sql: statement.sql, rows: rows, seconds: seconds))
    }
    migration.failed = { failure in
      violations.append(
        Violation(
          entity: failure.entity, property: failure.property, rows: failure.rows.map { Int($0) },
          reason: failure.reason))
    }
    do {
      try migration.run()
    } catch {
      throw NSError.migrating(error, url)
    }
    (self.steps, self.violations) = (steps, violations)
  }
}
