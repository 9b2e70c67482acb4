import OpenCoreData
import PostgresDriver
import Synchronization
import Testing

@Suite("Connections")
struct ConnectionTests {
  @Test("Values of every type return as they were bound")
  func valuesRoundTrip() throws {
    let connection = try TestServer.connection()
    let id = UUID()
    let data = Data([0, 1, 255])
    let result = try connection.query(
      "SELECT $1, $2, $3, $4, $5, $6, $7",
      [
        .boolean(true), .integer(.min), .real(-0.0), .text("O'Brien \"😀\" \\"), .bytes(data),
        .uuid(id), .text(""),
      ])
    #expect(result.boolean(0, 0) == true)
    #expect(result.integer(0, 1) == .min)
    #expect(result.real(0, 2)?.bitPattern == (-0.0).bitPattern)
    #expect(result.text(0, 3) == "O'Brien \"😀\" \\")
    #expect(result.data(0, 4) == data)
    #expect(result.uuid(0, 5) == id)
    #expect(result.text(0, 6) == "")
    let null = try connection.query("SELECT $1", [.null(.integer)])
    #expect(null.isNull(0, 0))
    #expect(null.integer(0, 0) == nil)
  }

  @Test(
    "Decimals keep all digits, in both directions",
    arguments: [
      "0", "1", "-1", "0.1", "-0.0001", "10000", "9999.9999", "123456789.000000001",
      "99999999999999999999999999999999999999", "0.00000000000000000000000000000000000001", "1e20",
      "NaN",
    ])
  func decimalsRoundTrip(text: String) throws {
    let connection = try TestServer.connection()
    let value = text == "NaN" ? Decimal.nan : try #require(Decimal(string: text))
    let result = try connection.query(
      "SELECT $1, $1::text, $2::text::numeric", [.numeric(value), .text(text)])
    #expect(result.decimal(0, 0)?.description == value.description)
    #expect(result.text(0, 1) == value.description)
    #expect(result.decimal(0, 2)?.description == value.description)
  }

  @Test("Arrays may be empty, and may contain NULL")
  func arraysAreBound() throws {
    let connection = try TestServer.connection()
    let empty = try connection.query("SELECT cardinality($1)", [.integers([Int64]())])
    #expect(empty.integer(0, 0) == 0)
    let values: [PostgresValue] = [.text("a"), .null(.text), .text("")]
    let result = try connection.query("SELECT unnest($1)", [.array(.text, values)])
    #expect((0..<3).map { result.text($0, 0) } == ["a", nil, ""])
  }

