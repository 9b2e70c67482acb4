import CSQLite

extension Connection {
  /// Returns a prepared statement for SQL, reset and without bound values.
  ///
  /// Statements are prepared once and cached, except very long ones; the same SQL returns the same
  /// statement. If the cached statement is in use, this method returns a second one that isn't
  /// cached. A statement is available again after `reset()`, after the last row, or when it's
  /// released.
  ///
  /// - Throws: An error if SQLite can't prepare the SQL, if it's empty, or if it contains more than
  ///   one statement or a zero byte.
  package func statement(_ sql: String) throws(SQLiteError) -> Statement {
    budget.begin()
    switch statements.find(sql) {
    case .idle(let statement):
      statement.prepareForUse()
      return statement
    case .taken:
      return try prepare(sql, flags: 0)
    case .absent:
      guard sql.utf8.count <= StatementCache.longestText else { return try prepare(sql, flags: 0) }
      let statement = try prepare(sql, flags: UInt32(SQLITE_PREPARE_PERSISTENT))
      statements.insert(statement)
      return statement
    }
  }

  /// Runs all statements in SQL and ignores their rows.
  ///
  /// Stops at the first error; the effects of previous statements remain. A short single statement,
  /// such as `BEGIN`, is cached.
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

  /// Returns whether SQL is certainly a single short statement that can be cached: it starts with a
  /// word and contains no semicolon.
  private static func isShortStatement(_ sql: String) -> Bool {
    let bytes = sql.utf8
    guard let first = bytes.first, bytes.count <= 40 else { return false }
    let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first | 0x20)
    return isLetter && !bytes.contains(UInt8(ascii: ";"))
  }

  /// Returns copies of all rows of a small query.
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

  /// Returns an uncached statement, for SQL that runs once.
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

  /// Prepares the first statement after `start`.
  ///
  /// The handle is `nil` if only comments follow.
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
    let isCut = code == SQLITE_OK && length < bytes.count && bytes[length] == 0
    if code == SQLITE_OK, !isCut { return (handle, max(length, start + 1)) }
    let text = String(decoding: bytes[start...], as: UTF8.self)
    guard !isCut else {
      // SQLite reads up to a zero byte, and would run a statement without the condition after it.
      sqlite3_finalize(handle)
      let message = "the text contains a zero byte"
      throw SQLiteError(code: .misuse, message: message, sql: text, offset: length - start)
    }
    let error = error(code, sql: text)
    if try provideIntArray(missedBy: error) {
      return try prepare(bytes, from: start, flags: flags)
    }
    throw error
  }
}

extension Connection {
  /// Registers a closure as an SQL function.
  ///
  /// Replaces a function with the same name. SQLite calls the closure on the connection's thread,
  /// usually once per row. The closure must not use the connection. Because a schema can call the
  /// function, it must not have relevant side effects. An error that the closure throws becomes the
  /// statement's error.
  ///
  /// With an `argumentCount` of -1, the function takes any number of arguments. A `deterministic`
  /// function returns the same result for the same arguments; only such a function can be used in
  /// an index or be evaluated once per statement.
  package func createFunction(
    _ name: String, argumentCount: Int32, deterministic: Bool,
    _ body: @escaping @Sendable ([SQLiteValue]) throws -> SQLiteValue
  ) throws(SQLiteError) {
    // A schema can't use functions without this flag; triggers and indexes need these.
    let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS | (deterministic ? SQLITE_DETERMINISTIC : 0)
    // SQLite also calls the destructor if registering fails.
    let code = sqlite3_create_function_v2(
      use(), name, argumentCount, flags, Retained.pass(ScalarFunction(body, counts: callbacks)),
      { ScalarFunction.call($0, $1, $2) }, nil, nil, { if let data = $0 { Retained.release(data) } }
    )
    guard code == SQLITE_OK else { throw error(code) }
  }

  /// Registers a closure as a collation for `COLLATE`.
  ///
  /// The closure takes two UTF-8 strings and returns a number below, equal to, or above 0, like
  /// `strcmp`. SQLite calls it on the connection's thread for each comparison. The closure must not
  /// use the connection. An index that uses a collation is valid only as long as the collation
  /// doesn't change.
  package func createCollation(
    _ name: String,
    _ compare: @escaping @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int32
  ) throws(SQLiteError) {
    let data = Retained.pass(Collation(compare, counts: callbacks))
    let code = sqlite3_create_collation_v2(
      use(), name, SQLITE_UTF8, data,
      { Collation.call($0, $1, $2, $3, $4) }, { if let data = $0 { Retained.release(data) } })
    guard code == SQLITE_OK else {
      // In this case, SQLite leaves the destructor to the caller.
      Retained.release(data)
      throw error(code)
    }
  }
}

