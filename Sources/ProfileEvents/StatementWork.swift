/// The work that SQLite did for one execution of a statement, from SQLite's own counters.
///
/// The counts are reproducible: the same statement with the same file, values, and SQLite version
/// has the same counts on any machine. The page counts also depend on the connection's cache.
package struct StatementWork: Sendable, Hashable {
  /// The number of VM steps, the most exact measure of work.
  package var vmSteps: Int
  /// The number of rows stepped over in full table scans and full index scans.
  package var fullScanSteps: Int
  /// The number of sorts that didn't use an index.
  package var sorts: Int
  /// The number of rows inserted into automatic indexes.
  package var autoIndexRows: Int
  /// The number of calls of functions that aren't SQLite's own, such as `NSCoreDataStringSearch`.
  package var functionCalls: Int
  /// The number of comparisons by collations that aren't SQLite's own, such as
  /// `NSCollateLocaleSensitive`.
  package var collationCalls: Int
  /// The number of pages read from the file or its WAL because the connection hadn't cached them.
  package var pagesRead: Int
  /// The number of pages written to the WAL or the file.
  ///
  /// Those of a transaction belong to its COMMIT.
  package var pagesWritten: Int

  package init(
    vmSteps: Int = 0, fullScanSteps: Int = 0, sorts: Int = 0, autoIndexRows: Int = 0,
    functionCalls: Int = 0, collationCalls: Int = 0, pagesRead: Int = 0, pagesWritten: Int = 0
  ) {
    self.vmSteps = vmSteps
    self.fullScanSteps = fullScanSteps
    self.sorts = sorts
    self.autoIndexRows = autoIndexRows
    self.functionCalls = functionCalls
    self.collationCalls = collationCalls
    self.pagesRead = pagesRead
    self.pagesWritten = pagesWritten
  }

  /// Returns the sum of the work of two executions.
  package static func + (one: StatementWork, other: StatementWork) -> StatementWork {
    StatementWork(
      vmSteps: one.vmSteps + other.vmSteps,
      fullScanSteps: one.fullScanSteps + other.fullScanSteps, sorts: one.sorts + other.sorts,
      autoIndexRows: one.autoIndexRows + other.autoIndexRows,
      functionCalls: one.functionCalls + other.functionCalls,
      collationCalls: one.collationCalls + other.collationCalls,
      pagesRead: one.pagesRead + other.pagesRead,
      pagesWritten: one.pagesWritten + other.pagesWritten)
  }

  /// Returns the work since an earlier reading of the same counters.
  package static func - (later: StatementWork, earlier: StatementWork) -> StatementWork {
    StatementWork(
      vmSteps: later.vmSteps - earlier.vmSteps,
      fullScanSteps: later.fullScanSteps - earlier.fullScanSteps,
      sorts: later.sorts - earlier.sorts,
      autoIndexRows: later.autoIndexRows - earlier.autoIndexRows,
      functionCalls: later.functionCalls - earlier.functionCalls,
      collationCalls: later.collationCalls - earlier.collationCalls,
      pagesRead: later.pagesRead - earlier.pagesRead,
      pagesWritten: later.pagesWritten - earlier.pagesWritten)
  }
}