  @Test("Errors have the server's message and SQLSTATE, and the connection stays usable")
  func errorsHaveStates() throws {
    let connection = try TestServer.connection()
    for (sql, parameter, state) in [
      ("SELECT 1/0", PostgresValue?.none, "22012"), ("SELECT", .text("a\u{0}b"), "22021"),
      ("SELEC", nil, "42601"), ("SELECT * FROM missing", nil, "42P01"),
    ] {
      let error = #expect(throws: PostgresError.self) {
        try connection.query(parameter == nil ? sql : "SELECT $1", parameter.map { [$0] } ?? [])
      }
      #expect(error?.sqlState == state)
      #expect(error?.kind == .statement)
      #expect(error?.description.contains(state) == true)
    }
    #expect(try connection.query("SELECT 1").integer(0, 0) == 1)
  }

  @Test("The error of a violated constraint has its name, but no values")
  func violationsHaveNoValues() throws {
    let connection = try TestServer.connection()
    try connection.execute("CREATE TEMPORARY TABLE secrets (word text CONSTRAINT one_word UNIQUE)")
    let insert = "INSERT INTO secrets VALUES ($1)"
    try connection.query(insert, [.text("hidden")])
    let error = #expect(throws: PostgresError.self) {
      try connection.query(insert, [.text("hidden")])
    }
    #expect(error?.isUniqueViolation == true)
    #expect(error?.constraint == "one_word")
    #expect(error?.description.contains("hidden") == false)
  }

  @Test("A statement whose table was changed is prepared again, also in a transaction")
  func outdatedStatementsArePreparedAgain() throws {
    let (connection, other) = (try TestServer.connection(), try TestServer.connection())
    try other.execute("CREATE TABLE outdated (n int); INSERT INTO outdated VALUES (1)")
    defer { try? other.execute("DROP TABLE outdated") }
    func number() throws -> Int64? { try connection.query("SELECT n FROM outdated").integer(0, 0) }
    try expectEqual(connection.transaction { try number() }, 1)
    for type in ["bigint", "smallint"] {
      try other.execute("ALTER TABLE outdated ALTER COLUMN n TYPE \(type)")
      try expectEqual(connection.transaction { try number() }, 1)
    }
    // A snapshot isn't repeated, but the next one has a new statement.
    try other.execute("ALTER TABLE outdated ALTER COLUMN n TYPE bigint")
    try connection.beginSnapshot()
    #expect(throws: PostgresError.self) { try number() }
    connection.endSnapshot()
    try connection.beginSnapshot()
    try expectEqual(number(), 1)
    connection.endSnapshot()
  }

  @Test("A connection that is established again has the same search path")
  func searchPathIsKept() throws {
    let schema = "search \"path"
    var settings = TestServer.settings
    settings.schema = schema
    let (connection, killer) = (try PostgresConnection(settings), try TestServer.connection())
    for count in 1...2 {
      try expectEqual(connection.query("SHOW search_path").text(0, 0), QuotedIdentifier.of(schema))
      #expect(connection.connectCount == count)
      try killer.query(
        "SELECT pg_terminate_backend($1::int, 5000)", [.integer(Int64(connection.serverProcess))])
    }
  }

  @Test("The outcome of a transaction that the server still commits is that of the COMMIT")
  func outcomesOfRunningTransactions() throws {
    let (connection, other) = (try TestServer.connection(), try TestServer.connection())
    try other.execute("BEGIN")
    let number = try other.query("SELECT pg_current_xact_id()::text").text(0, 0) ?? ""
    nonisolated(unsafe) let committer = other
    let isDone = DispatchSemaphore(value: 0)
    Thread {
      Thread.sleep(forTimeInterval: 0.3)
      try? committer.execute("COMMIT")
      isDone.signal()
    }.start()
    #expect(connection.outcome(of: number, in: connection.serverRun) == .committed)
    isDone.wait()
  }

  @Test("A transaction that has changed nothing isn't committed")
  func emptyTransactionsAreNotCommitted() throws {
    let connection = try TestServer.connection()
    #expect(connection.outcome(of: "", in: connection.serverRun) == .aborted)
  }

  @Test("Prepared statements are reused and bounded")
  func preparedStatementsAreBounded() throws {
    var settings = TestServer.settings
    settings.statementLimit = 3
    let connection = try PostgresConnection(settings)
    for number in 0..<10 {
      for _ in 0..<2 { try connection.query("SELECT \(number)") }
      try connection.query("SELECT 0")
    }
    #expect(connection.preparedCount == 3)
    let names = try connection.query("SELECT count(*) FROM pg_prepared_statements")
    #expect(names.integer(0, 0) == 3)
  }

  @Test("A lost connection is replaced once outside of transactions, and fails a transaction")
  func lostConnectionsAreReplaced() throws {
    let (connection, killer) = (try TestServer.connection(), try TestServer.connection())
    func kill() throws {
      try killer.query(
        "SELECT pg_terminate_backend($1::int, 5000)",
        [.integer(Int64(connection.serverProcess))])
    }
    try connection.query("SELECT 1")
    try kill()
    #expect(try connection.query("SELECT 1").integer(0, 0) == 1)
    #expect(connection.connectCount == 2)
    try kill()
    let sum = try connection.transaction { try connection.query("SELECT 1 + 1").integer(0, 0) }
    #expect((sum, connection.connectCount) == (2, 3))
    let error = #expect(throws: PostgresError.self) {
      try connection.transaction {
        try connection.query("SELECT 1")
        try kill()
        try connection.query("SELECT 1")
      }
    }
    #expect(error?.kind == .connection)
    #expect(try connection.query("SELECT 2").integer(0, 0) == 2)
  }

  @Test("A statement that takes too long is canceled")
  func longStatementsAreCanceled() throws {
    var settings = TestServer.settings
    settings.statementTimeout = 100
    let connection = try PostgresConnection(settings)
    let error = #expect(throws: PostgresError.self) { try connection.query("SELECT pg_sleep(20)") }
    #expect(error?.isTimeout == true)
  }

  @Test("An unreachable server is an error of the connection, without the password")
  func unreachableServersAreErrors() {
    for uri in [
      "postgres://user:secret@127.0.0.1:1/database", "postgres:///db?host=/nonexistent",
      "postgres://user:secret@[", "postgres://user:secret@127.0.0.1/db?nonsense=1",
      "postgres://user:secret%00@127.0.0.1:1/db", "postgres://user:secret%zz@127.0.0.1:1/db",
      "postgres://user@127.0.0.1:1/db?password=secret%00",
      "postgres://user:a@secret@127.0.0.1:1/db", "postgres://user:secret/b@127.0.0.1:1/db",
      "postgres://user@127.0.0.1:1/db?%70assword=secret%00",
    ] {
      let error = #expect(throws: PostgresError.self) {
        try PostgresConnection(ConnectionSettings(uri: uri))
      }
      #expect(error?.kind == .connection)
      #expect(error?.description.contains("secret") == false)
    }
  }

  @Test("A deadlock is resolved by another attempt")
  func deadlocksAreRepeated() throws {
    let setup = try TestServer.connection()
    try setup.execute(
      "CREATE TABLE deadlock (id int PRIMARY KEY, n int); INSERT INTO deadlock VALUES (1, 0), (2, 0)"
    )
    let attempts = Mutex(0)
    onThreads(2) { index in
      let order = index == 0 ? [1, 2] : [2, 1]
      guard let connection = try? TestServer.connection() else { return }
      try? connection.transaction {
        attempts.withLock { $0 += 1 }
        for id in order {
          try connection.query("UPDATE deadlock SET n = n + 1 WHERE id = \(id)")
          Thread.sleep(forTimeInterval: 0.2)
        }
      }
    }
    #expect(attempts.withLock { $0 } == 3)
    #expect(try setup.query("SELECT sum(n) FROM deadlock").integer(0, 0) == 4)
    try setup.execute("DROP TABLE deadlock")
  }

  /// Commits a row while another connection ends the server's process, which waits in COMMIT.
  ///
  /// - Parameter wait: What the process waits for.
  private func commit(
    _ table: String, waitingFor wait: String, _ prepare: (PostgresConnection) throws -> Void
  ) throws -> (error: PostgresError?, count: Int64?) {
    let connection = try TestServer.connection()
    try connection.execute("CREATE TABLE \(table) (id int)")
    try prepare(connection)
    let process = connection.serverProcess
    // A thread of its own: the tests may block all those of Swift's tasks.
    let isDone = DispatchSemaphore(value: 0)
    let killer = Thread {
      defer { isDone.signal() }
      guard let connection = try? TestServer.connection() else { return }
      for _ in 0..<2_000 {
        let killed = try? connection.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND wait_event = $2",
          [.integer(Int64(process)), .text(wait)])
        if killed?.rowCount != 0 { return }
        Thread.sleep(forTimeInterval: 0.005)
      }
    }
    killer.start()
    var failure: PostgresError?
    do {
      try connection.transaction { try connection.query("INSERT INTO \(table) VALUES (1)") }
    } catch let error as PostgresError {
      failure = error
    }
    isDone.wait()
    defer { try? connection.execute("DROP TABLE \(table)") }
    #expect(connection.connectCount == 2)
    return (failure, try connection.query("SELECT count(*) FROM \(table)").integer(0, 0))
  }

  @Test("A COMMIT that has succeeded isn't an error if the connection is lost before the answer")
  func commitsWithoutAnswerSucceed() throws {
    let outcome = try commit("committed", waitingFor: "SyncRep") {
      try $0.execute("SET synchronous_commit = on")
    }
    #expect(outcome.error == nil)
    #expect(outcome.count == 1)
  }

  @Test("A COMMIT that the server has rolled back is the error of the lost connection")
  func interruptedCommitsFail() throws {
    let outcome = try commit("interrupted", waitingFor: "PgSleep") {
      try $0.execute(
        "CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS "
          + "'BEGIN PERFORM pg_sleep(60); RETURN NULL; END'; CREATE CONSTRAINT TRIGGER pause AFTER INSERT "
          + "ON interrupted DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pause()")
    }
    #expect(outcome.error?.kind == .connection)
    #expect(outcome.count == 0)
  }

  @Test("A pool is bounded, shares its connections among threads, and drops lost ones")
  func poolsAreBounded() throws {
    let patient = PostgresPool(TestServer.settings, size: 2)
    let failures = Mutex(0)
    onThreads(8) { _ in
      for _ in 0..<20 {
        do {
          _ = try patient.withConnection { try $0.query("SELECT 1") }
        } catch {
          failures.withLock { $0 += 1 }
        }
      }
    }
    #expect(failures.withLock { $0 } == 0)
    #expect((1...2).contains(patient.connectionCount))
    let pool = PostgresPool(TestServer.settings, size: 2, wait: 0.1)
    let error = #expect(throws: PostgresError.self) {
      try pool.withConnection { _ in
        try pool.withConnection { _ in try pool.withConnection { _ in } }
      }
    }
    #expect(error?.kind == .exhausted)
    #expect(pool.connectionCount == 2)
    // A connection that is lost in a transaction isn't returned to the others.
    let killer = try TestServer.connection()
    _ = #expect(throws: PostgresError.self) {
      try pool.withConnection { connection in
        try connection.transaction {
          try connection.query("SELECT 1")
          try killer.query(
            "SELECT pg_terminate_backend($1::int, 5000)",
            [.integer(Int64(connection.serverProcess))])
          try connection.query("SELECT 1")
        }
      }
    }
    #expect(pool.connectionCount == 1)
    pool.close()
    #expect(throws: PostgresError.self) { try pool.withConnection { _ in } }
  }
}
