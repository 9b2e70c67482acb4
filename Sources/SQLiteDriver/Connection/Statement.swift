import CSQLite
package import ProfileEvents

/// A prepared statement.
///
/// Use it on the thread that uses its connection. Get a statement from `Connection.statement(_:)`,
/// bind values, and call `step()` until it returns `false`. Call `reset()` if you stop earlier,
/// because a statement that is still reading rows keeps a read transaction open. Don't keep a
/// statement after its connection is returned to the pool, and release it on the connection's
/// thread.
package final class Statement {
  /// The state of a statement: in use, or available.
  enum State: UInt8 {
    /// Reset, without bound values.
    case clean
    /// In use: values are bound, or rows are being read.
    case inUse
    /// All rows were read.
    case done
  }

  /// The SQL, as given.
  package let sql: String
  let handle: OpaquePointer
  let callbacks: CallbackCounts
  private let budget: StepBudget
  private let authorizer: StatementAuthorizer?

  // `@exclusivity(unchecked)`: one thread at a time, and never read and written in one access.
  @exclusivity(unchecked) var state = State.inUse

  /// Creates a statement from a prepared handle, which it finalizes when it's released.
  init(handle: OpaquePointer, sql: String, connection: Connection) {
    self.handle = handle
    self.sql = sql
    callbacks = connection.callbacks
    budget = connection.budget
    authorizer = connection.authorizer
  }

  deinit {
    sqlite3_finalize(handle)
  }

  /// Advances to the next row.
  ///
  /// After the last row, and after an error, the next `step()` runs the statement again with the
  /// same values. After an error, the statement is reset and keeps no lock.
  ///
  /// - Returns: `true` if there's a row, whose columns can be read; `false` after the last row.
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

  /// Ends the execution, releases locks and rows, and clears all bound values.
  package func reset() {
    guard state != .clean else { return }
    rewind()
    sqlite3_clear_bindings(handle)
    state = .clean
  }

  /// Ends the execution, and releases locks and rows.
  ///
  /// Bound values remain, for an execution that binds all of them again.
  package func rewind() {
    sqlite3_reset(handle)
    state = .inUse
  }

  /// Prepares a cached statement for its next user.
  func prepareForUse() {
    reset()
    state = .inUse
  }

  private func failure(_ code: Int32) -> SQLiteError {
    let database = sqlite3_db_handle(handle)
    let error =
      Connection.limitError(
        code, sql: sql, handle: database, budget: budget, authorizer: authorizer)
      ?? SQLiteError(handle: database, code: code, sql: sql)
    sqlite3_reset(handle)
    state = .done
    return error
  }
}

// Strings and bytes are bound with their length, so they can contain zero bytes. SQLite copies
// them, unless they're bound in place. Indexes start at 1. Binding fails if the SQL doesn't contain
// the parameter, or while the statement is reading rows.
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

  /// Binds a UTF-8 string without copying it.
  ///
  /// Its memory must stay valid until the statement is reset or another value is bound to the
  /// parameter.
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

  /// Binds bytes.
  ///
  /// An empty buffer is an empty value, not NULL.
  package func bindBlob(_ bytes: UnsafeRawBufferPointer, at index: Int32) throws(SQLiteError) {
    try check(cdprof_bind_blob(handle, index, bytes.baseAddress, UInt64(bytes.count)))
  }

  /// Binds bytes without copying them.
  ///
  /// Their memory must stay valid until the statement is reset or another value is bound to the
  /// parameter.
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

// Columns start at 0. The accessors read the current row of `step()`. Without one, or for a column
// that doesn't exist, they return 0, an empty value, or NULL. Each makes one or two C calls and
// copies nothing unless documented.
extension Statement {
  /// The number of result columns, which is 0 for a statement that returns no rows.
  package var columnCount: Int32 {
    sqlite3_column_count(handle)
  }

