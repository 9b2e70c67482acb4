import ManagedModel

/// A save or batch request in the persistent history.
///
/// Apple counterpart: the same.
public final class NSPersistentHistoryTransaction: NSObject, KeyValueReadable {
  /// The transaction's number in the store, from 1.
  public let transactionNumber: Int64
  /// The store's identifier.
  public let storeID: String
  /// The date when it was written.
  public let timestamp: Date
  /// The name of the program.
  public let bundleID: String
  /// The process identifier.
  public let processID: String
  /// The name of the context that saved.
  public let contextName: String?
  /// The context's `transactionAuthor`.
  public let author: String?
  /// The changes; `nil` if the request is for transactions only.
  public let changes: [NSPersistentHistoryChange]?

  init(
    transactionNumber: Int64, storeID: String, timestamp: Date, bundleID: String,
    processID: String, contextName: String?, author: String?,
    changes: [NSPersistentHistoryChange]?
  ) {
    self.transactionNumber = transactionNumber
    self.storeID = storeID
    self.timestamp = timestamp
    self.bundleID = bundleID
    self.processID = processID
    self.contextName = contextName
    self.author = author
    self.changes = changes
    super.init()
    guard let changes, !changes.isEmpty else { return }
    let itself = withoutChanges
    for change in changes { change.join(self, itself) }
  }

  /// The transaction as a request for transactions only returns it.
  var withoutChanges: NSPersistentHistoryTransaction {
    changes == nil
      ? self
      : NSPersistentHistoryTransaction(
        transactionNumber: transactionNumber, storeID: storeID, timestamp: timestamp,
        bundleID: bundleID, processID: processID, contextName: contextName, author: author,
        changes: nil)
  }

  /// The token for the position directly after this transaction.
  public var token: NSPersistentHistoryToken {
    NSPersistentHistoryToken([storeID: transactionNumber])
  }

  /// Returns the transaction as a did-save notification for `mergeChanges(fromContextDidSave:)`:
  /// object IDs under Core Data's keys.
  public func objectIDNotification() -> Notification {
    var userInfo: [AnyHashable: Any] = [:]
    let kinds: [(NSPersistentHistoryChangeType, String)] = [
      (.insert, "inserted_objectIDs"), (.update, "updated_objectIDs"),
      (.delete, "deleted_objectIDs"),
    ]
    for (type, key) in kinds {
      let ids = (changes ?? []).filter { $0.changeType == type }.map(\.changedObjectID)
      if !ids.isEmpty { userInfo[key] = Set(ids) }
    }
    return Notification(
      name: Notification.Name("_NSManagedObjectContextDidSaveObjectIDsNotificationName"),
      object: nil, userInfo: userInfo)
  }

  /// A request whose predicate selects transactions, for
  /// `NSPersistentHistoryChangeRequest.fetchRequest`.
  ///
  /// Its keys: `author`, `bundleID`, `changes`, `contextName`, `processID`, `storeID`, `timestamp`,
  /// `token`, `transactionNumber`. Tokens are equal or ordered: `token > %@` matches transactions
  /// after a token.
  public static var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    HistoryEntities.request(HistoryEntities.transaction)
  }

  /// The entity of such a request.
  public static var entityDescription: NSEntityDescription? { HistoryEntities.transaction }

  /// Returns the entity of such a request, for any context.
  public static func entityDescription(
    with context: NSManagedObjectContext
  ) -> NSEntityDescription? {
    HistoryEntities.transaction
  }

  /// Returns the value of a history predicate's key; `nil` for others.
  public func value(forKey key: String) -> Any? {
    switch key {
    case "author": author
    case "bundleID": bundleID
    case "changes": changes
    case "contextName": contextName
    case "processID": processID
    case "storeID": storeID
    case "timestamp": timestamp
    case "token": token
    case "transactionNumber": transactionNumber
    default: nil
    }
  }
}

/// A row's change in a transaction of the history.
///
/// Apple counterpart: the same.
public final class NSPersistentHistoryChange: NSObject, KeyValueReadable {
  /// The change's number in the store.
  public let changeID: Int64
  /// The row's object ID, even if the row no longer exists.
  public let changedObjectID: NSManagedObjectID
  /// The kind of change.
  public let changeType: NSPersistentHistoryChangeType
  /// The last values of a deleted row's attributes with `preservesValueInHistoryOnDeletion`; `nil`
  /// for other changes and if there are none.
  public let tombstone: [AnyHashable: Any]?
  /// The properties that an update wrote; `nil` for other changes.
  public let updatedProperties: Set<NSPropertyDescription>?
  /// The transaction that the change belongs to.
  ///
  /// Its changes are `nil` if it isn't retained elsewhere, as in a result of changes only.
  public var transaction: NSPersistentHistoryTransaction? { whole ?? itself }

  /// The transaction with its changes, which retains them.
  private weak var whole: NSPersistentHistoryTransaction?
  /// The transaction without its changes.
  private var itself: NSPersistentHistoryTransaction?

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

  /// Sets the transaction, with and without its changes.
  fileprivate func join(
    _ transaction: NSPersistentHistoryTransaction, _ withoutChanges: NSPersistentHistoryTransaction
  ) {
    whole = transaction
    itself = withoutChanges
  }

  /// A request whose predicate selects changes, for
  /// `NSPersistentHistoryChangeRequest.fetchRequest`.
  ///
  /// Its keys: `changeID`, `changedObjectID`, `changedEntity`, `changeType`, `tombstone`,
  /// `transaction`, `updatedProperties`. The changed entity is an `NSEntityDescription`, and
  /// `changedEntity.name` its name; the transaction's keys follow a dot: `transaction.token`.
  public static var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    HistoryEntities.request(HistoryEntities.change)
  }

  /// The entity of such a request.
  public static var entityDescription: NSEntityDescription? { HistoryEntities.change }

  /// Returns the entity of such a request, for any context.
  public static func entityDescription(
    with context: NSManagedObjectContext
  ) -> NSEntityDescription? {
    HistoryEntities.change
  }

  /// Returns the value of a history predicate's key; `nil` for others.
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

extension NSPersistentHistoryTransaction: NSCopying {
  /// Returns itself: a transaction is immutable.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}

extension NSPersistentHistoryChange: NSCopying {
  /// Returns itself: a change is immutable.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}
