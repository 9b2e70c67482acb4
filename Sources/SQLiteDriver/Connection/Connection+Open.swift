import CSQLite
import Foundation
import ProfileEvents

extension Connection {
  static func open(
    path: String, access: Access, sharing copy: PrivateCopy?
  ) throws(SQLiteError) -> OpenedFile {
    switch access {
    case .looking:
      return try look(at: path, sharing: copy)
    case .reading:
      let handle = try openStore(plainName(path), SQLITE_OPEN_READONLY)
      return OpenedFile(handle: handle)
    case .writing:
      let handle = try openStore(plainName(path), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
      return OpenedFile(handle: handle)
    }
  }

  /// Opens a shared database in memory, with SQLite's own file system for them.
  static func openMemory(_ path: String, _ access: Access) throws(SQLiteError) -> OpenedFile {
    let flags =
      access == .writing ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
    return OpenedFile(handle: try openFile(path, flags, fileSystem: "memdb"))
  }

  /// The settings of a new connection, and a first read that finds out what is no database.
  func configure(_ options: Options) throws(SQLiteError) {
    waits.serve(use())
    try Connection.harden(use(), isReadOnly: access == .looking)
    budget.serve(use())
    if access == .looking { confine() }
    for (name, _) in options.pragmas where !Confinement.allows(pragma: name) {
      throw SQLiteError(
        code: .misuse,
        message: "the pragma \(name) isn't allowed: it can reach outside of the store")
    }
    for statement in options.statements(for: access) {
      if statement == Connection.logPragma { try turnToLog(options) } else { try run(statement) }
    }
    try run("PRAGMA schema_version")
  }

  /// What makes a file keep a write-ahead log.
  fileprivate static let logPragma = "pragma journal_mode=wal"

  /// Turns to WAL, waiting as long as for any other lock.
  ///
  /// Of two connections that turn a new file at once each holds what the other waits for. SQLite
  /// then does not wait but fails at once, so that one lets go.
  private func turnToLog(_ options: Options) throws(SQLiteError) {
    let patience = UInt64(max(0, options.busyTimeoutMilliseconds)) * 1_000_000
    let start = MonotonicClock.now()
    while true {
      do throws(SQLiteError) {
        return try run(Connection.logPragma)
      } catch {
        let isOver = MonotonicClock.now() - start >= patience
        if isOver || error.code.primary != .busy { throw error }
        usleep(UInt32.random(in: 500..<3_000))
      }
    }
  }

  /// Pragmas that change the file or how it is kept: for the writer alone.
  fileprivate static let writingPragmas: Set<String> = [
    "application_id", "auto_vacuum", "encoding", "incremental_vacuum", "journal_mode",
    "journal_size_limit", "locking_mode", "optimize", "page_size", "user_version", "wal_checkpoint",
  ]

  /// Runs one statement and ignores its rows; a text with a second one is refused.
  private func run(_ sql: String) throws(SQLiteError) {
    let statement = try prepare(sql)
    while try statement.step() {}
  }

  /// A name that SQLite takes for a file and not for a URI, a temporary or a memory database.
  private static func plainName(_ path: String) throws(SQLiteError) -> String {
    if path == ":memory:" { return path }
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SQLiteError(code: .cantOpen, message: "\"\(path)\" is no file name")
    }
    return path.hasPrefix("/") ? path : "./" + path
  }

  private static func openStore(
    _ name: String, _ flags: Int32
  ) throws(SQLiteError) -> OpaquePointer {
    try StoreFileSystem.register()
    return try openFile(name, flags, fileSystem: StoreFileSystem.name)
  }

  static func openFile(
    _ name: String, _ flags: Int32, fileSystem: String?
  ) throws(SQLiteError) -> OpaquePointer {
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(
      name, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, fileSystem)
    guard code == SQLITE_OK, let handle else {
      let error = SQLiteError(handle: handle, code: code)
      sqlite3_close_v2(handle)
      throw error
    }
    return handle
  }

  /// Runs a text on a handle that is no connection yet.
  static func run(_ sql: String, on handle: OpaquePointer) throws(SQLiteError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw SQLiteError(handle: handle, code: code, sql: sql) }
  }
}

extension Connection.Options {
  /// The pragmas that a connection runs first, in order, as SQL.
  package func statements(for access: Connection.Access) -> [String] {
    var statements: [String] = []
    var namesJournal = false
    for (name, value) in pragmas {
      let name = name.lowercased()
      namesJournal = namesJournal || name == "journal_mode"
      if access == .writing || !Connection.writingPragmas.contains(name) {
        statements.append("pragma \(name)=\(value)")
      }
    }
    if access == .writing, !namesJournal { statements.append(Connection.logPragma) }
    return statements
  }
}
