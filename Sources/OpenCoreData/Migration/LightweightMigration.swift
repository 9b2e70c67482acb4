import ManagedModel
import ProfileEvents
import SQLiteDriver

/// Migrates a SQLite store in place to another version of its model, in one transaction.
///
/// Rows that don't change aren't written; primary keys, the UUID, the app's metadata, the history,
/// and the external data files of values that stay are kept. If the process ends at any point,
/// SQLite restores the old version.
struct LightweightMigration {
  let url: URL
  let mapping: InferredMapping
  /// The configuration of the models that the store contains; `nil` for all entities.
  let configuration: String?
  let options: [AnyHashable: Any]?
  /// Receives an event for each statement, and one for the migration.
  let hub: EventHub
  /// Called before each statement with the number of completed statements and of all.
  ///
  /// An error that it throws cancels the migration; the store is unchanged then.
  var progress: (_ completed: Int, _ total: Int) throws -> Void = { _, _ in }
  /// Called after each statement with the rows that it changed, and the seconds it took.
  var completed: (MigrationStatements.Statement, _ rows: Int, _ seconds: Double) -> Void = {
    _, _, _ in
  }
  /// Called after the commit, before the WAL is checkpointed.
  var committed: () -> Void = {}
  /// The log of the migration; `nil` for none.
  var log = MigrationDebugLog.requestedByArguments
  /// The version hashes of the store when its version was determined; `nil` if they aren't known.
  ///
  /// Another process can have migrated it since then.
  var expectedHashes: [String: Data]?
  /// The limits of its statements; `nil` for none.
  var limits: RehearsalLimits?
  /// Called for rows that don't fit the new version; if it throws no error, the migration
  /// continues.
  var failed: (MigrationFailure) throws -> Void = { throw $0 }

  /// Migrates the store.
  ///
  /// **Cost:** the statements of `LightweightMigrationPlan`; memory doesn't grow with the rows.
  /// - Throws: `MigrationFailure` if rows don't fit the new version; `ObjectInTheWay`,
  ///   `SchemaMismatch`, `SQLiteError`. The store is unchanged then.
  func run() throws {
    guard let log else { return try migrate() }
    log.begin(url, mapping.source, mapping.destination, "inferred mapping, in place")
    try log.run {
      do {
        try migrate()
      } catch {
        throw NSError.migrating(error, url)
      }
    }
  }

  private func migrate() throws {
    let events = MigrationEvents(hub)
    // No other connection may use a schema that changes.
    var settings = SQLiteStore.connectionOptions(options, isNew: false)
    settings.isExclusive = true
    let connection = try Connection(path: url.path, access: .writing, options: settings)
    defer { connection.close() }
    limits?.apply(to: connection)
    try StoreFunctions.register(on: connection) { _ in }
    try HistoryBits.register(on: connection)
    var lostFiles: [ExternalFile] = []
    let remains = InterruptedMigrationFiles(of: url)
    var isCommitting = false
    try connection.execute("BEGIN EXCLUSIVE")
    do {
      if remains.exist { try remains.remove(lockedBy: connection) }
      let metadata = try StoreMetadata(reading: connection)
      if let expectedHashes, metadata.hashes != expectedHashes {
        throw NSError.migratedElsewhere(url)
      }
      let plan = try LightweightMigrationPlan(
        mapping, configuration: configuration, of: metadata, reading: connection,
        cleanup: options.isSet(NSPersistentStoreDeferredLightweightMigrationOptionKey)
          ? .later : .now)
      lostFiles = try plan.lostFiles(on: connection)
      // Triggers of other tables keep the name of a table that's renamed and re-created.
      try connection.execute("PRAGMA legacy_alter_table=ON")
      let statements = plan.statements.all
      var skipped: [MigrationStatements.Statement] = []
      try plan.withoutTriggers(on: connection) {
        for (index, statement) in statements.enumerated() {
          try progress(index, statements.count)
          if try !run(statement, plan, on: connection, events) { skipped.append(statement) }
        }
      }
      if !plan.deferred.isEmpty { log?.note("deferred: \(plan.deferred)") }
      for check in plan.statements.checks where !plan.checks(check, valuesSetBy: skipped) {
        try run(check, on: connection)
      }
      try progress(statements.count, statements.count)
      try writeModel(plan, on: connection)
      if !lostFiles.isEmpty { try remains.record(Set(lostFiles.map(\.name))) }
      isCommitting = true
      try connection.execute("COMMIT")
    } catch {
      // The original error is the one to report.
      try? connection.execute("ROLLBACK")
      // A commit that fails can take effect when the WAL is recovered, which removes what's unused.
      if !lostFiles.isEmpty, !isCommitting { remains.finish() }
      throw error
    }
    committed()
    events?.end(.inferred, "migration in place, inferred")
    // What can't be removed now is removed when the store is opened.
    let unused = Set(lostFiles.map(\.name))
    if !unused.isEmpty, ExternalStorage(storeURL: url).remove(named: unused) { remains.finish() }
  }

