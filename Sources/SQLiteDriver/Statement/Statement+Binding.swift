import CSQLite

// Texts and bytes are bound with their known length, so they may hold zero bytes. SQLite copies them,
// unless they are bound in place, so they may go away at once. Indexes count from 1. Binding fails for an index the text does not have,
// and while the statement stands in the middle of its rows.
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

  /// Binds a text.
  package func bind(_ value: String, at index: Int32) throws(SQLiteError) {
    var text = value
    try check(
      text.withUTF8 { cdprof_bind_text(handle, index, $0.baseAddress, UInt64($0.count)) })
  }

  /// Binds a text by its UTF-8, which must stay where it is until another value is bound there or the
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
