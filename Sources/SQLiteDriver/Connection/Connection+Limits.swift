import CSQLite
import Foundation
import ProfileEvents

// The restrictions of all connections, and the additional ones of read-only connections.

extension Connection {
  /// Turns off features that stores don't need and that a malicious schema could use.
  ///
  /// - Parameters:
  ///   - handle: The connection's handle.
  ///   - isReadOnly: Whether the file is opened read-only and can come from any source. In this
  ///     case, views are also turned off: a store has none, and a view in place of a table can be
  ///     endless.
  static func harden(_ handle: OpaquePointer, isReadOnly: Bool) throws(SQLiteError) {
    var settings = [
      (SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
      (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false),
    ]
    if isReadOnly {
      // A writer has to trust the schema, because triggers of a range index write to an R-tree.
      settings += [
        (SQLITE_DBCONFIG_TRUSTED_SCHEMA, false), (SQLITE_DBCONFIG_DEFENSIVE, true),
        (SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
      ]
      for (limit, value) in readOnlyLimits { sqlite3_limit(handle, limit, value) }
    }
    for (option, isOn) in settings {
      let code = cdprof_db_config(handle, option, isOn ? 1 : 0)
      guard code == SQLITE_OK else { throw SQLiteError(handle: handle, code: code) }
    }
  }

  /// Confines all statements prepared from now on to the store.
  ///
  /// Also turns on SQLite's defensive mode, in which statements can't write to the schema tables.
  /// Values can't be longer than 256 MB. Statements that aren't allowed throw `SQLITE_AUTH` with
  /// the reason: `ATTACH`, `VACUUM INTO`, functions that load code, and pragmas that affect more
  /// than the store.
  package func confine() {
    guard authorizer == nil else { return }
    let authorizer = StatementAuthorizer()
    authorizer.register(on: use())
    _ = cdprof_db_config(use(), SQLITE_DBCONFIG_DEFENSIVE, 1)
    sqlite3_limit(use(), SQLITE_LIMIT_LENGTH, StoreLimits.valueSize)
    self.authorizer = authorizer
  }

  /// Sets whether statements run the triggers of the tables that they change.
  package func setTriggersRun(_ areRun: Bool) {
    _ = cdprof_db_config(use(), SQLITE_DBCONFIG_ENABLE_TRIGGER, areRun ? 1 : 0)
  }

  /// Makes statements that read a view fail from now on.
  ///
  /// A view in place of a table can be endless.
  package func refuseViews() {
    _ = cdprof_db_config(use(), SQLITE_DBCONFIG_ENABLE_VIEW, 0)
  }

  /// Returns whether a pragma can be set when a store is opened, which requires that it affects
  /// only the store.
  ///
  /// Opening a store with another pragma throws `SQLITE_MISUSE`.
  package static func allows(pragma name: String) -> Bool {
    StatementAuthorizer.allows(pragma: name)
  }

  /// The names for which `allows(pragma:)` returns `true`, in lowercase and sorted.
  package static var allowedPragmas: [String] { StatementAuthorizer.pragmas.sorted() }

  /// Limits the memory that SQLite uses for all connections of the process.
  ///
  /// A statement that needs more fails with `SQLITE_NOMEM`. Its connection can still be used.
  package static func limitMemory(toBytes bytes: Int64) {
    sqlite3_hard_heap_limit64(bytes)
  }

  private static let readOnlyLimits: [(Int32, Int32)] = [
    (SQLITE_LIMIT_LENGTH, StoreLimits.valueSize),
    (SQLITE_LIMIT_SQL_LENGTH, StoreLimits.statementSize),
    (SQLITE_LIMIT_VDBE_OP, StoreLimits.statementInstructions),
    // VACUUM, which isn't allowed there, attaches one.
    (SQLITE_LIMIT_ATTACHED, 1),
    (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, StoreLimits.patternLength),
    (SQLITE_LIMIT_TRIGGER_DEPTH, StoreLimits.triggerDepth),
    (SQLITE_LIMIT_WORKER_THREADS, 0),
  ]
}

/// Limits the VM steps of a connection's statements, and their time.
// Sendable is unchecked: only the connection's thread reads and writes it.
final class StepBudget: @unchecked Sendable {
  /// The number of VM steps between calls of the progress handler.
  private static let interval = 10_000
  /// That number if the time is limited: each step can be the call of a slow function.
  private static let timedInterval = 100

  /// The current limit, in VM steps, or `nil` for no limit.
  @exclusivity(unchecked) private(set) var limit: Int?
  @exclusivity(unchecked) private var used = 0
  /// Whether several statements share the limit.
  @exclusivity(unchecked) private var isShared = false
  /// Whether the last statement exceeded the limit.
  @exclusivity(unchecked) private(set) var isExceeded = false
  /// When statements end, in nanoseconds, and the seconds that they had; `nil` for no limit.
  @exclusivity(unchecked) private var deadline: (time: UInt64, seconds: Int)?
  /// The time of each statement, in seconds; `nil` if the deadline is that of all or there's none.
  @exclusivity(unchecked) private(set) var statementSeconds: Int?
  /// The time limit that the last statement exceeded, in seconds; `nil` if it didn't.
  @exclusivity(unchecked) private(set) var exceededSeconds: Int?

  init(limit: Int?) {
    self.limit = limit
  }

  /// Starts counting for a statement.
  func begin() {
    guard limit != nil else { return }
    if let statementSeconds { setDeadline(in: statementSeconds) }
    guard !isShared else { return }
    used = 0
    isExceeded = false
    exceededSeconds = nil
  }

  /// Sets when all statements end.
  func restrict(toSeconds seconds: Int, on handle: OpaquePointer) {
    statementSeconds = nil
    setDeadline(in: seconds)
    if limit == nil { limit = Int.max }
    register(on: handle)
  }

  /// Sets the time of each statement.
  func restrictEach(toSeconds seconds: Int, on handle: OpaquePointer) {
    restrict(toSeconds: seconds, on: handle)
    statementSeconds = seconds
  }

  private func setDeadline(in seconds: Int) {
    let time = MonotonicClock.now() + UInt64(seconds) * 1_000_000_000
    deadline = (time: time, seconds: seconds)
  }

  private var interval: Int { deadline == nil ? Self.interval : Self.timedInterval }

  /// Sets the limit of each statement.
  func restrict(to steps: Int, on handle: OpaquePointer) {
    limit = steps
    register(on: handle)
  }

  /// Registers the progress handler, if there's a limit.
  func register(on handle: OpaquePointer) {
    guard limit != nil else { return sqlite3_progress_handler(handle, 0, nil, nil) }
    sqlite3_progress_handler(
      handle, Int32(interval),
      { context in
        guard let context else { return 0 }
        return Retained.borrow(context, as: StepBudget.self).spend() ? 0 : 1
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func spend() -> Bool {
    used &+= interval
    if let deadline, MonotonicClock.now() > deadline.time {
      exceededSeconds = deadline.seconds
      isExceeded = true
      return false
    }
    guard let limit, used > limit else { return true }
    isExceeded = true
    return false
  }

  /// Runs a closure with a limit that all its statements share.
  func sharing<Result>(
    _ shared: Int, on handle: OpaquePointer, _ body: () throws -> Result
  ) rethrows -> Result {
    guard !isShared else { return try body() }
    let usual = limit
    (limit, used, isShared, isExceeded) = (shared, 0, true, false)
    register(on: handle)
    defer {
      (limit, used, isShared) = (usual, 0, false)
      register(on: handle)
    }
    return try body()
  }
}

extension Connection {
  /// Limits the number of VM steps of each statement from now on.
  ///
  /// A statement that exceeds the limit throws `SQLITE_ERROR` with the limit.
  package func limitSteps(_ steps: Int) {
    budget.restrict(to: steps, on: use())
  }

  /// Limits the total time of all statements from now on.
  ///
  /// One that runs after it throws `SQLITE_ERROR` with the limit, as soon as the function that it
  /// calls returns.
  package func limitTime(_ seconds: Int) {
    budget.restrict(toSeconds: seconds, on: use())
  }

  /// Limits the time of each statement from now on, which begins when it's prepared or taken from
  /// the cache.
  ///
  /// One that exceeds the limit throws `SQLITE_ERROR` with the limit, at most 100 VM steps later;
  /// each can be the call of a function, which isn't stopped.
  package func limitStatementTime(_ seconds: Int) {
    budget.restrictEach(toSeconds: seconds, on: use())
  }

  /// Runs a closure with a limit on the total VM steps of its statements.
  ///
  /// Use it for statements whose cost is bounded in a valid store, but not in a malicious one. A
  /// statement that exceeds the limit throws `SQLITE_ERROR` with the limit. In a nested call, the
  /// outer limit applies.
  package func withStepLimit<Result>(
    _ steps: Int, _ body: () throws -> Result
  ) rethrows -> Result {
    try budget.sharing(steps, on: use(), body)
  }

  /// Whether a statement exceeded the limit since `withStepLimit(_:_:)` began.
  package var isStepLimitReached: Bool { budget.isExceeded }

  /// Returns whether a SELECT returns a row.
  ///
  /// The statement runs up to its first row and isn't cached.
  package func hasRow(_ sql: String) throws(SQLiteError) -> Bool {
    let statement = try prepare(sql)
    return try statement.step()
  }

  /// Returns an error that describes the exceeded limit of this connection, or `nil` for other
  /// errors.
  static func limitError(
    _ code: Int32, sql: String?, handle: OpaquePointer?, budget: StepBudget?,
    authorizer: StatementAuthorizer?
  ) -> SQLiteError? {
    switch code & 0xFF {
    case SQLITE_INTERRUPT:
      guard let budget, budget.isExceeded, let limit = budget.limit else { return nil }
      let exceeded =
        if let seconds = budget.exceededSeconds {
          budget.statementSeconds == nil
            ? "the time limit is \(seconds) s"
            : "the time limit of this statement is \(seconds) s; read or change fewer rows in it"
        } else {
          "the limit of this statement is \(limit) VM steps"
        }
      return SQLiteError(code: .error, message: "stopped: \(exceeded)", sql: sql)
    case SQLITE_TOOBIG:
      let longest = sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, -1)
      if let sql, sql.utf8.count > Int(longest) {
        return SQLiteError(
          code: .tooBig, message: "the statement is too long; the limit is \(longest) bytes",
          sql: sql)
      }
      let limit = sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, -1)
      return SQLiteError(
        code: .tooBig, message: "a string or BLOB is too large; the limit is \(limit) bytes",
        sql: sql)
    case SQLITE_AUTH, SQLITE_ERROR:
      if let refusal = authorizer?.takeDenial() {
        return SQLiteError(code: .authorization, message: refusal, sql: sql)
      }
      guard let handle, String(cString: sqlite3_errmsg(handle)).hasSuffix("pattern too complex")
      else { return nil }
      let longest = sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1)
      return SQLiteError(
        code: .error,
        message: "a LIKE or GLOB pattern is too long; the limit is \(longest) bytes", sql: sql)
    default:
      return nil
    }
  }
}

/// Interrupts a running statement from another thread.
// Sendable is unchecked: the lock guards the handle, which is nil once the connection is closing.
final class Interruption: @unchecked Sendable {
  private let lock = NSLock()
  private var handle: OpaquePointer?

  init(_ handle: OpaquePointer) {
    self.handle = handle
  }

  func send() {
    lock.withLock {
      if let handle { sqlite3_interrupt(handle) }
    }
  }

  /// Whether the connection is closed.
  var isEnded: Bool { lock.withLock { handle == nil } }

  /// Detaches the handle, which can then be closed without being interrupted.
  func end() {
    lock.withLock { handle = nil }
  }
}

/// Waits for locks of other connections with the same timing as SQLite's busy handler.
///
/// The connection retains it while SQLite can call it, on the connection's thread.
final class LockWaits: Sendable {
  /// The maximum time that a statement waits, in milliseconds.
  let timeout: Int

  /// The pauses between attempts, in milliseconds.
  ///
  /// The last one is repeated.
  private static let pauses = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]

  /// Creates a busy handler.
  ///
  /// - Parameter milliseconds: The time that a statement waits before it fails with `SQLITE_BUSY`.
  init(timeout milliseconds: Int32) {
    timeout = Int(milliseconds)
  }

  /// Registers the busy handler.
  func register(on handle: OpaquePointer) {
    sqlite3_busy_handler(
      handle,
      { context, attempts in
        guard let context else { return 0 }
        let waits = Unmanaged<LockWaits>.fromOpaque(context).takeUnretainedValue()
        return waits.pause(after: Int(attempts)) ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Waits for the next attempt, and returns whether to make one.
  private func pause(after attempts: Int) -> Bool {
    let pauses = LockWaits.pauses
    let last = pauses.count - 1
    let spent =
      pauses.prefix(attempts).reduce(0, +) + max(0, attempts - pauses.count) * pauses[last]
    let next = min(pauses[min(attempts, last)], timeout - spent)
    guard next > 0 else { return false }
    usleep(UInt32(next) * 1_000)
    return true
  }
}