  /// Runs a statement; again without an index, if rows violate the index and that's no error.
  ///
  /// - Returns: Whether it ran; it can't if the file's `CREATE TABLE` has the constraint.
  private func run(
    _ statement: MigrationStatements.Statement, _ plan: LightweightMigrationPlan,
    on connection: Connection, _ events: MigrationEvents?
  ) throws -> Bool {
    do {
      let (rows, seconds) = try statement.run(on: connection, events)
      completed(statement, rows, seconds)
      log?.step(statement.purpose, rows: rows, seconds: seconds, sql: statement.sql)
      return true
    } catch {
      guard let conflict = plan.conflict(of: statement, error) else {
        throw plan.explained(error, of: statement)
      }
      try failed(conflict.failure)
      // A statement that changes values can run without the index, so that all conflicts are found.
      guard try conflict.dropIndex(on: connection) else { return false }
      return try run(statement, plan, on: connection, events)
    }
  }

  private func run(_ check: MigrationStatements.Check, on connection: Connection) throws {
    guard case .integer(let count)? = try connection.values(check.sql).first?.first, count > 0
    else {
      return
    }
    try failed(
      MigrationFailure(
        problem: check.problem, entity: check.entity, property: check.property, rows: count))
  }

  private func writeModel(_ plan: LightweightMigrationPlan, on connection: Connection) throws {
    var metadata = plan.metadata.migrated(
      to: mapping.destination, configuration: mapping.destination.known(configuration))
    plan.deferred.write(to: &metadata.values)
    metadata.values[StoreMetadata.preservedAttributesKey] = plan.preservedAttributes
    try metadata.write(to: connection)
    let model = ModelArchive.write(mapping.destination)
    try connection.execute("CREATE TABLE IF NOT EXISTS Z_MODELCACHE (Z_CONTENT BLOB)")
    try connection.execute("DELETE FROM Z_MODELCACHE")
    _ = try connection.values("INSERT INTO Z_MODELCACHE(Z_CONTENT) VALUES(?)", [.blob(model)])
  }
}

/// The limits of the statements of a migration that's rehearsed on a copy of a store.
///
/// The store can come from anywhere, and its indexes can perform any calculation for each row.
package struct RehearsalLimits: Sendable {
  /// The maximum time of the statements of a step, in seconds; `nil` if only their VM steps are
  /// limited.
  package let seconds: Int?

  /// Creates limits.
  package init(seconds: Int? = nil) {
    self.seconds = seconds
  }

  func apply(to connection: Connection, steps: Int = StoreLimits.rehearsalSteps) {
    connection.limitSteps(steps)
    if let seconds { connection.limitTime(seconds) }
  }
}

extension NSError {
  private static let elsewhereKey = "cdprof.migratedElsewhere"

  /// Returns the error for a store that got another version before its migration began.
  static func migratedElsewhere(_ url: URL) -> NSError {
    coreData(
      NSMigrationError,
      "The store \(url.relativePath) was migrated elsewhere in the meantime: open it again.",
      [NSFilePathErrorKey: url.path, elsewhereKey: true])
  }

  /// Whether the store got another version before its migration began.
  var isOfMigrationElsewhere: Bool { userInfo[Self.elsewhereKey] != nil }
}
