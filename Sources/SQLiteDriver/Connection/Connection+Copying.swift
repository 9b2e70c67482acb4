import CSQLite

extension Connection {
  /// Replaces the database of another connection by a copy of this one's, page by page.
  ///
  /// Waits for locks as a statement does. A copy of a file in WAL mode says that it is in WAL mode too,
  /// which a database in memory can't be: change the journal mode of the file first.
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
