import OpenCoreData
import ProfileEvents
import SQLiteDriver
import ScenarioLanguage
import WorkbenchText

extension Session {
  /// Runs an SQL statement on the store, bypassing the framework.
  func runStatement(_ step: Step) throws -> String {
    let (rows, first) = try rawConnection().run(step.subject, from: step.location)
    guard rows > 0 else { return "done, no rows" }
    let values = first.map(Self.shortened).joined(separator: ", ")
    return NumberText.counted(rows, "row") + (rows == 1 ? ": " : ", the first: ") + values
  }

  /// Returns a value as text, with a long string truncated and a long BLOB replaced by its size.
  private static func shortened(_ value: SQLiteValue) -> String {
    switch value {
    case .text(let text) where text.utf8.count > longestText: "\"\(text.prefix(longestText))…\""
    case .blob(let bytes) where bytes.count > longestText: NumberText.counted(bytes.count, "byte")
    default: value.description
    }
  }

  /// The maximum length of a value, in bytes.
  private static let longestText = 1_000

  /// Creates or drops an index of the store.
  func changeIndex(_ step: Step) throws -> String {
    let connection = try rawConnection()
    if let name = step.name(of: .remove) {
      let stored = NSManagedObjectModel.storeIndexName(name, ofEntity: step.subject)
      let known = try connection.run(
        "SELECT name FROM sqlite_master WHERE type = 'index' AND name IN (\(SQLSyntax.literal(name)), "
          + "\(SQLSyntax.literal(stored)))", as: .housekeeping, from: step.location)
      guard case .text(let index)? = known.first.first else {
        throw StepInput.error("The store has no index `\(name)`; `cdprof inspect` lists them.")
      }
      _ = try connection.run(
        "DROP INDEX \(SQLSyntax.quoted(index))", as: .housekeeping, from: step.location)
      return "index \(index) dropped"
    }
    guard let index = try storeIndex(step) else {
      throw StepInput.error(
        "The predicate can't be translated to the WHERE clause of an index. Compare attributes of "
          + "\(step.subject) with constants.")
    }
    _ = try connection.run(index.sql, as: .housekeeping, from: step.location)
    return "index \(index.name) created"
  }

  /// Updates SQLite's statistics with `ANALYZE`.
  ///
  /// The old statistics are dropped first because other connections read new ones only if the
  /// schema has changed.
  func analyze(_ step: Step) throws -> String {
    let connection = try rawConnection()
    for sql in ["DROP TABLE IF EXISTS sqlite_stat1", "ANALYZE"] {
      _ = try connection.run(sql, as: .housekeeping, from: step.location)
    }
    return "statistics gathered"
  }

  /// Reopens the store with a pragma.
  ///
  /// - Throws: An `NSError` if a context has unsaved changes, or if the store can't be reopened.
  func setPragma(_ step: Step) throws -> String {
    guard let value = step.text(of: .to) else { return "" }
    try checkChanges()
    raw = nil
    try stack.reopen(pragma: step.subject, value)
    return "reopened with \(step.subject) = \(value)"
  }

  /// Reopens the store with persistent history, or deletes all history.
  ///
  /// - Throws: An `NSError` if a context has unsaved changes, or if the store can't be reopened.
  func changeHistory(_ step: Step) throws -> String {
    switch HistoryAction(rawValue: step.subject) {
    case .track:
      try checkChanges()
      raw = nil
      try stack.reopenTrackingHistory()
      return "reopened with persistent history"
    case .purge:
      let request = NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture)
      request.resultType = .count
      let result = try stack.main.performAndWait { try stack.main.execute(request) }
      let count = (result as? NSPersistentHistoryResult)?.result as? Int ?? 0
      return "\(NumberText.counted(count, "transaction")) deleted"
    case nil: return ""
    }
  }

  /// Throws an error if a context has unsaved changes, because of which the store can't be
  /// reopened.
  func checkChanges() throws {
    for named in stack.contexts {
      guard !named.context.performAndWait({ named.context.hasChanges }) else {
        throw StepInput.error(
          "The store can't be reopened: `\(named.name)` has unsaved changes. Save them first.")
      }
    }
  }

  private func storeIndex(_ step: Step) throws -> SchemaIndex? {
    guard let keys = step.sortKeys(of: .keys), let name = step.name else { return nil }
    var predicate: NSPredicate?
    if let format = step.format(of: .predicate) {
      predicate = try NSPredicate.parse(format, arguments: [])
    }
    return model.storeIndex(
      named: name, ofEntity: step.subject, keys: keys.map { ($0.keyPath, $0.isAscending) },
      where: predicate)
  }

  /// Returns the session's own SQLite connection, which is opened on first use.
  func rawConnection() throws -> RawConnection {
    if let raw { return raw }
    let made = try RawConnection(
      storeURL: storeURL, isReadOnly: isReadOnly, pragmas: stack.pragmas, hub: stack.hub)
    raw = made
    return made
  }
}

