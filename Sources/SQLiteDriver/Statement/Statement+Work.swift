import CSQLite
package import ProfileEvents

extension Statement {
  /// What SQLite did for this statement since it was prepared.
  ///
  /// Read it before and after a run; the difference is the run's. The pages and the calls of functions
  /// and collations are those of the whole connection, which runs one statement at a time, apart from
  /// statements that stand in the middle of their rows. About 300 ns.
  package var work: StatementWork {
    StatementWork(
      vmSteps: status(.vmSteps, reset: false),
      fullScanSteps: status(.fullScanSteps, reset: false), sorts: status(.sorts, reset: false),
      autoIndexRows: status(.autoIndexes, reset: false), functionCalls: callbacks.functions,
      collationCalls: callbacks.collations, pagesRead: status(of: .cacheMisses),
      pagesWritten: status(of: .cacheWrites))
  }

  /// One of SQLite's counters of the statement's connection.
  private func status(of counter: ConnectionStatus) -> Int {
    var current: Int32 = 0
    var highest: Int32 = 0
    sqlite3_db_status(sqlite3_db_handle(handle), counter.code, &current, &highest, 0)
    return Int(current)
  }
}
