internal import CPostgres

/// A connection to a PostgreSQL server, which is connected again once if it was lost outside of
/// transactions.
///
/// Used by one thread at a time. Statements are prepared at their first use, and the most recently
/// used are kept.
package final class PostgresConnection {
  /// A statement's text and the types of its parameters.
  private struct StatementKey: Hashable {
    let sql: String
    let types: [UInt32]
  }

  private struct PreparedStatement {
    let name: String
    var lastUse: UInt64
  }

  private let settings: ConnectionSettings
  private let monitor: ExchangeMonitor
  private var raw: OpaquePointer?
  private var statements: [StatementKey: PreparedStatement] = [:]
  private var useCount: UInt64 = 0
  private var statementCount = 0
  /// Whether a statement of the transaction has failed because prepared statements are outdated.
  private var hasOutdatedStatements = false
  /// Whether a transaction is open.
  package private(set) var isInTransaction = false
  /// The number of times that the connection was established.
  package private(set) var connectCount = 0
  /// What is different after each start of the server, and after it has recovered from a crash; nil
  /// if the user may not see it.
  package private(set) var serverRun: String?

  /// The oldest server with `pg_xact_status` and `pg_current_xact_id`.
  private static let oldestVersion: Int32 = 130_000
  private static let longestParameterList = 65_535

  /// Connects.
  ///
  /// - Parameter observer: Called after each statement, on the thread that ran it.
  /// - Throws: An error of the kind `connection` if the server can't be reached in time, refuses
  ///   the user, is too old, or has a database in another encoding than UTF-8.
  package init(
    _ settings: ConnectionSettings, observer: (@Sendable (PostgresExchange) -> Void)? = nil
  ) throws(PostgresError) {
    self.settings = settings
    monitor = ExchangeMonitor(delay: settings.roundTripDelay)
    monitor.observer = observer
    try connect()
  }

  deinit {
    PQfinish(raw)
  }

  /// Whether the connection was usable after the last statement.
  package var isUsable: Bool { PQstatus(raw) == CONNECTION_OK && !isInTransaction }

  /// The number of prepared statements.
  package var preparedCount: Int { statements.count }

  /// The process of the server that serves this connection.
  package var serverProcess: Int { Int(PQbackendPID(raw)) }

  // MARK: Connecting

  private func connect() throws(PostgresError) {
    disconnect()
    do {
      try establish()
      try configure()
    } catch {
      // A connection without these settings must not run statements.
      disconnect()
      throw error
    }
  }

  private func disconnect() {
    PQfinish(raw)
    raw = nil
    statements = [:]
    hasOutdatedStatements = false
    isInTransaction = false
    serverRun = nil
  }

  private func establish() throws(PostgresError) {
    // A later keyword precedes an earlier one: the URI may have its own timeouts, but no other
    // encoding.
    let parameters: [(String, String)] = [
      ("connect_timeout", "\(max(2, settings.connectTimeout))"), ("keepalives_idle", "30"),
      ("tcp_user_timeout", "\(settings.statementTimeout)"),
      ("fallback_application_name", "OpenCoreData"), ("dbname", settings.uri),
      ("client_encoding", "UTF8"),
    ]
    monitor.beginRoundTrip()
    raw = withCStrings(parameters.map(\.0)) { keywords in
      withCStrings(parameters.map(\.1)) { values in PQconnectdbParams(keywords, values, 1) }
    }
    guard PQstatus(raw) == CONNECTION_OK else {
      throw PostgresError(
        .connection, "The server can't be reached: \(settings.redacted(lastMessage))")
    }
    connectCount += 1
    PQsetNoticeProcessor(raw, { _, _ in }, nil)
  }

  private func configure() throws(PostgresError) {
    guard PQserverVersion(raw) >= Self.oldestVersion else {
      throw PostgresError(.connection, "The server is older than PostgreSQL 13.")
    }
    let encoding = PQparameterStatus(raw, "server_encoding").map { String(cString: $0) } ?? ""
    guard encoding == "UTF8" else {
      throw PostgresError(
        .connection, "The database has the encoding '\(encoding)', but must have UTF8.")
    }
    try runScript(
      "SET statement_timeout = \(settings.statementTimeout); SET client_min_messages = warning; "
        + "SET standard_conforming_strings = on; "
        + "SET default_transaction_isolation = 'read committed'; "
        + "SET default_transaction_read_only = \(settings.isReadOnly ? "on" : "off")"
        + (settings.schema.map { "; SET search_path TO \(QuotedIdentifier.of($0))" } ?? ""))
    serverRun = try currentRun()
  }

  /// Returns when the server was started, and its checkpointer, which the server starts again after
  /// a crash.
  private func currentRun() throws(PostgresError) -> String? {
    let result = try checked(
      PQexec(
        raw,
        "SELECT pg_postmaster_start_time() || ' ' || backend_start FROM pg_stat_activity "
          + "WHERE backend_type = 'checkpointer'"))
    defer { PQclear(result) }
    guard PQntuples(result) == 1, PQgetisnull(result, 0, 0) == 0 else { return nil }
    return String(cString: PQgetvalue(result, 0, 0))
  }

  private func withCStrings<R>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R
  ) -> R {
    // All strings in one buffer, each with its NUL.
    let bytes = strings.map { Array($0.utf8CString) }
    let buffer = bytes.flatMap { $0 }
    return buffer.withUnsafeBufferPointer { buffer in
      var pointers: [UnsafePointer<CChar>?] = []
      var offset = 0
      for string in bytes {
        pointers.append(buffer.baseAddress.map { $0 + offset })
        offset += string.count
      }
      pointers.append(nil)
      return pointers.withUnsafeBufferPointer { pointers in
        guard let list = pointers.baseAddress else {
          fatalError("an array with an element has an address")
        }
        return body(list)
      }
    }
  }

  private var lastMessage: String {
    String(cString: PQerrorMessage(raw)).split(separator: "\n").joined(separator: " ")
  }

  // MARK: Statements

  /// Runs a statement and returns its rows.
  ///
  /// - Parameters:
  ///   - sql: One statement, with `$1`, `$2` … for the parameters.
  ///   - parameters: The values, at most 65,535.
  /// - Throws: The server's error. A lost connection is established again, and the statement
  ///   repeated once, unless a transaction is open: so outside of one, run only statements that can
  ///   be repeated.
  @discardableResult
  package func query(
    _ sql: String, _ parameters: [PostgresValue] = []
  ) throws(PostgresError) -> PostgresResult {
    guard parameters.count <= Self.longestParameterList else {
      throw PostgresError(
        .statement,
        "The statement has \(parameters.count) values; the limit is \(Self.longestParameterList).")
    }
    return try repeating { () throws(PostgresError) in
      try monitor.observing(sql, parameters) { () throws(PostgresError) in
        try run(StatementKey(sql: sql, types: parameters.map(\.oid)), parameters)
      }
    }
  }

  /// Runs statements without parameters or rows, separated by semicolons.
  package func execute(_ script: String) throws(PostgresError) {
    try repeating { () throws(PostgresError) in try runScript(script) }
  }

  /// Runs a body, and again after connecting if the connection was lost, or if prepared statements
  /// are outdated.
  private func repeating<R>(
    _ body: () throws(PostgresError) -> R
  ) throws(PostgresError) -> R {
    do {
      return try body()
    } catch {
      guard !isInTransaction else {
        // They can be forgotten only after the transaction, which has failed.
        hasOutdatedStatements = hasOutdatedStatements || error.isOutdatedStatement
        throw error
      }
      if error.kind == .connection {
        try connect()
      } else if error.isOutdatedStatement {
        try forgetStatements()
      } else {
        throw error
      }
      return try body()
    }
  }

  private func forgetStatements() throws(PostgresError) {
    (statements, hasOutdatedStatements) = ([:], false)
    try runScript("DEALLOCATE ALL")
  }

  private func run(
    _ key: StatementKey, _ parameters: [PostgresValue]
  ) throws(PostgresError) -> PostgresResult {
    let name = try prepared(key)
    monitor.beginRoundTrip()
    let all = parameters.flatMap { $0.bytes ?? [] }
    let result = all.withUnsafeBytes { buffer in
      // A value of no bytes needs an address too: without one it would be NULL.
      let empty = UnsafePointer<CChar>(bitPattern: 1)
      let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
      var values: [UnsafePointer<CChar>?] = []
      var offset = 0
      for parameter in parameters {
        guard let bytes = parameter.bytes else {
          values.append(nil)
          continue
        }
        values.append(bytes.isEmpty ? empty : base.map { $0 + offset })
        offset += bytes.count
      }
      let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
      let formats = parameters.map { Int32($0.isLiteral ? 0 : 1) }
      return PQexecPrepared(raw, name, Int32(values.count), values, lengths, formats, 1)
    }
    return PostgresResult(try checked(result))
  }

  /// Returns the name of a prepared statement, which is prepared first if it isn't kept.
  private func prepared(_ key: StatementKey) throws(PostgresError) -> String {
    useCount += 1
    if let name = statements[key]?.name {
      statements[key]?.lastUse = useCount
      return name
    }
    if statements.count >= settings.statementLimit,
      let oldest = statements.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      statements[oldest.key] = nil
      try runScript("DEALLOCATE \(oldest.value.name)")
    }
    statementCount += 1
    let name = "s\(statementCount)"
    monitor.beginRoundTrip()
    PQclear(try checked(PQprepare(raw, name, key.sql, Int32(key.types.count), key.types)))
    statements[key] = PreparedStatement(name: name, lastUse: useCount)
    return name
  }

  private func runScript(_ script: String) throws(PostgresError) {
    _ = try monitor.observing(script) { () throws(PostgresError) in
      monitor.beginRoundTrip()
      return PostgresResult(try checked(PQexec(raw, script)))
    }
  }

  /// Returns a successful result; clears another, and throws its error.
  private func checked(_ result: OpaquePointer?) throws(PostgresError) -> OpaquePointer {
    let status = PQresultStatus(result)
    if let result, [PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY].contains(status) {
      return result
    }
    defer { PQclear(result) }
    func field(_ code: UnicodeScalar) -> String? {
      PQresultErrorField(result, Int32(code.value)).map { String(cString: $0) }
    }
    let state = field("C")
    // After 57P01 and its kind, the server closes the connection.
    let isLost = PQstatus(raw) != CONNECTION_OK || state?.hasPrefix("57P0") == true
    var error = PostgresError(
      isLost ? .connection : .statement, field("M") ?? lastMessage, sqlState: state)
    // Of a violated constraint, it has the row's values.
    error.detail = state?.hasPrefix("23") == true ? nil : field("D")
    error.constraint = field("n")
    throw error
  }

  // MARK: Transactions

  /// Begins a transaction.
  ///
  /// - Parameter mode: Words that follow BEGIN.
  func begin(_ mode: String) throws(PostgresError) {
    guard !isInTransaction else { fatalError("transactions can't be nested") }
    try execute("BEGIN \(mode)")
    isInTransaction = true
  }

  /// Rolls back; a lost connection has done it already.
  func rollBack() {
    do {
      try runScript("ROLLBACK")
      isInTransaction = false
      if hasOutdatedStatements { try forgetStatements() }
    } catch {
      // The next statement connects again: the server has rolled back when it lost this connection.
      isInTransaction = false
      if error.kind != .connection {
        PQfinish(raw)
        raw = nil
      }
    }
  }

  /// Commits, and asks the server for the outcome if the connection is lost while it does.
  ///
  /// - Throws: An error of the kind `unknownOutcome` if the server can't tell.
  func commit(of transaction: String) throws(PostgresError) {
    do {
      try runScript("COMMIT")
      isInTransaction = false
    } catch {
      guard error.kind == .connection else { throw error }
      isInTransaction = false
      let lost = error
      switch outcome(of: transaction, in: serverRun) {
      case .committed: return
      case .aborted: throw lost
      case .unknown:
        throw PostgresError(
          .unknownOutcome,
          "The connection was lost during COMMIT, and it isn't known whether the transaction was "
            + "committed: \(lost.message)")
      }
    }
  }
}
