import CSQLite

extension Connection {
  /// The number of rows that the last INSERT, UPDATE, or DELETE changed, excluding changes by
  /// triggers.
  package var changes: Int {
    Int(sqlite3_changes64(use()))
  }

  /// The number of rows that all statements of the connection have changed, including changes by
  /// triggers and foreign keys.
  package var totalChanges: Int {
    Int(sqlite3_total_changes64(use()))
  }

  /// A Boolean value that indicates whether a transaction is open.
  package var isInTransaction: Bool {
    sqlite3_get_autocommit(use()) == 0
  }

  /// Resets statements that are still reading rows, and rolls back an open transaction.
  ///
  /// **Cost:** two inexpensive calls if there's nothing to do.
  func rest() {
    guard let handle else { return }
    guard isInTransaction || sqlite3_txn_state(handle, nil) != SQLITE_TXN_NONE else { return }
    var statement = sqlite3_next_stmt(handle, nil)
    while let running = statement {
      if sqlite3_stmt_busy(running) != 0 { sqlite3_reset(running) }
      statement = sqlite3_next_stmt(handle, running)
    }
    // Fails only if SQLite has already rolled back.
    if isInTransaction { try? execute("ROLLBACK") }
  }
}

/// A counter that SQLite keeps for each connection.
///
/// See <https://www.sqlite.org/c3ref/c_dbstatus_options.html>.
enum ConnectionStatus {
  /// Pages read from the file.
  case cacheMisses
  /// Pages written to the file or its WAL.
  case cacheWrites

  var code: Int32 {
    switch self {
    case .cacheMisses: SQLITE_DBSTATUS_CACHE_MISS
    case .cacheWrites: SQLITE_DBSTATUS_CACHE_WRITE
    }
  }
}

/// The memory that SQLite has allocated for all connections of the process.
package enum SQLiteMemory {
  /// The bytes that are allocated now.
  package static var used: Int { Int(sqlite3_memory_used()) }

  /// The most bytes that were allocated at once since the last `resetPeak()`.
  package static var peak: Int { Int(sqlite3_memory_highwater(0)) }

  /// Sets the peak to the bytes that are allocated now.
  package static func resetPeak() { _ = sqlite3_memory_highwater(1) }
}
