import CSQLite
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

  /// What is read in place of the file while looking; nil after `close()`.
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

  /// Opens a file and reads its first page, so that what is no database fails here.
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
  /// A statement somebody still holds keeps the handle in SQLite until it is dropped.
  package func close() {
    guard let handle else { return }
    statements.removeAll()
    interruption.end()
    self.handle = nil
    // A statement that's still held keeps the handle open, and SQLite must not ask here any more.
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
