import CSQLite

extension Connection {
  /// Rows the last INSERT, UPDATE or DELETE changed, without those its triggers changed.
  package var changes: Int {
    Int(sqlite3_changes64(use()))
  }

  /// The key of the last row inserted into a table with integer keys.
  package var lastInsertedKey: Int64 {
    sqlite3_last_insert_rowid(use())
  }

  /// Whether a BEGIN waits for its COMMIT.
  package var isInTransaction: Bool {
    sqlite3_get_autocommit(use()) == 0
  }
}
