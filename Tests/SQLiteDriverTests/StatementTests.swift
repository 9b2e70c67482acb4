import SQLiteDriver
import Testing

struct StatementTests {
  private func memory() throws -> Connection {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    return connection
  }

  @Test func boundValuesRoundTrip() throws {
    let values: [SQLiteValue] = [
      .null, .integer(.min), .integer(.max), .real(-0.5), .text(""), .text("a\0b 🙂"), .blob([]),
      .blob([0, 255, 7]), .text(String(repeating: "long ", count: 1_000)),
    ]
    let connection = try memory()
    for value in values {
      _ = try connection.values("INSERT INTO t(v) VALUES(?)", [value])
    }
    #expect(try connection.values("SELECT v FROM t ORDER BY id").map { $0[0] } == values)
    try connection.execute("DELETE FROM t WHERE id > 2")
    #expect(connection.changes == values.count - 2)
  }

  @Test func columnTypesAndValuesAreRead() throws {
    let connection = try memory()
    let row = try connection.statement(
      "SELECT 7, -0.5, 'äö' AS \"a name\", x'00ff', NULL, '', x'', '12'")
    #expect(try row.step())
    let types = (0..<row.columnCount).map { row.type($0) }
    #expect(types == [.integer, .real, .text, .blob, .null, .text, .blob, .text])
    #expect(row.int64(0) == 7 && row.double(1) == -0.5 && row.int64(7) == 12)
    #expect(row.columnName(2) == "a name")
    #expect(Array(row.text(2)) == Array("äö".utf8) && row.string(2) == "äö")
    #expect(Array(row.blob(3)) == [0, 255])
    #expect(row.isNull(4) && row.text(4).isEmpty && row.blob(4).isEmpty && row.int64(4) == 0)
    #expect(row.text(5).isEmpty && row.blob(6).isEmpty && !row.isNull(6))
    #expect(try !row.step())
  }

  @Test func statementIsPreparedOncePerConcurrentUse() throws {
    let connection = try memory()
    try connection.execute("INSERT INTO t(v) VALUES(1), (2), (3)")
    let sql = "SELECT v FROM t WHERE id >= ?"
    let outer = try connection.statement(sql)
    try outer.bind(2, at: 1)
    let inner = try connection.statement(sql)
    #expect(inner !== outer, "bound, not stepped")
    try inner.bind(1, at: 1)
    #expect(try outer.step() && inner.step())
    #expect(outer.int64(0) == 2 && inner.int64(0) == 1)
    outer.reset()
    #expect(try connection.statement(sql) === outer, "reset")
    while try outer.step() {}
    #expect(try connection.statement(sql) === outer, "stepped to the end")
  }