extension Connection {
  /// Makes `values` the rows of the table `_Z_intarray<index>` with the column `value INTEGER`.
  ///
  /// The array is shared, not copied, and is used until it's replaced. A statement that is reading
  /// rows keeps the previous values. This works with every kind of access and in transactions, and
  /// modifies neither the file nor its schema.
  package func bindIntArray(
    _ index: Int, _ values: ContiguousArray<Int64>
  ) throws(SQLiteError) {
    try intArray(index).current = IntArray.Values(values)
  }

  /// Returns the array of a table, and registers the table on first use.
  private func intArray(_ index: Int) throws(SQLiteError) -> IntArray {
    if let array = intArrays[index] { return array }
    let array = IntArray()
    let code = IntArrayModule.register("\(Connection.intArrayPrefix)\(index)", array, on: use())
    guard code == SQLITE_OK else { throw error(code) }
    intArrays[index] = array
    return array
  }

  /// Registers an empty table if preparing a statement failed because it was missing.
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
  /// Returns SQLite's query plan for SQL without running it.
  ///
  /// Parameters don't need values, and `_Z_intarrayN` tables don't need arrays. However, if there's
  /// a partial index, the values determine whether it contains the rows. Functions and collations
  /// in the SQL must be registered. Prepares one statement, which isn't cached.
  ///
  /// - Parameter binds: The values of the first parameters. Values without a parameter are ignored.
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
  /// Replaces the database of another connection with a copy of this one, page by page.
  ///
  /// Waits for locks like a statement does. The copy of a file in WAL mode is marked as being in
  /// WAL mode, which an in-memory database doesn't support: change the journal mode of the file
  /// first.
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

/// The prepared statements of a connection, by SQL.
struct StatementCache {
  /// The result of a cache lookup.
  enum Found {
    /// A statement that is available.
    case idle(Statement)
    /// A statement that is in use.
    case taken
    case absent
  }

  private struct Slot {
    var statement: Statement
    var lastUse: UInt64
  }

  /// The number of bytes beyond which a statement isn't cached: a list of values in the text
  /// differs each time, and takes megabytes.
  static let longestText = 100_000

  private let limit: Int
  private var slots: [Slot] = []
  private var positions: [String: Int] = [:]
  private var latest = 0
  private var uses: UInt64 = 0

  init(limit: Int) {
    self.limit = limit
  }

  /// Looks up the statement for SQL.
  ///
  /// **Cost:** no hashing if the SQL is the same as in the previous lookup.
  mutating func find(_ sql: String) -> Found {
    if latest >= slots.count || slots[latest].statement.sql != sql {
      guard let position = positions[sql] else { return .absent }
      latest = position
    }
    uses &+= 1
    slots[latest].lastUse = uses
    return isIdle(latest) ? .idle(slots[latest].statement) : .taken
  }

  /// Adds a statement whose SQL isn't in the cache, and removes the least recently used one if
  /// necessary.
  mutating func insert(_ statement: Statement) {
    guard limit > 0 else { return }
    if slots.count >= limit { evict() }
    uses &+= 1
    latest = slots.count
    positions[statement.sql] = latest
    slots.append(Slot(statement: statement, lastUse: uses))
  }

  /// Removes all statements.
  ///
  /// Those that are still referenced stay valid until they're released.
  mutating func removeAll() {
    slots.removeAll()
    positions.removeAll()
    latest = 0
  }

  /// Returns whether a statement is available, which includes one that was released while in use:
  /// only the cache references it.
  private mutating func isIdle(_ position: Int) -> Bool {
    slots[position].statement.state != .inUse
      || isKnownUniquelyReferenced(&slots[position].statement)
  }

  private mutating func evict() {
    guard let oldest = slots.indices.min(by: { slots[$0].lastUse < slots[$1].lastUse }) else {
      return
    }
    positions[slots[oldest].statement.sql] = nil
    let last = slots.removeLast()
    if oldest < slots.count {
      slots[oldest] = last
      positions[last.statement.sql] = oldest
    }
  }
}
