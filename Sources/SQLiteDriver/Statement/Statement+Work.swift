package import ProfileEvents

extension Statement {
  /// What SQLite did for this statement since it was prepared.
  ///
  /// Read it before and after a run; the difference is the run's. The calls of functions and
  /// collations are those of the whole connection, which runs one statement at a time, apart from
  /// statements that stand in the middle of their rows. About 200 ns.
  package var work: StatementWork {
    StatementWork(
      vmSteps: status(.vmSteps, reset: false),
      fullScanSteps: status(.fullScanSteps, reset: false), sorts: status(.sorts, reset: false),
      autoIndexRows: status(.autoIndexes, reset: false), functionCalls: callbacks.functions,
      collationCalls: callbacks.collations)
  }
}
