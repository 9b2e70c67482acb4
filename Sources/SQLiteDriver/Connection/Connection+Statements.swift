import CSQLite

extension Connection {
  /// A statement for the text, reset and with nothing bound.
  ///
  /// The SQL is prepared once and cached; asking again returns the same statement. While a caller
  /// binds or steps it, the same text gives a second statement that is not kept.
  /// `reset()`, stepping to the end or dropping it makes a statement free again.
  /// Throws for SQL that SQLite can't prepare, is empty, or contains more than one statement.
  package func statement(_ sql: String) throws(SQLiteError) -> Statement {
    budget.begin()
    switch statements.find(sql) {
    case .idle(let statement):
      statement.prepareForUse()
      return statement
    case .taken:
      return try prepare(sql, flags: 0)
    case .absent:
      let statement = try prepare(sql, flags: UInt32(SQLITE_PREPARE_PERSISTENT))
      statements.insert(statement)
      return statement
    }
  }

  /// Runs every statement of the text to its end and ignores the rows.
  ///
  /// Stops at the first that fails; those before it stay done. A short text of one statement, such
  /// as `BEGIN`, is kept prepared.
  package func execute(_ sql: String) throws(SQLiteError) {
    if Connection.isShortStatement(sql) {
      let statement = try statement(sql)
      defer { statement.reset() }
      while try statement.step() {}
      return
    }
    let bytes = Array(sql.utf8)
    var start = 0
    while start < bytes.count {
      let (handle, end) = try prepare(bytes, from: start, flags: 0)
      let text = String(decoding: bytes[start..<end], as: UTF8.self)
      start = end
      guard let handle else { continue }
      let statement = Statement(handle: handle, sql: text, connection: self)
      while try statement.step() {}
    }
  }

  /// Whether SQL is certainly one statement, short enough to be cached: it begins with a word
  /// and has no semicolon.
  private static func isShortStatement(_ sql: String) -> Bool {
    let bytes = sql.utf8
    guard let first = bytes.first, bytes.count <= 40 else { return false }
    let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first | 0x20)
    return isLetter && !bytes.contains(UInt8(ascii: ";"))
  }

  /// All rows of a small read, copied.
  ///
  /// The statement is cached.
  package func values(
    _ sql: String, _ binds: [SQLiteValue] = []
  ) throws(SQLiteError) -> [[SQLiteValue]] {
    let statement = try statement(sql)
    defer { statement.reset() }
    for (index, value) in binds.enumerated() {
      try statement.bind(value, at: Int32(index + 1))
    }
    var rows: [[SQLiteValue]] = []
    while try statement.step() {
      rows.append((0..<statement.columnCount).map { statement.value($0) })
    }
    return rows
  }

  /// An uncached statement, for SQL that is run once.
  func prepare(_ sql: String, flags: UInt32 = 0) throws(SQLiteError) -> Statement {
    let bytes = Array(sql.utf8)
    let (handle, end) = try prepare(bytes, from: 0, flags: flags)
    guard let handle else {
      throw SQLiteError(code: .misuse, message: "the text contains no statement", sql: sql)
    }
    let statement = Statement(handle: handle, sql: sql, connection: self)
    if end < bytes.count, let second = try prepare(bytes, from: end, flags: flags).handle {
      sqlite3_finalize(second)
      let message = "the text contains more than one statement"
      throw SQLiteError(code: .misuse, message: message, sql: sql, offset: end)
    }
    return statement
  }

  /// Prepares the first statement behind `start`; the handle is nil where only comments are left.
  private func prepare(
    _ bytes: [UInt8], from start: Int, flags: UInt32
  ) throws(SQLiteError) -> (handle: OpaquePointer?, end: Int) {
    let database = use()
    budget.begin()
    var handle: OpaquePointer?
    var length = 0
    let code = bytes.withUnsafeBytes { buffer in
      let text = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
      var tail: UnsafePointer<CChar>?
      let code = sqlite3_prepare_v3(
        database, text.map { $0 + start }, Int32(buffer.count - start), flags, &handle, &tail)
      if let text, let tail { length = tail - text }
      return code
    }
    if code == SQLITE_OK { return (handle, max(length, start + 1)) }
    let text = String(decoding: bytes[start...], as: UTF8.self)
    let error = error(code, sql: text)
    if try provideIntArray(missedBy: error) {
      return try prepare(bytes, from: start, flags: flags)
    }
    throw error
  }
}

