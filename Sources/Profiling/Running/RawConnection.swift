import OpenCoreData
import ProfileEvents
import SQLiteDriver

/// A connection of a session's own to its store, past the framework.
///
/// Its statements are events like the framework's, and are counted by their first word. A transaction
/// begun on it stays open from step to step.
final class RawConnection {
  private let connection: Connection
  private let hub: EventHub

  /// - Parameter pragmas: those that the framework's connections have.
  /// - Throws: `SQLiteError` when the file cannot be opened.
  init(storeURL: URL, isReadOnly: Bool, pragmas: [String: String], hub: EventHub) throws {
    connection = try StoreConnection.open(
      path: storeURL.path, access: isReadOnly ? .looking : .writing,
      pragmas: pragmas.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    self.hub = hub
  }

  deinit {
    connection.close()
  }

  /// Cuts off the statement that runs; may be called from any thread.
  var interruption: @Sendable () -> Void {
    let connection = connection
    return { connection.interrupt() }
  }

  /// Runs one statement to its end.
  ///
  /// - Parameter kind: how it is counted; by its first word if left out.
  /// - Returns: The rows it gave, and the first of them.
  /// - Throws: an `NSError` of SQLite's domain with SQLite's extended code.
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

  /// The number that a pragma returns; no event is emitted.
  ///
  /// - Throws: as `run`.
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
