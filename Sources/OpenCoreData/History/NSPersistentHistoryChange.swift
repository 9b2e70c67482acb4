import ManagedModel

/// What happened to a row.
///
/// Apple counterpart: the same.
public enum NSPersistentHistoryChangeType: Int, Sendable {
  /// It was inserted.
  case insert = 0
  /// It was updated.
  case update = 1
  /// It was deleted.
  case delete = 2
}

/// One row's change in a transaction of the history.
///
/// Apple counterpart: the same.
public final class NSPersistentHistoryChange: NSObject, KeyValueReadable {
  /// Its number in the store.
  public let changeID: Int64
  /// The row's ID, whether the row is there or not.
  public let changedObjectID: NSManagedObjectID
  /// What happened.
  public let changeType: NSPersistentHistoryChangeType
  /// The last values of a deleted row's attributes that are kept in the history
  /// (`preservesValueInHistoryOnDeletion`); nil for other changes and when there are none.
  public let tombstone: [AnyHashable: Any]?
  /// The properties that an update wrote; nil for other changes.
  public let updatedProperties: Set<NSPropertyDescription>?
  /// The transaction it is part of.
  public internal(set) weak var transaction: NSPersistentHistoryTransaction?

  init(
    changeID: Int64, changedObjectID: NSManagedObjectID, changeType: NSPersistentHistoryChangeType,
    tombstone: [AnyHashable: Any]?, updatedProperties: Set<NSPropertyDescription>?
  ) {
    self.changeID = changeID
    self.changedObjectID = changedObjectID
    self.changeType = changeType
    self.tombstone = tombstone
    self.updatedProperties = updatedProperties
  }

  /// A request whose predicate picks changes, for `NSPersistentHistoryChangeRequest.fetchRequest`.
  ///
  /// Its keys: `changeID`, `changedObjectID`, `changedEntity`, `changeType`, `tombstone`,
  /// `transaction`, `updatedProperties`. The changed entity is an `NSEntityDescription`, and
  /// `changedEntity.name` its name; the transaction's keys follow a dot: `transaction.token`.
  public static var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    HistoryEntities.request(HistoryEntities.change)
  }

  /// The entity that such a request names.
  public static var entityDescription: NSEntityDescription? { HistoryEntities.change }

  /// The entity that such a request names, whatever the context.
  public static func entityDescription(
    with context: NSManagedObjectContext
  ) -> NSEntityDescription? {
    HistoryEntities.change
  }

  /// A key of a history predicate; nil for others.
  public func value(forKey key: String) -> Any? {
    switch key {
    case "changeID": changeID
    case "changedObjectID": changedObjectID
    case "changedEntity": changedObjectID.entity
    case "changeType": changeType.rawValue
    case "tombstone": tombstone
    case "transaction": transaction
    case "updatedProperties": updatedProperties
    default: nil
    }
  }
}
