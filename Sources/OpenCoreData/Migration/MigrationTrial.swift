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
    /// The property; the names of several for a uniqueness constraint; empty if the objects
    /// themselves don't fit.
    package let property: String
    /// The number of rows; `nil` if they weren't counted.
    package let rows: Int?
    /// What's wrong, and what to do about it, in two sentences.
    package let reason: String
    /// Some of the duplicate values of a uniqueness constraint, with their numbers of rows.
    ///
    /// They can be private.
    package fileprivate(set) var samples: [String] = []

    package init(entity: String, property: String, rows: Int?, reason: String) {
      (self.entity, self.property, self.rows, self.reason) = (entity, property, rows, reason)
    }
  }

  /// The statements, in the order in which they ran; those that failed are omitted.
  package private(set) var steps: [Step] = []
  /// Everything that fails the migration of the original.
  package private(set) var violations: [Violation] = []

  /// Migrates a copy in place; unlike a migration, it continues after rows that don't fit.
  ///
  /// **Cost:** that of the migration, and one `SELECT COUNT` for each check.
  /// - Parameters:
  ///   - url: The copy. If there are violations, it has a state that no migration leaves.
  ///   - mapping: The mapping, without obstacles.
  ///   - configuration: The configuration of the models that the copy contains; `nil` for all
  ///     entities.
  ///   - limits: The limits of the statements.
  ///   - observer: Called when files are large: after each statement, and before the WAL is
  ///     checkpointed.
  /// - Throws: `SQLiteError`, or an error if the store's tables aren't those of its model.
  package init(
    ofCopyAt url: URL, mapping: InferredMapping, configuration: String? = nil,
    limits: RehearsalLimits = RehearsalLimits(), observer: @escaping () -> Void = {}
  ) throws {
    var steps: [Step] = []
    var failures: [MigrationFailure] = []
    var migration = LightweightMigration(
      url: url, mapping: mapping, configuration: configuration, options: nil, hub: EventHub())
    migration.completed = { statement, rows, seconds in
      steps.append(
        Step(name: statement.purpose, sql: statement.sql, rows: rows, seconds: seconds))
      observer()
    }
    migration.committed = observer
    migration.limits = limits
    migration.failed = { failures.append($0) }
    do {
      try migration.run()
      self.steps = steps
      violations = try failures.map { try Self.violation($0, of: migration) }
    } catch {
      throw NSError.migrating(error, url)
    }
  }

  /// Returns the violation of a failure, with the duplicates in the migrated copy.
  private static func violation(
    _ failure: MigrationFailure, of migration: LightweightMigration
  ) throws -> Violation {
    var (rows, samples) = (failure.rows, [String]())
    if failure.problem.isConflict {
      let connection = try Connection(path: migration.url.path, access: .inspecting)
      defer { connection.close() }
      try StoreFunctions.register(on: connection) { _ in }
      let names = failure.property.components(separatedBy: ", ")
      let mapped = try SQLModel(
        model: migration.mapping.destination, configuration: migration.configuration,
        connection: connection)
      (rows, samples) = try duplicates(of: names, failure.entity, mapped, on: connection)
    }
    let known = MigrationFailure(
      problem: failure.problem, entity: failure.entity, property: failure.property, rows: rows)
    var violation = Violation(
      entity: failure.entity, property: failure.property, rows: rows.map { Int($0) },
      reason: known.reason)
    violation.samples = samples
    return violation
  }

  private static let sampleLimit = 5
  private static let sampleLength = 80

  /// Returns the number of rows whose values aren't unique, and the most frequent values.
  ///
  /// The unique index contains all rows of the table, including those of entities other than
  /// the one that declares the constraint.
  ///
  /// **Cost:** two full table scans.
  private static func duplicates(
    of names: [String], _ entity: String, _ mapped: SQLModel, on connection: Connection
  ) throws -> (rows: Int64?, samples: [String]) {
    guard let entity = mapped.entity(named: entity) else { return (nil, []) }
    let columns = names.compactMap { entity.column(named: $0).map { SQLSyntax.quoted($0.name) } }
    guard columns.count == names.count, !columns.isEmpty else { return (nil, []) }
    let groups =
      "FROM \(SQLSyntax.quoted(entity.table)) WHERE "
      + columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
      + " GROUP BY \(columns.joined(separator: ", ")) HAVING COUNT(*) > 1"
    let sum = try connection.values("SELECT SUM(n) FROM (SELECT COUNT(*) AS n \(groups))")
    let parts = columns.map { name in
      "CASE WHEN typeof(\(name)) IN ('text', 'blob') THEN substr(\(name), 1, \(sampleLength)) "
        + "ELSE \(name) END"
    }
    let samples = try connection.values(
      "SELECT COUNT(*), \(parts.joined(separator: ", ")) \(groups) "
        + "ORDER BY COUNT(*) DESC, 2 LIMIT \(sampleLimit)")
    guard case .integer(let rows)? = sum.first?.first else { return (nil, []) }
    return (
      rows,
      samples.map { row in
        let values = row.dropFirst().map(\.literal)
        guard case .integer(let count)? = row.first else { return "" }
        return "\(values.joined(separator: ", ")) (\(count) objects)"
      }
    )
  }
}
