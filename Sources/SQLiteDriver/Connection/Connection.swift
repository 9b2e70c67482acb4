import CSQLite
import Foundation
import ProfileEvents

/// A connection to a database file.
///
/// Only one thread at a time can use a connection, because SQLite's own mutex is off. `interrupt()`
/// can be called from any thread. `ConnectionPool` passes connections between threads. It's a
/// programmer error to use a connection after `close()`.
// Sendable is unchecked: ConnectionPool passes a connection from lease to lease under its lock.
package final class Connection: @unchecked Sendable {
  /// The kinds of access to the file and its folder.
  package enum Access: Sendable {
    /// Reads without modifying or creating any file in the folder.
    case inspecting
    /// Reads a store that other processes or connections can write at the same time.
    ///
    /// SQLite can create `-wal` and `-shm` files.
    case reading
    /// Reads and writes, creates the file if necessary, and uses a WAL.
    case writing
  }

  /// The options for opening a connection.
  package struct Options: Sendable {
    /// The time, in milliseconds, that a statement waits for another connection's lock before it
    /// fails with `SQLITE_BUSY`.
    package var busyTimeoutMilliseconds: Int32 = 10_000
    /// The pragmas to run as `pragma name=value`, in order, before a writing connection switches to
    /// WAL mode.
    ///
    /// If they include `journal_mode`, the connection doesn't switch to WAL mode. Connections that
    /// don't write omit the pragmas that change the file or its format.
    package var pragmas: [(String, String)] = []
    /// Whether the path is the name of an in-memory database instead of a file.
    ///
    /// All connections of the process with the same path share the database, which is released with
    /// the last of them. It has no WAL: a writer waits until no statement reads, and readers wait
    /// for a commit. The path must begin with a slash.
    package var isInMemory = false
    /// Whether no other connection may use the file while this one is open.
    ///
    /// If another connection uses it, opening waits for `busyTimeoutMilliseconds` and then fails
    /// with `SQLITE_BUSY`.
    package var isExclusive = false
    /// The maximum number of cached statements.
    package var statementLimit = 200

    package init(
      busyTimeoutMilliseconds: Int32 = 10_000, pragmas: [(String, String)] = [],
      statementLimit: Int = 200
    ) {
      self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
      self.pragmas = pragmas
      self.statementLimit = statementLimit
    }
  }

  /// The path, as given.
  ///
  /// For the connection of a temporary copy, this is the path of the original.
  package let path: String
  package let access: Access

  /// The files as inspected when this connection was opened, or `nil` for other kinds of access
  /// than `.inspecting`.
  package let inspection: StoreFileInspection?

  /// The temporary copy that a read-only connection reads instead of the file, or `nil` after
  /// `close()`.
  var copy: TemporaryCopy?
  /// The SQLite handle, or `nil` after `close()`.
  var handle: OpaquePointer?
  let interruption: Interruption
  let waits: LockWaits
  let callbacks = CallbackCounts()
  let budget: StepBudget
  /// The authorizer, or `nil` before `confine()`.
  var authorizer: StatementAuthorizer?
  var statements: StatementCache
  var intArrays: [Int: IntArray] = [:]

  /// Opens a file and reads its first page, so that opening a file that isn't a database fails.
  ///
  /// The path `:memory:` opens a separate in-memory database.
  ///
  /// - Throws: SQLite's error. `StoreFileProblem.examine(path:)` returns a description of the
  ///   problem.
  package convenience init(
    path: String, access: Access, options: Options = .init()
  ) throws(SQLiteError) {
    try self.init(path: path, access: access, options: options, sharing: nil)
  }

  /// Opens a connection.
  ///
  /// - Parameter copy: The temporary copy that another connection created of the same state of the
  ///   file.
  init(
    path: String, access: Access, options: Options, sharing copy: TemporaryCopy?
  ) throws(SQLiteError) {
    let opened =
      options.isInMemory
      ? try Connection.openMemory(path, access)
      : try Connection.open(path: path, access: access, sharing: copy)
    self.path = path
    self.access = access
    handle = opened.handle
    inspection = opened.inspection
    self.copy = opened.copy
    interruption = Interruption(opened.handle)
    waits = LockWaits(timeout: options.busyTimeoutMilliseconds)
    budget = StepBudget(limit: access == .inspecting ? StoreLimits.readOnlySteps : nil)
    statements = StatementCache(limit: options.statementLimit)
    do {
      try configure(options)
    } catch {
      close()
      throw error
    }
  }

  deinit {
    close()
  }

  /// Finalizes the cached statements and closes the file.
  ///
  /// Subsequent calls have no effect. A statement that is still referenced keeps the SQLite handle
  /// open until it's released.
  package func close() {
    guard let handle else { return }
    statements.removeAll()
    interruption.end()
    self.handle = nil
    // A statement that's still referenced keeps the handle open, and SQLite must no longer call
    // back.
    sqlite3_set_authorizer(handle, nil, nil)
    sqlite3_progress_handler(handle, 0, nil, nil)
    sqlite3_close_v2(handle)
    copy = nil
  }

  /// Interrupts the running statement, which then throws `SQLITE_INTERRUPT`.
  ///
  /// Call this method from any thread. It has no effect if no statement is running. An interrupted
  /// write is rolled back.
  package func interrupt() {
    interruption.send()
  }

  /// Returns the handle, or stops with a fatal error if the connection is closed.
  func use() -> OpaquePointer {
    guard let handle else {
      fatalError("The connection to \(path) was used after it was closed.")
    }
    return handle
  }

  func error(_ code: Int32, sql: String? = nil) -> SQLiteError {
    Connection.limitError(
      code, sql: sql, handle: handle, budget: budget, authorizer: authorizer)
      ?? SQLiteError(handle: handle, code: code, sql: sql)
  }
}

