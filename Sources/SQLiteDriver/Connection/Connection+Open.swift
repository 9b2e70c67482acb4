import CSQLite

extension Connection {
  static func open(
    path: String, access: Access, options: Options
  ) throws(SQLiteError) -> OpaquePointer {
    let handle: OpaquePointer
    switch access {
    case .looking:
      handle = try openFile("file://" + path + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
    case .reading:
      handle = try openFile(path, SQLITE_OPEN_READONLY)
    case .writing:
      handle = try openFile(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    }
    sqlite3_busy_timeout(handle, options.busyTimeoutMilliseconds)
    return handle
  }

  /// The settings of a new connection, and a first read that finds out what is no database.
  func prepareForUse(_ options: Options) throws(SQLiteError) {
    for (name, value) in options.pragmas {
      try execute("PRAGMA \(name) = \(value)")
    }
    if access == .writing, !options.pragmas.contains(where: { $0.0 == "journal_mode" }) {
      try execute("PRAGMA journal_mode = WAL")
    }
    try execute("PRAGMA schema_version")
  }

  private static func openFile(_ name: String, _ flags: Int32) throws(SQLiteError) -> OpaquePointer {
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(
      name, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard code == SQLITE_OK, let handle else {
      let error = SQLiteError(handle: handle, code: code)
      sqlite3_close_v2(handle)
      throw error
    }
    return handle
  }
}
