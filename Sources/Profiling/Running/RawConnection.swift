import OpenCoreData
import ProfileEvents
import SQLiteDriver

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
