import CSQLite
package import ProfileEvents

/// A prepared statement.
///
/// It is used on the thread that uses its connection.
///
/// Ask `Connection.statement(_:)` for one, bind, step until false, and `reset()` when you stop
/// earlier: a statement left in the middle of its rows keeps a read transaction open.
/// Do not keep one longer than the lease of its connection; drop it on the connection's thread.
package final class Statement {
  /// The state of a statement: checked out, or free for others.
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
  /// After the end, and after an error, the next `step()` runs the statement again with the same
  /// values. After an error the statement is reset: it has no lock.
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

  /// Ends the run, releases locks and rows, and clears all values.
  package func reset() {
    guard state != .clean else { return }
    rewind()
    sqlite3_clear_bindings(handle)
    state = .clean
  }

  /// Ends the run and releases locks and rows; bound values stay, for a run that binds every
  /// value again.
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

// Texts and bytes are bound with their known length, so they may hold zero bytes. SQLite copies them,
// unless they are bound in place, so they may go away at once. Indexes count from 1. Binding fails for
// an index that the SQL doesn't have, and while the statement is between two of its rows.
extension Statement {
  /// Binds a value of any kind.
  package func bind(_ value: SQLiteValue, at index: Int32) throws(SQLiteError) {
    switch value {
    case .null: try bindNull(at: index)
    case .integer(let value): try bind(value, at: index)
    case .real(let value): try bind(value, at: index)
    case .text(let value): try bind(value, at: index)
    case .blob(let bytes): try check(bindBytes(bytes, at: index))
    }
  }

  /// Binds an integer.
  package func bind(_ value: Int64, at index: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_int64(handle, index, value))
  }

  /// Binds an integer.
  package func bind(_ value: Int, at index: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_int64(handle, index, Int64(value)))
  }

  /// Binds a floating-point number.
  ///
  /// SQLite stores NaN as NULL.
  package func bind(_ value: Double, at index: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_double(handle, index, value))
  }

  /// Binds a string.
  package func bind(_ value: String, at index: Int32) throws(SQLiteError) {
    var text = value
    try check(
      text.withUTF8 { cdprof_bind_text(handle, index, $0.baseAddress, UInt64($0.count)) })
  }

  /// Binds a string by its UTF-8, which must stay where it is until another value is bound there or the
  /// statement is reset.
  package func bindTextInPlace(
    _ bytes: UnsafeRawBufferPointer, at index: Int32
  ) throws(SQLiteError) {
    let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    try check(cdprof_bind_text_in_place(handle, index, start, UInt64(bytes.count)))
  }

  /// Binds NULL.
  package func bindNull(at index: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_null(handle, index))
  }

  /// Binds bytes; none at all is an empty value, not NULL.
  package func bindBlob(_ bytes: UnsafeRawBufferPointer, at index: Int32) throws(SQLiteError) {
    try check(cdprof_bind_blob(handle, index, bytes.baseAddress, UInt64(bytes.count)))
  }

  /// Binds bytes, which must stay where they are until another value is bound there or the statement is
  /// reset.
  package func bindBlobInPlace(
    _ bytes: UnsafeRawBufferPointer, at index: Int32
  ) throws(SQLiteError) {
    try check(
      cdprof_bind_blob_in_place(handle, index, bytes.baseAddress, UInt64(bytes.count)))
  }

  private func bindBytes(_ bytes: [UInt8], at index: Int32) -> Int32 {
    bytes.withUnsafeBytes {
      cdprof_bind_blob(handle, index, $0.baseAddress, UInt64($0.count))
    }
  }

  @inline(__always)
  private func check(_ code: Int32) throws(SQLiteError) {
    state = .inUse
    if code != SQLITE_OK {
      throw SQLiteError(handle: sqlite3_db_handle(handle), code: code, sql: sql)
    }
  }
}

// Columns count from 0. The accessors read the row the last `step()` stopped at; without one, and
// for a column that doesn't exist, they give 0, nothing or null. Each is one or two calls of C and
// copies nothing unless it says so.
extension Statement {
  /// Columns of the result; 0 for a statement that returns no rows.
  package var columnCount: Int32 {
    sqlite3_column_count(handle)
  }

  /// The name of a result column: its alias, or what the text says.
  package func columnName(_ column: Int32) -> String {
    sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
  }