  /// Returns the name of a result column: its alias, or its expression in the SQL.
  package func columnName(_ column: Int32) -> String {
    sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
  }

  /// Returns the storage class of a value in the current row.
  ///
  /// Call this method before any accessor that converts the value.
  package func type(_ column: Int32) -> ColumnType {
    ColumnType(code: sqlite3_column_type(handle, column))
  }

  /// Returns whether a value in the current row is NULL.
  package func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// Returns a value as an integer, converted like SQLite's CAST.
  package func int64(_ column: Int32) -> Int64 {
    sqlite3_column_int64(handle, column)
  }

  /// Returns a value as a floating-point number, converted like SQLite's CAST.
  package func double(_ column: Int32) -> Double {
    sqlite3_column_double(handle, column)
  }

  /// Returns SQLite's memory of a string, as UTF-8 without a terminator.
  ///
  /// Valid until the next `step()`, `reset()`, or conversion of the same column. Empty for NULL.
  package func text(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
    let start = sqlite3_column_text(handle, column)
    return UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// Returns SQLite's memory of a blob, or of a string's bytes.
  ///
  /// Valid until the next `step()`, `reset()`, or conversion of the same column. Empty for NULL and
  /// for an empty value; use `type(_:)` to distinguish them.
  package func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// Returns a copy of a string.
  ///
  /// Invalid UTF-8 is replaced with U+FFFD.
  package func string(_ column: Int32) -> String {
    String(decoding: text(column), as: UTF8.self)
  }

  /// Returns a copy of a value in the current row.
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
  /// Returns one of SQLite's counters for this statement, since it was prepared or the counter was
  /// reset.
  ///
  /// The counters of a cached statement accumulate over all its users: reset the counter before the
  /// execution to measure. **Cost:** about 40 ns per counter.
  package func status(_ counter: StatementStatus, reset: Bool) -> Int {
    Int(sqlite3_stmt_status(handle, counter.code, reset ? 1 : 0))
  }

  /// Whether the statement doesn't modify the file.
  package var isReadOnly: Bool {
    sqlite3_stmt_readonly(handle) != 0
  }
}

extension Statement {
  /// The work that SQLite did for this statement since it was prepared.
  ///
  /// Read it before and after an execution and compute the difference. The page counts and the
  /// calls of functions and collations are those of the entire connection, which runs one statement
  /// at a time, except for statements that are still reading rows. **Cost:** about 300 ns.
  package var work: StatementWork {
    StatementWork(
      vmSteps: status(.vmSteps, reset: false),
      fullScanSteps: status(.fullScanSteps, reset: false), sorts: status(.sorts, reset: false),
      autoIndexRows: status(.autoIndexes, reset: false), functionCalls: callbacks.functions,
      collationCalls: callbacks.collations, pagesRead: status(of: .cacheMisses),
      pagesWritten: status(of: .cacheWrites))
  }

  /// Returns one of SQLite's counters for the statement's connection.
  private func status(of counter: ConnectionStatus) -> Int {
    var current: Int32 = 0
    var highest: Int32 = 0
    sqlite3_db_status(sqlite3_db_handle(handle), counter.code, &current, &highest, 0)
    return Int(current)
  }
}

/// A counter that SQLite keeps for each statement.
///
/// See <https://www.sqlite.org/c3ref/c_stmtstatus_counter.html>.
package enum StatementStatus: Sendable, CaseIterable {
  /// The number of rows stepped over in full table scans, which an index might avoid.
  case fullScanSteps
  /// The number of sorts that didn't use an index.
  case sorts
  /// The number of rows inserted into automatic indexes.
  case autoIndexes
  /// The number of VM steps, the most exact measure of work.
  case vmSteps
  /// The number of times the statement was prepared again because the schema or a bound value
  /// changed.
  case reprepares
  /// The number of executions.
  case runs
  /// The memory of the statement, in bytes.
  ///
  /// Never reset.
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
