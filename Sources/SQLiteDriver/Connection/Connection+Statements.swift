import CSQLite

extension Connection {
  /// A statement for the text, reset and with nothing bound.
  ///
  /// The text is prepared once and kept; asking again gives the same statement. While somebody
  /// binds or steps it, the same text gives a second statement that is not kept.
  /// `reset()`, stepping to the end or dropping it makes a statement free again.
  /// Throws for a text that SQLite cannot prepare, is empty or holds more than one statement.
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

  /// Whether a text is one statement, short enough to be kept, beyond doubt: it begins with a word
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

  /// A statement of its own, for a text that is run once.
  func prepare(_ sql: String, flags: UInt32 = 0) throws(SQLiteError) -> Statement {
    let bytes = Array(sql.utf8)
    let (handle, end) = try prepare(bytes, from: 0, flags: flags)
    guard let handle else {
      throw SQLiteError(code: .misuse, message: "the text holds no statement", sql: sql)
    }
    let statement = Statement(handle: handle, sql: sql, connection: self)
    if end < bytes.count, let second = try prepare(bytes, from: end, flags: flags).handle {
      sqlite3_finalize(second)
      let message = "the text holds more than one statement"
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
