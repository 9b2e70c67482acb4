import ManagedModel
import ProfileEvents
import SQLiteDriver

/// The end of deferred lightweight migrations of a store: one unit of their deferred work.
///
/// A unit drops a table that no entity or relationship has any longer, or removes columns and
/// indexes from a table by copying its rows. It's one transaction, so if the process ends, the next
/// unit is the same one.
struct DeferredMigration {
  /// The model of the store.
  let model: NSManagedObjectModel
  /// The configuration of the model that the store contains; `nil` for all entities.
  let configuration: String?
  /// Receives an event for each statement.
  let hub: EventHub
  /// The log of the unit; `nil` for none.
  let log: MigrationDebugLog?

  /// Runs the next unit.
  ///
  /// **Cost:** one statement for a table to drop; for one to copy, the statements of a lightweight
  /// migration that removes a column. Memory doesn't grow with the rows.
  /// - Parameter connection: A connection with SQLite's functions, outside of a transaction.
  /// - Returns: The metadata of the store afterward; `nil` if there was no work.
  func runNext(on connection: Connection) throws -> StoreMetadata? {
    let events = MigrationEvents(hub)
    try connection.execute("BEGIN IMMEDIATE")
    do {
      var metadata = try StoreMetadata(reading: connection)
      let pending = DeferredWork(metadata.values)
      // Another coordinator may have finished it.
      guard !pending.isEmpty else {
        try connection.execute("ROLLBACK")
        return nil
      }
      // Triggers of other tables keep the name of a table that's renamed and re-created.
      try connection.execute("PRAGMA legacy_alter_table=ON")
      defer { try? connection.execute("PRAGMA legacy_alter_table=OFF") }
      let remaining = try runUnit(of: pending, metadata, on: connection, events)
      remaining.write(to: &metadata.values)
      try metadata.write(to: connection)
      try connection.execute("COMMIT")
      events?.end(.deferredUnit, "a unit of a deferred migration")
      return metadata
    } catch {
      // The original error is the one to report.
      try? connection.execute("ROLLBACK")
      throw error
    }
  }

  /// Runs a unit, and returns the work that remains.
  private func runUnit(
    of work: DeferredWork, _ metadata: StoreMetadata, on connection: Connection,
    _ events: MigrationEvents?
  ) throws -> DeferredWork {
    if let table = work.tables.first {
      var work = work
      work.tables.removeFirst()
      let statement = MigrationStatements.Statement(
        phase: .dropTables, purpose: "drop the unused table \(table)",
        sql: "DROP TABLE IF EXISTS \(SQLSyntax.quoted(table))", values: [],
        table: nil, work: .schema)
      try run(statement, on: connection, events)
      return work
    }
    guard let table = work.changed.first else { return work }
    let plan = try LightweightMigrationPlan(
      InferredMapping(keeping: model), configuration: configuration, of: metadata,
      reading: connection, cleanup: .of(table: table))
    try plan.withoutTriggers(on: connection) {
      for statement in plan.statements.all {
        do throws(SQLiteError) {
          try run(statement, on: connection, events)
        } catch {
          throw plan.explained(error, of: statement)
        }
      }
    }
    return plan.deferred
  }

  private func run(
    _ statement: MigrationStatements.Statement, on connection: Connection,
    _ events: MigrationEvents?
  ) throws(SQLiteError) {
    let (rows, seconds) = try statement.run(on: connection, events)
    log?.step(statement.purpose, rows: rows, seconds: seconds, sql: statement.sql)
  }
}

extension SQLiteStore {
  /// Runs the next unit of the deferred work of the store's migrations.
  ///
  /// **Cost:** none if there's no work; otherwise as `DeferredMigration.runNext`.
  /// - Returns: Whether there was work.
  /// - Throws: 134110 for a read-only store, and for the errors of SQLite; the file is unchanged
  ///   then.
  func finishDeferredTask(_ hub: EventHub, _ log: MigrationDebugLog?) throws -> Bool {
    guard !DeferredWork(metadata).isEmpty, let url else { return false }
    guard !opensReadOnly else {
      throw NSError.coreData(
        NSMigrationError,
        "The store \(url.relativePath) is open read-only, so its deferred migration can't be "
          + "finished. Open it for writing.", [NSFilePathErrorKey: url.path])
    }
    log?.note("store \(url.path): a unit of deferred work: \(DeferredWork(metadata))")
    do {
      return try pool.withWriter { connection in
        defer { _ = derived.take() }
        try checkIsNotMoving()
        let migration = DeferredMigration(
          model: mapping.model, configuration: configuration, hub: hub, log: log)
        let result = try migration.runNext(on: connection)
        let work = result.map { DeferredWork($0.values) } ?? DeferredWork()
        updateStoredMetadata { work.write(to: &$0) }
        return result != nil
      }
    } catch {
      throw NSError.migrating(error, url)
    }
  }
}
