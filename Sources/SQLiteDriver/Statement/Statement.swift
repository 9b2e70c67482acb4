import CSQLite

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
  let callbacks: CallbackCounts
  private let budget: StepBudget
  private let confinement: Confinement?

  // `@exclusivity(unchecked)`: one thread at a time, and never read and written in one access.
  @exclusivity(unchecked) var state = State.inUse

  /// Takes over a prepared handle and finalises it when it goes.
  init(handle: OpaquePointer, sql: String, connection: Connection) {
    self.handle = handle
    self.sql = sql
    callbacks = connection.callbacks
    budget = connection.budget
    confinement = connection.confinement
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
    let code = sqlite3_step(handle)
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
    sqlite3_reset(handle)
    state = .inUse
  }

  /// Makes a cached statement ready for its next user.
  func prepareForUse() {
    reset()
    state = .inUse
  }

  private func failure(_ code: Int32) -> SQLiteError {
    let database = sqlite3_db_handle(handle)
    let error =
      Connection.limitError(
        code, sql: sql, handle: database, budget: budget, confinement: confinement)
      ?? SQLiteError(handle: database, code: code, sql: sql)
    sqlite3_reset(handle)
    state = .done
    return error
  }
}
