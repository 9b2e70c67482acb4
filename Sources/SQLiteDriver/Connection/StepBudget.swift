import CSQLite

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
