import CSQLite
import Foundation
import ProfileEvents

/// One handle on one database file.
///
/// A connection is used by one thread at a time; SQLite's own mutex is off. Only `interrupt()` may
/// be called from any thread. `ConnectionPool` hands connections from thread to thread.
/// Using a connection after `close()` traps.
// Sendable unchecked: ConnectionPool hands a connection from lease to lease under its lock.
package final class Connection: @unchecked Sendable {
  /// What the connection may do to the file and its folder.
  package enum Access: Sendable {
    /// Never changes a byte in the folder and never creates a file there.
    case looking
    /// Reads a store that others may write at the same time. SQLite may create `-wal` and `-shm`.
    case reading
    /// Reads and writes, creates the file if need be, and keeps a write-ahead log.
    case writing
  }

  /// How a connection is opened.
  package struct Options: Sendable {
    /// How long a statement waits for another connection's lock before it fails as busy.
    package var busyTimeoutMilliseconds: Int32 = 10_000
    /// Run as `pragma name=value`, in order, before a writing connection turns to WAL.
    ///
    /// With a pragma `journal_mode` among them the connection does not turn to WAL by itself.
    /// Other connections leave out those that change the file or how it is kept.
    package var pragmas: [(String, String)] = []
    /// Whether the path names a database in the memory of the process instead of a file.
    ///
    /// All connections with the same path use the same database; it goes with the last of them. It has
    /// no write-ahead log: a writer waits until no statement reads, and readers wait for a commit.
    /// The path begins with a slash.
    package var isInMemory = false
    /// Statements kept prepared.
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

  /// The path as given.
  ///
  /// A private copy's connection keeps the path of the original.
  package let path: String
  package let access: Access

  /// The files as they were when this connection began to look; nil for other accesses.
  package let inspection: StoreFileInspection?

  /// What is read instead of the file in a read-only open; nil after `close()`.
  var copy: PrivateCopy?
  /// Nil after `close()`.
  var handle: OpaquePointer?
  let interruption: Interruption
  let waits: LockWaits
  let callbacks = CallbackCounts()
  let budget: StepBudget
  /// Nil until `confine()`.
  var confinement: Confinement?
  var statements: StatementCache
  var intArrays: [Int: IntArray] = [:]

  /// Opens a file and reads its first page, so that what isn't a database fails here.
  ///
  /// Throws what SQLite says; `StoreFileProblem.examine(path:)` finds words for it.
  /// The path `:memory:` gives a database of its own in memory.
  package convenience init(
    path: String, access: Access, options: Options = .init()
  ) throws(SQLiteError) {
    try self.init(path: path, access: access, options: options, sharing: nil)
  }

  /// `copy`: the private copy another connection made of the same state of the same file.
  init(
    path: String, access: Access, options: Options, sharing copy: PrivateCopy?
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
    waits = LockWaits(patience: options.busyTimeoutMilliseconds)
    budget = StepBudget(limit: access == .looking ? Connection.readOnlySteps : nil)
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

  /// Finalises the cached statements and closes the file.
  ///
  /// Closing twice is harmless.
  ///
  /// A statement that is still referenced keeps the handle in SQLite until it's released.
  package func close() {
    guard let handle else { return }
    statements.removeAll()
    interruption.end()
    self.handle = nil
    // A statement that's still referenced keeps the handle open, and SQLite must not call back here any more.
    sqlite3_set_authorizer(handle, nil, nil)
    sqlite3_progress_handler(handle, 0, nil, nil)
    sqlite3_close_v2(handle)
    copy = nil
  }

  /// Stops the statement that is running, which then throws `SQLITE_INTERRUPT`.
  ///
  /// From any thread.
  ///
  /// Without a running statement nothing happens. A write that is interrupted is rolled back.
  package func interrupt() {
    interruption.send()
  }

  /// The handle, or a trap for a connection that was closed.
  func use() -> OpaquePointer {
    guard let handle else {
      preconditionFailure("The connection to \(path) was used after it was closed.")
    }
    return handle
  }

  func error(_ code: Int32, sql: String? = nil) -> SQLiteError {
    Connection.limitError(
      code, sql: sql, handle: handle, budget: budget, confinement: confinement)
      ?? SQLiteError(handle: handle, code: code, sql: sql)
  }
}

extension Connection {
  static func open(
    path: String, access: Access, sharing copy: PrivateCopy?
  ) throws(SQLiteError) -> OpenedFile {
    switch access {
    case .looking:
      return try look(at: path, sharing: copy)
    case .reading:
      let handle = try openStore(plainName(path), SQLITE_OPEN_READONLY)
      return OpenedFile(handle: handle)
    case .writing:
      let handle = try openStore(plainName(path), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
      return OpenedFile(handle: handle)
    }
  }

  /// Opens a shared database in memory, with SQLite's own file system for them.
  static func openMemory(_ path: String, _ access: Access) throws(SQLiteError) -> OpenedFile {
    let flags =
      access == .writing ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
    return OpenedFile(handle: try openFile(path, flags, fileSystem: "memdb"))
  }

  /// The settings of a new connection, and a first read that finds out what isn't a database.
  func configure(_ options: Options) throws(SQLiteError) {
    waits.serve(use())
    try Connection.harden(use(), isReadOnly: access == .looking)
    budget.serve(use())
    if access == .looking { confine() }
    for (name, _) in options.pragmas where !Confinement.allows(pragma: name) {
      throw SQLiteError(
        code: .misuse,
        message: "the pragma \(name) isn't allowed: it can reach outside of the store")
    }
    for statement in options.statements(for: access) {
      if statement == Connection.logPragma { try turnToLog(options) } else { try run(statement) }
    }
    try run("PRAGMA schema_version")
  }

  /// What makes a file keep a write-ahead log.
  fileprivate static let logPragma = "pragma journal_mode=wal"

  /// Turns to WAL, waiting as long as for any other lock.
  ///
  /// Of two connections that convert a new file at once, each has the lock that the other waits for. SQLite
  /// then doesn't wait but fails at once, so that one releases its lock.
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

  /// Pragmas that change the file or how it is kept: for the writer alone.
  fileprivate static let writingPragmas: Set<String> = [
    "application_id", "auto_vacuum", "encoding", "incremental_vacuum", "journal_mode",
    "journal_size_limit", "locking_mode", "optimize", "page_size", "user_version", "wal_checkpoint",
  ]

  /// Runs one statement and ignores its rows; SQL with a second one is an error.
  private func run(_ sql: String) throws(SQLiteError) {
    let statement = try prepare(sql)
    while try statement.step() {}
  }

  /// A name that SQLite takes for a file and not for a URI, a temporary or a memory database.
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
  /// The pragmas that a connection runs first, in order, as SQL.
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
    return statements
  }
}

/// A handle that was opened, and the file that it reads.
struct OpenedFile {
  var handle: OpaquePointer
  /// The files as they were before the first read; nil unless looking.
  var inspection: StoreFileInspection?
  /// The copy that is read instead of the file.
  var copy: PrivateCopy?
}

/// The SQLite library this process runs with, which may differ from the header it was built with.
package enum SQLiteLibrary {
  /// The version, as in `3.40.1`.
  package static var version: String { String(cString: sqlite3_libversion()) }
}
