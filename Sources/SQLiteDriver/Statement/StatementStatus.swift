import CSQLite

/// A counter SQLite keeps for each statement.
///
/// See <https://www.sqlite.org/c3ref/c_stmtstatus_counter.html>.
package enum StatementStatus: Sendable, CaseIterable {
  /// Rows stepped over in scans of whole tables: an index might help.
  case fullScanSteps
  /// Sorts done outside an index.
  case sorts
  /// Rows put into indexes made for one run.
  case autoIndexes
  /// Instructions of SQLite's virtual machine, the closest there is to exact work.
  case vmSteps
  /// Times the text was prepared again because the schema or a value changed.
  case reprepares
  /// Runs begun.
  case runs
  /// Bytes the statement occupies now. Never reset.
  case memory

  var code: Int32 {
    switch self {
    case .fullScanSteps: SQLITE_STMTSTATUS_FULLSCAN_STEP
    case .sorts: SQLITE_STMTSTATUS_SORT
    case .autoIndexes: SQLITE_STMTSTATUS_AUTOINDEX
    case .vmSteps: SQLITE_STMTSTATUS_VM_STEP
    case .reprepares: SQLITE_STMTSTATUS_REPREPARE
    case .runs: SQLITE_STMTSTATUS_RUN
    case .memory: SQLITE_STMTSTATUS_MEMUSED
    }
  }
}
