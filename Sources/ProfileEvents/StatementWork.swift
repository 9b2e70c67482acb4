/// What SQLite did for one run of a statement, by its own counters.
///
/// The counts repeat: the same statement on the same file with the same values gives the same
/// numbers, on any machine, as long as SQLite's version is the same. The pages also depend on
/// what the connection has cached.
package struct StatementWork: Sendable, Hashable {
  /// Instructions of SQLite's virtual machine, the closest there is to exact work.
  package var vmSteps: Int
  /// Rows stepped over in scans of whole tables or whole indexes.
  package var fullScanSteps: Int
  /// Sorts done outside an index.
  package var sorts: Int
  /// Rows put into indexes that were made for this run alone.
  package var autoIndexRows: Int
  /// Calls of functions that are not SQLite's own, such as `NSCoreDataStringSearch`.
  package var functionCalls: Int
  /// Comparisons by collations that are not SQLite's own, such as `NSCollateLocaleSensitive`.
  package var collationCalls: Int
  /// Pages read from the file or its log, as the connection had not cached them.
  package var pagesRead: Int
  /// Pages written to the log or the file; a transaction's are its COMMIT's.
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

  /// The work of two runs together.
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

  /// What was done since an earlier reading of the same counters.
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
