import CSQLite

extension Statement {
  /// One of SQLite's counters of this statement, since it was prepared or the counter was reset.
  ///
  /// A cached statement counts on for all its users: reset the counter before the run to be
  /// measured. About 40 ns a counter.
  package func status(_ counter: StatementStatus, reset: Bool) -> Int {
    Int(sqlite3_stmt_status(handle, counter.code, reset ? 1 : 0))
  }

  /// Whether running the statement leaves the file as it is.
  package var isReadOnly: Bool {
    sqlite3_stmt_readonly(handle) != 0
  }
}