extension Connection {
  static func open(
    path: String, access: Access, sharing copy: TemporaryCopy?
  ) throws(SQLiteError) -> OpenedFile {
    switch access {
    case .inspecting:
      return try openReadOnly(at: path, sharing: copy)
    case .reading:
      let handle = try openStore(plainName(path), SQLITE_OPEN_READONLY)
      return OpenedFile(handle: handle)
    case .writing:
      let handle = try openStore(plainName(path), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
      return OpenedFile(handle: handle)
    }
  }

  /// Opens a shared in-memory database with SQLite's own VFS for such databases.
  static func openMemory(_ path: String, _ access: Access) throws(SQLiteError) -> OpenedFile {
    let flags =
      access == .writing ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
    return OpenedFile(handle: try openFile(path, flags, fileSystem: "memdb"))
  }

  /// Configures a new connection, and reads from it to detect files that aren't databases.
  func configure(_ options: Options) throws(SQLiteError) {
    waits.register(on: use())
    try Connection.harden(use(), isReadOnly: access == .inspecting)
    budget.register(on: use())
    if access == .inspecting { confine() }
    for (name, _) in options.pragmas where !StatementAuthorizer.allows(pragma: name) {
      throw SQLiteError(
        code: .misuse,
        message: "the pragma \(name) isn't allowed: it can access other files")
    }
    for statement in options.statements(for: access) {
      if statement == Connection.logPragma { try turnToLog(options) } else { try run(statement) }
    }
    try run("PRAGMA schema_version")
  }

  /// The SQL that switches a file to WAL mode.
  fileprivate static let logPragma = "pragma journal_mode=wal"

  /// Switches to WAL mode, and waits for locks as long as a statement does.
  ///
  /// If two connections convert a new file at the same time, each has the lock that the other waits
  /// for. SQLite then fails immediately instead of waiting, so that one of them releases its lock.
  private func turnToLog(_ options: Options) throws(SQLiteError) {
    let patience = UInt64(max(0, options.busyTimeoutMilliseconds)) * 1_000_000
    let start = MonotonicClock.now()
    while true {
      do throws(SQLiteError) {
        return try run(Connection.logPragma)
      } catch {
        let isOver = MonotonicClock.now() - start >= patience
        if isOver || error.code.primary != .busy { throw error }
        usleep(UInt32.random(in: 500..<3_000))
      }
    }
  }

  /// The pragmas that change the file or its format, which only the writer runs.
  fileprivate static let writingPragmas: Set<String> = [
    "application_id", "auto_vacuum", "encoding", "incremental_vacuum", "journal_mode",
    "journal_size_limit", "locking_mode", "optimize", "page_size", "user_version", "wal_checkpoint",
  ]

  /// Runs one statement and ignores its rows.
  ///
  /// SQL with a second statement is an error.
  private func run(_ sql: String) throws(SQLiteError) {
    let statement = try prepare(sql)
    while try statement.step() {}
  }

  /// Returns a name that SQLite interprets as a file, not as a URI, a temporary database, or an
  /// in-memory database.
  private static func plainName(_ path: String) throws(SQLiteError) -> String {
    if path == ":memory:" { return path }
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SQLiteError(code: .cantOpen, message: "\"\(path)\" isn't a file name")
    }
    return path.hasPrefix("/") ? path : "./" + path
  }