  @Test func valuesBoundInPlaceRemainUntilReset() throws {
    let connection = try memory()
    let statement = try connection.statement("INSERT INTO t(v) VALUES(?)")
    let bytes = Array("a\0ä".utf8)
    try bytes.withUnsafeBytes { text in
      try statement.bindTextInPlace(text, at: 1)
      #expect(try !statement.step())
      statement.rewind()
      #expect(try !statement.step(), "the same value once more")
      statement.rewind()
      try statement.bindBlobInPlace(text, at: 1)
      #expect(try !statement.step())
      statement.rewind()
      try statement.bindBlobInPlace(UnsafeRawBufferPointer(start: nil, count: 0), at: 1)
      #expect(try !statement.step())
      statement.reset()
    }
    #expect(try !statement.step(), "nothing is bound")
    statement.reset()
    #expect(
      try connection.values("SELECT v FROM t ORDER BY id") == [
        [.text("a\0ä")], [.text("a\0ä")], [.blob(bytes)], [.blob([])], [.null],
      ])
  }

  @Test func reusedStatementsAreReset() throws {
    let connection = try memory()
    try connection.execute("INSERT INTO t(v) VALUES(1), (2)")
    let sql = "SELECT v, ? FROM t"
    func useHalf() throws -> ObjectIdentifier {
      let statement = try connection.statement(sql)
      try statement.bind("left", at: 1)
      #expect(try statement.step())
      return ObjectIdentifier(statement)
    }
    let identity = try useHalf()
    let again = try connection.statement(sql)
    #expect(ObjectIdentifier(again) == identity)
    #expect(try again.step())
    #expect(again.value(0) == .integer(1) && again.isNull(1))
  }

  @Test func leastRecentlyUsedStatementIsPreparedAgain() throws {
    let options = Connection.Options(statementLimit: 3)
    let connection = try Connection(path: ":memory:", access: .writing, options: options)
    func statement(_ number: Int) throws -> Statement {
      try connection.statement("SELECT \(number)")
    }
    let first = try statement(1)
    first.reset()
    let second = try statement(2)
    second.reset()
    _ = try statement(3)
    try statement(1).reset()
    _ = try statement(4)
    #expect(try statement(1) === first)
    #expect(try statement(2) !== second)
    #expect(try second.step(), "a retained statement remains usable")
    for number in 0..<50 {
      #expect(try connection.values("SELECT \(number)") == [[.integer(Int64(number))]])
    }
  }

  /// Two hundred lists of thousands of values would take more than a gigabyte.
  @Test func longStatementsAreNotKept() throws {
    let connection = try memory()
    for (count, isKept) in [(2_000, true), (20_000, false)] {
      let list = Array(repeating: "x'01'", count: count).joined(separator: ", ")
      let sql = "SELECT x'01' IN (\(list))"
      let first = try connection.statement(sql)
      #expect(try first.step() && first.int64(0) == 1)
      first.reset()
      #expect(try (connection.statement(sql) === first) == isKept)
    }
  }

  @Test func executeRunsEveryStatement() throws {
    let connection = try memory()
    try connection.execute(
      "INSERT INTO t(v) VALUES('a;b'); ; -- a comment; here\nINSERT INTO t(v) VALUES(2);\n ")
    #expect(try connection.values("SELECT count(*) FROM t") == [[.integer(2)]])
    for nothing in ["", " ", "-- nothing", "/* nothing */", ";"] {
      try connection.execute(nothing)
    }
    for word in ["BEGIN", "INSERT INTO t(v) VALUES(9)", "ROLLBACK", "BEGIN", "COMMIT"] {
      try connection.execute(word)
    }
    #expect(!connection.isInTransaction)
    let error = #expect(throws: SQLiteError.self) {
      try connection.execute("INSERT INTO t(v) VALUES(3); INSERT INTO nowhere VALUES(4)")
    }
    #expect(error?.message == "no such table: nowhere")
    #expect(try connection.values("SELECT count(*) FROM t") == [[.integer(3)]])
  }

  @Test(arguments: [
    ("SELECT v FROM t WHERE nope = 1", ResultCode.error, Int?(22), "no such column: nope"),
    ("SELECT 1 FRM t", .error, 13, "near \"t\": syntax error"),
    ("", .misuse, nil, "the text contains no statement"),
    ("-- nothing", .misuse, nil, "the text contains no statement"),
    ("SELECT 1; SELECT 2", .misuse, 9, "the text contains more than one statement"),
    ("SELECT 1\0 WHERE 0", .misuse, 8, "the text contains a zero byte"),
  ])
  func prepareErrorReportsTheOffset(
    _ sql: String, code: ResultCode, offset: Int?, message: String
  ) throws {
    let error = #expect(throws: SQLiteError.self) { try memory().statement(sql) }
    #expect(error?.code == code && error?.offset == offset)
    #expect(error?.message == message && error?.sql == sql)
  }

  @Test func statementThatAZeroByteEndsIsNotRun() throws {
    let connection = try memory()
    try connection.execute("INSERT INTO t(v) VALUES(1), (2)")
    #expect(throws: SQLiteError.self) {
      try connection.execute("UPDATE t SET v = 3; DELETE FROM t\0 WHERE v = 1")
    }
    #expect(try connection.values("SELECT v FROM t") == [[.integer(3)], [.integer(3)]])
  }

  @Test func errorMarksTheOffsetWithACaret() {
    let error = SQLiteError(
      code: .error, message: "no such column: ö", sql: "SELECT\n\tä, ö\nFROM t", offset: 12)
    #expect(error.description == "SQLITE_ERROR: no such column: ö\n\tä, ö\n\t   ^")
  }

  @Test func failedStepHasExtendedCodeAndKeepsStatementUsable() throws {
    let connection = try memory()
    try connection.execute("CREATE UNIQUE INDEX one ON t(v); INSERT INTO t(v) VALUES('x')")
    let insert = try connection.statement("INSERT INTO t(v) VALUES(?)")
    try insert.bind("x", at: 1)
    let error = #expect(throws: SQLiteError.self) { try insert.step() }
    #expect(error?.code == .constraintUnique && error?.code.primary == .constraint)
    #expect(error?.description.hasPrefix("SQLITE_CONSTRAINT_UNIQUE: ") == true)
    insert.reset()
    try insert.bind("y", at: 1)
    #expect(try !insert.step())
    let range = #expect(throws: SQLiteError.self) { try insert.bind(1, at: 2) }
    #expect(range?.code == .range || range?.code == .misuse)
  }

  @Test func countersReportOneExecution() throws {
    let connection = try memory()
    try connection.execute("INSERT INTO t(v) VALUES(3), (1), (2)")
    let statement = try connection.statement("SELECT v FROM t ORDER BY v")
    while try statement.step() {}
    #expect(statement.status(.fullScanSteps, reset: true) == 2)
    #expect(statement.status(.fullScanSteps, reset: false) == 0)
    #expect(statement.status(.sorts, reset: false) == 1)
    #expect(statement.status(.runs, reset: false) == 1)
    #expect(statement.status(.vmSteps, reset: false) > 10)
    #expect(statement.isReadOnly)
  }

  @Test func valueDescriptionsMatchTheSQLDebugLog() {
    let values: [SQLiteValue] = [.null, .integer(18), .real(0.5), .text("s"), .blob([10, 255])]
    #expect(values.map(\.description) == ["(null)", "18", "0.5", "\"s\"", "<0aff>"])
  }

  @Test func usingAClosedConnectionIsAProgrammerError() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let connection = try Connection(path: ":memory:", access: .writing)
      connection.close()
      connection.close()
      _ = try connection.statement("SELECT 1")
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("The connection to :memory: was used after it was closed."))
  }
}
