import CSQLite
import ProfileEvents

/// A prepared statement.
///
/// It is used on the thread that uses its connection.
///
/// Ask `Connection.statement(_:)` for one, bind, step until false, and `reset()` when you stop
/// earlier: a statement left in the middle of its rows keeps a read transaction open.
/// Do not keep one longer than the lease of its connection; drop it on the connection's thread.
package final class Statement {
  /// Where a statement stands between being handed out and being free for others.
  enum State: UInt8 {
    /// Reset, nothing bound.
    case clean
    /// Handed out, bound or in the middle of its rows.
    case inUse
    /// Stepped to the end.
    case done
  }

  /// The text, as given.
  package let sql: String
  let handle: OpaquePointer
  let clock: StatementClock
  let callbacks: CallbackCounts

  // `@exclusivity(unchecked)`: one thread at a time, and never read and written in one access.
  @exclusivity(unchecked) var state = State.inUse
  @exclusivity(unchecked) private var spent: UInt64 = 0
  @exclusivity(unchecked) private var isBetweenRuns = true

  /// Takes over a prepared handle and finalises it when it goes.
  init(
    handle: OpaquePointer, sql: String, clock: StatementClock, callbacks: CallbackCounts
  ) {
    self.handle = handle
    self.sql = sql
    self.clock = clock
    self.callbacks = callbacks
  }

  deinit {
    sqlite3_finalize(handle)
  }

  /// Runs to the next row.
  ///
  /// True: there is one, read it by the column accessors. False: the end.
  ///
  /// After the end, and after an error, the next `step()` runs the statement anew with the same
  /// values. After an error the statement is reset: it holds no lock.
  package func step() throws(SQLiteError) -> Bool {
    let code = clock.isRunning ? timedStep() : sqlite3_step(handle)
    if code == SQLITE_ROW {
      state = .inUse
      return true
    }
    if code == SQLITE_DONE {
      state = .done
      return false
    }
    throw failure(code)
  }

  /// Ends the run, lets go of locks and rows and clears all values.
  package func reset() {
    guard state != .clean else { return }
    rewind()
    sqlite3_clear_bindings(handle)
    state = .clean
  }

  /// Ends the run and lets go of locks and rows; what is bound stays bound, for a run that binds every
  /// value anew.
  package func rewind() {
    if clock.isRunning, !isBetweenRuns {
      let start = MonotonicClock.now()
      sqlite3_reset(handle)
      spent &+= MonotonicClock.now() &- start
    } else {
      sqlite3_reset(handle)
    }
    isBetweenRuns = true
    state = .inUse
  }

  /// Nanoseconds inside `step()` and `reset()` in this run, or in the last one when none has begun.
  ///
  /// A run begins with the first step after a reset. 0 while `connection.isTiming` is off. What
  /// the caller does between two rows is not in it.
  package var elapsed: UInt64 {
    clock.isRunning ? spent : 0
  }

  /// Makes a cached statement ready for its next user.
  func prepareForUse() {
    reset()
    spent = 0
    state = .inUse
  }

  private func timedStep() -> Int32 {
    if isBetweenRuns {
      spent = 0
      isBetweenRuns = false
    }
    let start = MonotonicClock.now()
    let code = sqlite3_step(handle)
    spent &+= MonotonicClock.now() &- start
    return code
  }

  private func failure(_ code: Int32) -> SQLiteError {
    let error = SQLiteError(handle: sqlite3_db_handle(handle), code: code, sql: sql)
    sqlite3_reset(handle)
    state = .done
    return error
  }
}
