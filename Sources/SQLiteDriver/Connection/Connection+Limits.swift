import CSQLite
import Foundation

// What a connection is never allowed, and what one that only reads is allowed less.

extension Connection {
  /// Turns off what no store needs and what a hostile schema could use.
  ///
  /// - Parameter isReadOnly: For a file that's opened read-only, which can come from anywhere. Views are
  ///   off there too: a store has none, and one instead of a table can be endless.
  static func harden(_ handle: OpaquePointer, isReadOnly: Bool) throws(SQLiteError) {
    var settings = [
      (SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
      (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false),
    ]
    if isReadOnly {
      // A writer has to trust the schema: triggers of a range index write to an R-tree.
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

  /// Keeps all statements that are prepared from now on inside of the store.
  ///
  /// Also turns on SQLite's defensive mode: no statement can write to the schema as if it were a table.
  /// No value can be longer than 256 MB.
  /// - Throws: `SQLITE_AUTH` from then on, with what isn't allowed: `ATTACH`, `VACUUM INTO`, functions
  ///   that load code, and pragmas that concern more than the store.
  package func confine() {
    guard confinement == nil else { return }
    let confinement = Confinement()
    confinement.serve(use())
    _ = cdprof_db_config(use(), SQLITE_DBCONFIG_DEFENSIVE, 1)
    sqlite3_limit(use(), SQLITE_LIMIT_LENGTH, Self.longestValue)
    self.confinement = confinement
  }

  /// Makes statements that read a view fail from now on: one instead of a table can be endless.
  package func refuseViews() {
    _ = cdprof_db_config(use(), SQLITE_DBCONFIG_ENABLE_VIEW, 0)
  }

  /// Whether a pragma can be set when a store is opened: it concerns only the store.
  ///
  /// Opening a store with another one throws `SQLITE_MISUSE`.
  package static func allows(pragma name: String) -> Bool {
    Confinement.allows(pragma: name)
  }

  /// The names for which `allows(pragma:)` is true, in lowercase and in order.
  package static var allowedPragmas: [String] { Confinement.pragmas.sorted() }

  /// Bounds the memory that SQLite takes for all connections of the process.
  ///
  /// A statement that needs more fails with `SQLITE_NOMEM`, and its connection stays usable.
  package static func limitMemory(toBytes bytes: Int64) {
    sqlite3_hard_heap_limit64(bytes)
  }

  /// VM steps that a statement of a read-only connection may take: about a minute.
  static let readOnlySteps = 10_000_000_000

  /// Bytes of a value or a row; larger values are kept in files of their own.
  private static let longestValue: Int32 = 256 << 20

  private static let readOnlyLimits: [(Int32, Int32)] = [
    (SQLITE_LIMIT_LENGTH, longestValue),
    (SQLITE_LIMIT_SQL_LENGTH, 16 << 20),
    (SQLITE_LIMIT_VDBE_OP, 10_000_000),
    // VACUUM, which fails there, attaches one.
    (SQLITE_LIMIT_ATTACHED, 1),
    (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 10_000),
    (SQLITE_LIMIT_TRIGGER_DEPTH, 10),
    (SQLITE_LIMIT_WORKER_THREADS, 0),
  ]
}

/// How many VM steps a connection's statements may take.
// Sendable unchecked: only the connection's thread reads and writes it.
final class StepBudget: @unchecked Sendable {
  /// VM steps from one call of the progress handler to the next.
  private static let interval = 10_000

  /// The limit that's in force, in VM steps; nil for none.
  @exclusivity(unchecked) private(set) var limit: Int?
  @exclusivity(unchecked) private var used = 0
  /// Whether the limit is for several statements together.
  @exclusivity(unchecked) private var isShared = false
  /// Whether the last statement was stopped by the limit.
  @exclusivity(unchecked) private(set) var isExceeded = false

  init(limit: Int?) {
    self.limit = limit
  }

  /// Starts a statement.
  func begin() {
    guard limit != nil, !isShared else { return }
    used = 0
    isExceeded = false
  }

  /// Sets the limit of each statement.
  func restrict(to steps: Int, on handle: OpaquePointer) {
    limit = steps
    serve(handle)
  }

  /// Has SQLite ask here while statements run, if there's a limit.
  func serve(_ handle: OpaquePointer) {
    guard limit != nil else { return sqlite3_progress_handler(handle, 0, nil, nil) }
    sqlite3_progress_handler(
      handle, Int32(StepBudget.interval),
      { context in
        guard let context else { return 0 }
        return Retained.borrow(context, as: StepBudget.self).spend() ? 0 : 1
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func spend() -> Bool {
    used &+= StepBudget.interval
    guard let limit, used > limit else { return true }
    isExceeded = true
    return false
  }

  /// Runs the closure with a limit for all its statements together.
  func sharing<Result>(
    _ shared: Int, on handle: OpaquePointer, _ body: () throws -> Result
  ) rethrows -> Result {
    guard !isShared else { return try body() }
    let usual = limit
    (limit, used, isShared, isExceeded) = (shared, 0, true, false)
    serve(handle)
    defer {
      (limit, used, isShared) = (usual, 0, false)
      serve(handle)
    }
    return try body()
  }
}

extension Connection {
  /// Lets each statement from now on take at most that many VM steps.
  ///
  /// A statement that goes beyond it throws `SQLITE_ERROR` with the limit.
  package func limitSteps(_ steps: Int) {
    budget.restrict(to: steps, on: use())
  }

  /// Runs the closure, in which all statements together take at most that many VM steps.
  ///
  /// For statements whose cost a valid store bounds, and a hostile one need not. A statement that goes
  /// beyond it throws `SQLITE_ERROR` with the limit. Inside of another such closure, the outer limit
  /// is in force.
  package func withStepLimit<Result>(
    _ steps: Int, _ body: () throws -> Result
  ) rethrows -> Result {
    try budget.sharing(steps, on: use(), body)
  }

  /// Whether the limit stopped a statement since `withStepLimit(_:_:)` began.
  package var isStepLimitReached: Bool { budget.isExceeded }

  /// Whether a SELECT finds a row; it's run to its first, once, and isn't kept prepared.
  package func hasRow(_ sql: String) throws(SQLiteError) -> Bool {
    let statement = try prepare(sql)
    return try statement.step()
  }

  /// An error that the limits of this connection caused, in words that state the limit; nil for others.
  static func limitError(
    _ code: Int32, sql: String?, handle: OpaquePointer?, budget: StepBudget?,
    confinement: Confinement?
  ) -> SQLiteError? {
    switch code & 0xFF {
    case SQLITE_INTERRUPT:
      guard let budget, budget.isExceeded, let limit = budget.limit else { return nil }
      return SQLiteError(
        code: .error, message: "stopped after \(limit) VM steps, the limit of this statement",
        sql: sql)
    case SQLITE_TOOBIG:
      let limit = sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, -1)
      return SQLiteError(
        code: .tooBig, message: "a string or BLOB is larger than \(limit) bytes, the limit",
        sql: sql)
    case SQLITE_AUTH, SQLITE_ERROR:
      guard let refusal = confinement?.takeRefusal() else { return nil }
      return SQLiteError(code: .authorization, message: refusal, sql: sql)
    default:
      return nil
    }
  }
}

/// The way to a running statement from another thread.
// Sendable unchecked: the lock guards the handle, which is nil once the connection is closing.
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

  /// After this no interruption reaches the handle, which may be closed.
  func end() {
    lock.withLock { handle = nil }
  }
}

/// Waits for other connections' locks as SQLite does by itself.
///
/// The connection retains it as long as SQLite may call it, on the connection's thread.
final class LockWaits: Sendable {
  /// Milliseconds that one statement waits at most.
  let patience: Int

  /// Milliseconds from one attempt to the next; the last goes on.
  private static let pauses = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]

  /// - Parameter milliseconds: How long one statement waits before it fails as busy.
  init(patience milliseconds: Int32) {
    patience = Int(milliseconds)
  }

  /// Has SQLite ask here when a lock is taken.
  func serve(_ handle: OpaquePointer) {
    sqlite3_busy_handler(
      handle,
      { context, attempts in
        guard let context else { return 0 }
        let waits = Unmanaged<LockWaits>.fromOpaque(context).takeUnretainedValue()
        return waits.pause(after: Int(attempts)) ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Waits for the next attempt; false when there is to be none.
  private func pause(after attempts: Int) -> Bool {
    let pauses = LockWaits.pauses
    let last = pauses.count - 1
    let spent =
      pauses.prefix(attempts).reduce(0, +) + max(0, attempts - pauses.count) * pauses[last]
    let next = min(pauses[min(attempts, last)], patience - spent)
    guard next > 0 else { return false }
    usleep(UInt32(next) * 1_000)
    return true
  }
}
