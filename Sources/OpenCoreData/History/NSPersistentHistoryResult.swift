/// What a request for history gives as its result.
///
/// Apple counterpart: the same.
public enum NSPersistentHistoryResultType: Int, Sendable {
  /// Whether it succeeded, a `Bool`.
  case statusOnly = 0
  /// The IDs of the changed objects, `[NSManagedObjectID]`.
  case objectIDs = 1
  /// The number of transactions, an `Int`.
  case count = 2
  /// `[NSPersistentHistoryTransaction]` without their changes.
  case transactionsOnly = 3
  /// `[NSPersistentHistoryChange]`.
  case changesOnly = 4
  /// `[NSPersistentHistoryTransaction]` with their changes; the default.
  case transactionsAndChanges = 5
}

/// What a request for history gave.
///
/// Apple counterpart: the same.
public final class NSPersistentHistoryResult: NSPersistentStoreResult {
  /// As `resultType` says.
  public let result: Any?
  /// What `result` is.
  public let resultType: NSPersistentHistoryResultType

  init(_ result: Any?, _ resultType: NSPersistentHistoryResultType) {
    self.result = result
    self.resultType = resultType
  }
}
