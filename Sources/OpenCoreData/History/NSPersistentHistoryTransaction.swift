import ManagedModel

/// One save or batch request as the history has it.
///
/// Apple counterpart: the same.
public final class NSPersistentHistoryTransaction: NSObject, KeyValueReadable {
  /// Its number in the store, counted from 1.
  public let transactionNumber: Int64
  /// The store's identifier.
  public let storeID: String
  /// When it was written.
  public let timestamp: Date
  /// The program's name.
  public let bundleID: String
  /// The process.
  public let processID: String
  /// The name of the context that saved.
  public let contextName: String?
  /// The context's `transactionAuthor`.
  public let author: String?
  /// What it changed; nil when the request asked for transactions alone.
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
    for change in changes ?? [] { change.transaction = self }
  }

  /// The place in the history right behind this transaction.
  public var token: NSPersistentHistoryToken {
    NSPersistentHistoryToken([storeID: transactionNumber])
  }

  /// The transaction in the form of a did-save notification, for
  /// `mergeChanges(fromContextDidSave:)`: object IDs under Apple's keys.
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

  /// A request whose predicate picks transactions, for `NSPersistentHistoryChangeRequest.fetchRequest`.
  ///
  /// Its keys: `author`, `bundleID`, `changes`, `contextName`, `processID`, `storeID`, `timestamp`,
  /// `token`, `transactionNumber`. Tokens are equal or ordered: `token > %@` matches what was written
  /// after a token.
  public static var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    HistoryEntities.request(HistoryEntities.transaction)
  }

  /// The entity that such a request names.
  public static var entityDescription: NSEntityDescription? { HistoryEntities.transaction }

  /// The entity that such a request names, whatever the context.
  public static func entityDescription(
    with context: NSManagedObjectContext
  ) -> NSEntityDescription? {
    HistoryEntities.transaction
  }

  /// A key of a history predicate; nil for others.
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