/// A session's own SQLite connection to its store, which bypasses the framework.
///
/// Its statements are recorded as events and counted by their first word. A transaction that's
/// begun on the connection stays open across steps.
final class RawConnection {
  private let connection: Connection
  private let hub: EventHub

  /// Opens a connection.
  ///
  /// - Parameters:
  ///   - storeURL: The store file.
  ///   - isReadOnly: Whether to open the file read-only.
  ///   - pragmas: The pragmas of the framework's connections.
  ///   - hub: The hub that receives events.
  /// - Throws: A `SQLiteError` if the file can't be opened.
  init(storeURL: URL, isReadOnly: Bool, pragmas: [String: String], hub: EventHub) throws {
    connection = try StoreConnection.open(
      path: storeURL.path, access: isReadOnly ? .inspecting : .writing,
      pragmas: pragmas.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    self.hub = hub
  }

  deinit {
    connection.close()
  }

  /// A closure that interrupts the running statement and can be called from any thread.
  var interruption: @Sendable () -> Void {
    let connection = connection
    return { connection.interrupt() }
  }

  /// Runs one statement to completion.
  ///
  /// - Parameters:
  ///   - sql: The statement.
  ///   - kind: The kind to count the statement as, or `nil` to derive it from its first word.
  ///   - location: The call site of the event.
  /// - Returns: The number of rows, and the first row.
  /// - Throws: An `NSError` in `NSSQLiteErrorDomain` with SQLite's extended result code.
  func run(
    _ sql: String, as kind: StatementKind? = nil, from location: CallSite
  ) throws -> (rows: Int, first: [SQLiteValue]) {
    let kind = kind ?? RawConnection.kind(of: sql)
    let id = hub.nextID()
    let begin = MonotonicClock.now()
    var rows = 0
    var first: [SQLiteValue] = []
    do {
      let statement = try connection.statement(sql)
      defer { statement.reset() }
      while try statement.step() {
        if rows == 0 { first = (0..<statement.columnCount).map { statement.value($0) } }
        rows += 1
      }
    } catch {
      throw RawConnection.error(error)
    }
    var event = Event(
      id: id, parent: 0, kind: .statement, begin: begin, duration: MonotonicClock.now() &- begin,
      thread: MonotonicClock.threadID())
    event.statement = StatementRecord(kind: kind, sql: sql)
    event.rows = rows
    event.callSite = location
    hub.emit(event)
    return (rows, first)
  }

  /// Returns the integer value of a pragma, without emitting an event.
  ///
  /// - Throws: The same errors as `run`.
  func number(ofPragma name: String) throws -> Int {
    do {
      let statement = try connection.statement("PRAGMA \(name)")
      defer { statement.reset() }
      return try statement.step() ? Int(statement.int64(0)) : 0
    } catch {
      throw RawConnection.error(error)
    }
  }

  private static func kind(of sql: String) -> StatementKind {
    switch sql.drop(while: \.isWhitespace).prefix(while: \.isLetter).uppercased() {
    case "SELECT", "WITH", "VALUES": .select
    case "INSERT", "REPLACE": .insert
    case "UPDATE": .update
    case "DELETE": .delete
    case "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE": .transaction
    default: .housekeeping
    }
  }

  private static func error(_ error: any Error) -> NSError {
    guard let error = error as? SQLiteError else { return error as NSError }
    return NSError(
      domain: NSSQLiteErrorDomain, code: Int(error.code.rawValue),
      userInfo: [NSLocalizedDescriptionKey: error.description])
  }
}
