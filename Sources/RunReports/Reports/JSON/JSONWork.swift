import ProfileEvents

/// What SQLite counted for a statement, in the JSON file; its property names are the file's keys.
struct JSONWork: Codable {
  var vmSteps: Int
  var fullScanSteps: Int
  var sorts: Int
  var autoIndexRows: Int
  var functionCalls: Int
  var collationCalls: Int
  /// Nil in results of before there was such a count.
  var pagesRead: Int?
  var pagesWritten: Int?

  init(_ work: StatementWork) {
    vmSteps = work.vmSteps
    fullScanSteps = work.fullScanSteps
    sorts = work.sorts
    autoIndexRows = work.autoIndexRows
    functionCalls = work.functionCalls
    collationCalls = work.collationCalls
    pagesRead = work.pagesRead
    pagesWritten = work.pagesWritten
  }

  /// What was written.
  var work: StatementWork {
    StatementWork(
      vmSteps: vmSteps, fullScanSteps: fullScanSteps, sorts: sorts, autoIndexRows: autoIndexRows,
      functionCalls: functionCalls, collationCalls: collationCalls, pagesRead: pagesRead ?? 0,
      pagesWritten: pagesWritten ?? 0)
  }
}