extension Connection {
  /// Makes a closure callable from SQL.
  ///
  /// A name registered before is replaced.
  ///
  /// The closure runs on the connection's thread, once a row, and must not use the connection.
  /// A schema can call it, so it must not have side effects that matter.
  /// What it throws becomes the statement's error. `argumentCount` -1 takes any number.
  /// A `deterministic` function gives the same result for the same arguments; only such a one may
  /// be used in an index or be computed once for a whole statement.
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

extension Connection {
  /// Makes `values` the rows of the table `_Z_intarray<index>`: one column, `value INTEGER`.
  ///
  /// The array is shared, not copied; the values stay until they are replaced. A statement in the
  /// middle of its rows keeps those it began with. Works with every access and in transactions;
  /// nothing reaches the file or its schema.
  package func bindIntArray(
    _ index: Int, _ values: ContiguousArray<Int64>
  ) throws(SQLiteError) {
    try intArray(index).current = IntArray.Values(values)
  }

  /// The array behind a table, registered on first need.
  private func intArray(_ index: Int) throws(SQLiteError) -> IntArray {
    if let array = intArrays[index] { return array }
    let array = IntArray()
    let code = IntArrayModule.register("\(Connection.intArrayPrefix)\(index)", array, on: use())
    guard code == SQLITE_OK else { throw error(code) }
    intArrays[index] = array
    return array
  }

  /// Registers an empty table if preparing failed for the lack of it.
  func provideIntArray(missedBy error: SQLiteError) throws(SQLiteError) -> Bool {
    let start = "no such table: \(Connection.intArrayPrefix)"
    guard error.message.hasPrefix(start), let index = Int(error.message.dropFirst(start.count)),
      intArrays[index] == nil
    else { return false }
    _ = try intArray(index)
    return true
  }

  private static let intArrayPrefix = "_Z_intarray"
}

extension Connection {
  /// How SQLite would run the text now.
  ///
  /// Nothing is run.
  ///
  /// Parameters need no values and `_Z_intarrayN` tables no arrays; but where there is a partial index,
  /// the values decide whether it contains the rows. Functions and collations in the SQL must be
  /// registered. One statement, not cached.
  /// - Parameter binds: values of the first parameters; those that do not fit are left out.
  package func explainQueryPlan(
    _ sql: String, binds: [SQLiteValue] = []
  ) throws(SQLiteError) -> QueryPlan {
    let prefix = "EXPLAIN QUERY PLAN "
    let text = sql.uppercased().hasPrefix(prefix) ? sql : prefix + sql
    let statement = try prepare(text)
    for (index, value) in binds.enumerated() {
      guard (try? statement.bind(value, at: Int32(index + 1))) != nil else { break }
    }
    var rows: [QueryPlan.Row] = []
    while try statement.step() {
      rows.append(
        QueryPlan.Row(
          id: Int(statement.int64(0)), parent: Int(statement.int64(1)), detail: statement.string(3))
      )
    }
    return QueryPlan(rows)
  }
}

extension Connection {
  /// Replaces the database of another connection by a copy of this one's, page by page.
  ///
  /// Waits for locks as a statement does. A copy of a file in WAL mode says that it is in WAL mode too,
  /// which a database in memory can't be: change the journal mode of the file first.
  package func copy(into target: Connection) throws(SQLiteError) {
    guard let backup = sqlite3_backup_init(target.use(), "main", use(), "main") else {
      throw target.error(sqlite3_errcode(target.use()))
    }
    let code = sqlite3_backup_step(backup, -1)
    let end = sqlite3_backup_finish(backup)
    guard code == SQLITE_DONE, end == SQLITE_OK else {
      throw target.error(code == SQLITE_DONE ? end : code)
    }
  }
}