  /// The storage class of the row's value.
  ///
  /// Ask before any accessor that converts.
  package func type(_ column: Int32) -> ColumnType {
    ColumnType(code: sqlite3_column_type(handle, column))
  }

  /// Whether the row's value is NULL.
  package func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// The value as an integer, converted as SQLite's CAST does.
  package func int64(_ column: Int32) -> Int64 {
    sqlite3_column_int64(handle, column)
  }

  /// The value as a floating-point number, converted as SQLite's CAST does.
  package func double(_ column: Int32) -> Double {
    sqlite3_column_double(handle, column)
  }

  /// SQLite's own memory of a string, as UTF-8 without a terminator.
  ///
  /// Valid until the next `step()`, `reset()` or conversion of the same column. Empty for NULL.
  package func text(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
    let start = sqlite3_column_text(handle, column)
    return UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// SQLite's own memory of a blob, or of a string's bytes.
  ///
  /// Valid until the next `step()`, `reset()` or conversion of the same column. Empty for NULL and
  /// for a value of no bytes; `type(_:)` distinguishes them.
  package func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// A copy of a string.
  ///
  /// Invalid UTF-8 becomes U+FFFD.
  package func string(_ column: Int32) -> String {
    String(decoding: text(column), as: UTF8.self)
  }

  /// A copy of the row's value.
  package func value(_ column: Int32) -> SQLiteValue {
    switch type(column) {
    case .null: .null
    case .integer: .integer(int64(column))
    case .real: .real(double(column))
    case .text: .text(string(column))
    case .blob: .blob([UInt8](blob(column)))
    }
  }
}

extension Statement {
  /// One of SQLite's counters of this statement, since it was prepared or the counter was reset.
  ///
  /// A cached statement counts on for all its users: reset the counter before the run to be
  /// measured. About 40 ns a counter.
  package func status(_ counter: StatementStatus, reset: Bool) -> Int {
    Int(sqlite3_stmt_status(handle, counter.code, reset ? 1 : 0))
  }

  /// Whether running the statement leaves the file as it is.
  package var isReadOnly: Bool {
    sqlite3_stmt_readonly(handle) != 0
  }
}

extension Statement {
  /// What SQLite did for this statement since it was prepared.
  ///
  /// Read it before and after a run; the difference is the run's. The pages and the calls of functions
  /// and collations are those of the whole connection, which runs one statement at a time, apart from
  /// statements that are between two of their rows. About 300 ns.
  package var work: StatementWork {
    StatementWork(
      vmSteps: status(.vmSteps, reset: false),
      fullScanSteps: status(.fullScanSteps, reset: false), sorts: status(.sorts, reset: false),
      autoIndexRows: status(.autoIndexes, reset: false), functionCalls: callbacks.functions,
      collationCalls: callbacks.collations, pagesRead: status(of: .cacheMisses),
      pagesWritten: status(of: .cacheWrites))
  }

  /// One of SQLite's counters of the statement's connection.
  private func status(of counter: ConnectionStatus) -> Int {
    var current: Int32 = 0
    var highest: Int32 = 0
    sqlite3_db_status(sqlite3_db_handle(handle), counter.code, &current, &highest, 0)
    return Int(current)
  }
}

/// A counter SQLite keeps for each statement.
///
/// See <https://www.sqlite.org/c3ref/c_stmtstatus_counter.html>.
package enum StatementStatus: Sendable, CaseIterable {
  /// Rows stepped over in scans of whole tables: an index might help.
  case fullScanSteps
  /// Sorts done outside an index.
  case sorts
  /// Rows put into indexes made for one run.
  case autoIndexes
  /// Instructions of SQLite's virtual machine, the closest there is to exact work.
  case vmSteps
  /// Times the text was prepared again because the schema or a value changed.
  case reprepares
  /// Runs begun.
  case runs
  /// Bytes the statement occupies now. Never reset.
  case memory

  var code: Int32 {
    switch self {
    case .fullScanSteps: SQLITE_STMTSTATUS_FULLSCAN_STEP
    case .sorts: SQLITE_STMTSTATUS_SORT
    case .autoIndexes: SQLITE_STMTSTATUS_AUTOINDEX
    case .vmSteps: SQLITE_STMTSTATUS_VM_STEP
    case .reprepares: SQLITE_STMTSTATUS_REPREPARE
    case .runs: SQLITE_STMTSTATUS_RUN
    case .memory: SQLITE_STMTSTATUS_MEMUSED
    }
  }
}
