import CSQLite

extension Connection {
  /// Rows the last INSERT, UPDATE or DELETE changed, without those its triggers changed.
  package var changes: Int {
    Int(sqlite3_changes64(use()))
  }

  /// Whether a BEGIN waits for its COMMIT.
  package var isInTransaction: Bool {
    sqlite3_get_autocommit(use()) == 0
  }

  /// Ends what a user left open: runs in the middle of their rows and a transaction.
  ///
  /// Without either, two cheap calls.
  func rest() {
    guard let handle else { return }
    guard isInTransaction || sqlite3_txn_state(handle, nil) != SQLITE_TXN_NONE else { return }
    var statement = sqlite3_next_stmt(handle, nil)
    while let running = statement {
      if sqlite3_stmt_busy(running) != 0 { sqlite3_reset(running) }
      statement = sqlite3_next_stmt(handle, running)
    }
    // Fails only where SQLite has rolled back by itself.
    if isInTransaction { try? execute("ROLLBACK") }
  }
}

/// A counter SQLite keeps for each connection.
///
/// See <https://www.sqlite.org/c3ref/c_dbstatus_options.html>.
enum ConnectionStatus {
  /// Pages read from the file.
  case cacheMisses
  /// Pages written to the file or its log.
  case cacheWrites

  var code: Int32 {
    switch self {
    case .cacheMisses: SQLITE_DBSTATUS_CACHE_MISS
    case .cacheWrites: SQLITE_DBSTATUS_CACHE_WRITE
    }
  }
}