  private static func openStore(
    _ name: String, _ flags: Int32
  ) throws(SQLiteError) -> OpaquePointer {
    try StoreFileSystem.register()
    return try openFile(name, flags, fileSystem: StoreFileSystem.name)
  }

  static func openFile(
    _ name: String, _ flags: Int32, fileSystem: String?
  ) throws(SQLiteError) -> OpaquePointer {
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(
      name, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, fileSystem)
    guard code == SQLITE_OK, let handle else {
      let error = SQLiteError(handle: handle, code: code)
      sqlite3_close_v2(handle)
      throw error
    }
    return handle
  }

  /// Runs SQL on a handle that isn't a connection yet.
  static func run(_ sql: String, on handle: OpaquePointer) throws(SQLiteError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw SQLiteError(handle: handle, code: code, sql: sql) }
  }
}

extension Connection.Options {
  /// Returns the SQL of the pragmas that a connection runs first, in order.
  package func statements(for access: Connection.Access) -> [String] {
    var statements: [String] = []
    var namesJournal = false
    for (name, value) in pragmas {
      let name = name.lowercased()
      namesJournal = namesJournal || name == "journal_mode"
      if access == .writing || !Connection.writingPragmas.contains(name) {
        statements.append("pragma \(name)=\(value)")
      }
    }
    if access == .writing, !namesJournal { statements.append(Connection.logPragma) }
    // Before the first access, so that a WAL is opened without shared memory.
    if isExclusive { statements.insert("pragma locking_mode=exclusive", at: 0) }
    return statements
  }
}

/// An open handle with the file that it reads.
struct OpenedFile {
  var handle: OpaquePointer
  /// The files as inspected before the first read, or `nil` unless the access is `.inspecting`.
  var inspection: StoreFileInspection?
  /// The copy that is read instead of the file.
  var copy: TemporaryCopy?
}

/// The SQLite library that the process runs with, which can differ from the header it was built
/// with.
package enum SQLiteLibrary {
  /// The version, such as `3.40.1`.
  package static var version: String { String(cString: sqlite3_libversion()) }
}

extension Connection {
  /// The number of rows that the last INSERT, UPDATE, or DELETE changed, excluding changes by
  /// triggers.
  package var changes: Int {
    Int(sqlite3_changes64(use()))
  }

  /// The number of rows that all statements of the connection have changed, including changes by
  /// triggers and foreign keys.
  package var totalChanges: Int {
    Int(sqlite3_total_changes64(use()))
  }

  /// Whether a transaction is open.
  package var isInTransaction: Bool {
    sqlite3_get_autocommit(use()) == 0
  }

  /// Resets statements that are still reading rows, and rolls back an open transaction.
  ///
  /// **Cost:** two inexpensive calls if there's nothing to do.
  func rest() {
    guard let handle else { return }
    guard isInTransaction || sqlite3_txn_state(handle, nil) != SQLITE_TXN_NONE else { return }
    var statement = sqlite3_next_stmt(handle, nil)
    while let running = statement {
      if sqlite3_stmt_busy(running) != 0 { sqlite3_reset(running) }
      statement = sqlite3_next_stmt(handle, running)
    }
    // Fails only if SQLite has already rolled back.
    if isInTransaction { try? execute("ROLLBACK") }
  }
}

/// A counter that SQLite keeps for each connection.
///
/// See <https://www.sqlite.org/c3ref/c_dbstatus_options.html>.
enum ConnectionStatus {
  /// Pages read from the file.
  case cacheMisses
  /// Pages written to the file or its WAL.
  case cacheWrites

  var code: Int32 {
    switch self {
    case .cacheMisses: SQLITE_DBSTATUS_CACHE_MISS
    case .cacheWrites: SQLITE_DBSTATUS_CACHE_WRITE
    }
  }
}

/// The memory that SQLite has allocated for all connections of the process.
package enum SQLiteMemory {
  /// The bytes that are allocated now.
  package static var used: Int { Int(sqlite3_memory_used()) }

  /// The most bytes that were allocated at once since the last `resetPeak()`.
  package static var peak: Int { Int(sqlite3_memory_highwater(0)) }

  /// Sets the peak to the bytes that are allocated now.
  package static func resetPeak() { _ = sqlite3_memory_highwater(1) }
}
