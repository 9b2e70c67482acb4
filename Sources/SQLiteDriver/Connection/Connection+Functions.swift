import CSQLite

extension Connection {
  /// Makes a closure callable from SQL.
  ///
  /// A name registered before is replaced.
  ///
  /// The closure runs on the connection's thread, once a row, and must not use the connection.
  /// A schema can call it, so it must not have side effects that matter.
  /// What it throws becomes the statement's error. `argumentCount` -1 takes any number.
  /// A `deterministic` function gives the same result for the same arguments; only such a one may
  /// stand in an index or be computed once for a whole statement.
  package func createFunction(
    _ name: String, argumentCount: Int32, deterministic: Bool,
    _ body: @escaping @Sendable ([SQLiteValue]) throws -> SQLiteValue
  ) throws(SQLiteError) {
    // A schema isn't trusted with other functions; triggers and indexes need these.
    let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS | (deterministic ? SQLITE_DETERMINISTIC : 0)
    // SQLite calls the destructor also when registering fails.
    let code = sqlite3_create_function_v2(
      use(), name, argumentCount, flags, Retained.pass(ScalarFunction(body, counts: callbacks)),
      { ScalarFunction.call($0, $1, $2) }, nil, nil, { if let data = $0 { Retained.release(data) } }
    )
    guard code == SQLITE_OK else { throw error(code) }
  }

  /// Makes a closure usable behind `COLLATE`.
  ///
  /// It gets two texts as UTF-8 and returns a number below, at or above 0, as `strcmp` does.
  ///
  /// The closure runs on the connection's thread, once a comparison, and must not use the
  /// connection. An index made with a collation is only right while the collation stays the same.
  package func createCollation(
    _ name: String,
    _ compare: @escaping @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int32
  ) throws(SQLiteError) {
    let data = Retained.pass(Collation(compare, counts: callbacks))
    let code = sqlite3_create_collation_v2(
      use(), name, SQLITE_UTF8, data,
      { Collation.call($0, $1, $2, $3, $4) }, { if let data = $0 { Retained.release(data) } })
    guard code == SQLITE_OK else {
      // Here SQLite leaves the destructor to the caller.
      Retained.release(data)
      throw error(code)
    }
  }
}
