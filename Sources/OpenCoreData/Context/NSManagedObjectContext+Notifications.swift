// swift-format-ignore-file: AlwaysUseLowerCamelCase

import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Posts a notification on the context's queue, with the context as its object; one event.
  final func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]?) {
    let event = scope.begin(.notification)
    NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    scope.end(event) { $0.entity = name.rawValue }
  }

  /// Completes a save: posts did-save with objects and with object IDs, and notifies the contexts
  /// that merge automatically.
  ///
  /// - Parameters:
  ///   - insertions: `inserted` as a set.
  ///   - transactions: The history transactions of the save, by the identifiers of the stores.
  final func announceSave(
    inserted: [NSManagedObject], _ insertions: Set<NSManagedObject>, updated: [NSManagedObject],
    deleted: [NSManagedObject], transactions: [String: Int64] = [:]
  ) {
    advanceGeneration()
    var objects: [AnyHashable: Any] = [
      NSInsertedObjectsKey: insertions, NSUpdatedObjectsKey: Set(updated),
      NSDeletedObjectsKey: Set(deleted),
    ]
    var identities: [AnyHashable: Any] = [
      NSInsertedObjectIDsKey: objectIDs(of: inserted),
      NSUpdatedObjectIDsKey: objectIDs(of: updated), NSDeletedObjectIDsKey: objectIDs(of: deleted),
    ]
    let isEmpty = inserted.isEmpty && updated.isEmpty && deleted.isEmpty
    if parent == nil,
      let token = coordinator?.historyToken(afterSave: !isEmpty, of: transactions)
    {
      objects[NSManagedObjectContext.newHistoryTokenKey] = token
      identities[NSManagedObjectContext.newHistoryTokenKey] = token
    }
    objects[NSManagedObjectContextQueryGenerationKey] = queryGenerationToken
    identities[NSManagedObjectContextQueryGenerationKey] = queryGenerationToken
    post(.NSManagedObjectContextDidSave, objects)
    post(.NSManagedObjectContextDidSaveObjectIDs, identities)
    guard !isEmpty else { return }
    mergeIntoObservers {
      MergedChanges(
        inserted: inserted.map(\.identity), updated: updated.map(\.identity),
        deleted: deleted.map(\.identity))
    }
  }

  /// Returns the IDs of this context's objects, including objects that were just deregistered.
  private func objectIDs(of objects: [NSManagedObject]) -> Set<NSManagedObjectID> {
    var ids = Set<NSManagedObjectID>(minimumCapacity: objects.count)
    var start = objects.startIndex
    while start < objects.endIndex {
      // Consecutive objects usually are of one entity.
      let layout = objects[start].layout
      let handle = store(at: layout.storeIndex)?.handle
      repeat {
        let key = objects[start].primaryKey
        // Unlike `insert`, `update` doesn't return the new member, retained.
        ids.update(
          with: NSManagedObjectID(layout: layout, primaryKey: key, handle: key > 0 ? handle : nil))
        start += 1
      } while start < objects.endIndex && objects[start].layout === layout
    }
    return ids
  }

  /// Returns the ID of a row in one of this context's stores, or of a new object.
  final func objectID(of identity: FetchedIdentity) -> NSManagedObjectID {
    NSManagedObjectID(
      layout: identity.layout, primaryKey: identity.primaryKey,
      store: identity.primaryKey > 0 ? store(at: identity.layout.storeIndex) : nil)
  }
}

extension NSManagedObject {
  /// The identity under which the object's row is or will be stored.
  final var identity: FetchedIdentity {
    FetchedIdentity(layout: layout, primaryKey: primaryKey)
  }
}

// The names that Apple's Swift overlay gives to a context's notifications and their keys.

extension NSManagedObjectContext {
  /// The name of `NSManagedObjectContextWillSave`.
  public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
  /// The name of `NSManagedObjectContextDidSave`.
  public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
  /// The name of `NSManagedObjectContextObjectsDidChange`.
  public static let didChangeObjectsNotification =
    Notification.Name.NSManagedObjectContextObjectsDidChange
  /// The name of `NSManagedObjectContextDidSaveObjectIDs`.
  public static let didSaveObjectIDsNotification =
    Notification.Name.NSManagedObjectContextDidSaveObjectIDs
  /// The name of `NSManagedObjectContextDidMergeChangesObjectIDs`.
  public static let didMergeChangesObjectIDsNotification =
    Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs

  /// The key of the history token in a did-save notification: the `NSPersistentHistoryToken` of the
  /// transaction that the save wrote, or of the last one if it wrote none.
  ///
  /// Missing if no store has a history. Core Data uses this key without declaring it.
  public static let newHistoryTokenKey = "newHistoryToken"

  /// A key in the `userInfo` of a context's notifications; the raw value is the string in the
  /// dictionary.
  ///
  /// Apple counterpart: `NSManagedObjectContext.NotificationKey`.
  public enum NotificationKey: String, Sendable, CaseIterable {
    /// The context that made the change, which is also the notification's `object`; only in
    /// did-change notifications.
    case sourceContext = "managedObjectContext"
    /// The query generation read from after the save or merge.
    case queryGeneration = "newQueryGenerationToken"
    /// An array of the IDs of all objects that `reset` released.
    case invalidatedAllObjects = "invalidatedAll"
    /// A set of new objects.
    case insertedObjects = "inserted"
    /// A set of objects with changed properties.
    case updatedObjects = "updated"
    /// A set of objects that are or were deleted.
    case deletedObjects = "deleted"
    /// A set of objects that were refreshed.
    case refreshedObjects = "refreshed"
    /// A set of objects that were invalidated.
    case invalidatedObjects = "invalidated"
    /// The IDs of new objects.
    case insertedObjectIDs = "inserted_objectIDs"
    /// The IDs of objects with changed properties.
    case updatedObjectIDs = "updated_objectIDs"
    /// The IDs of objects that are or were deleted.
    case deletedObjectIDs = "deleted_objectIDs"
    /// The IDs of objects that were refreshed.
    case refreshedObjectIDs = "refreshed_objectIDs"
    /// The IDs of objects that were invalidated.
    case invalidatedObjectIDs = "invalidated_objectIDs"
  }
}

// Core Data's names of a context's notifications and of the keys in their `userInfo`.

extension Notification.Name {
  /// Posted after objects of a context were inserted, changed, deleted, or refreshed.
  ///
  /// `userInfo` has sets of objects.
  public static let NSManagedObjectContextObjectsDidChange = Notification.Name(
    "NSObjectsChangedInManagingContextNotification")
  /// Posted when a context is about to save; there's no `userInfo`.
  public static let NSManagedObjectContextWillSave = Notification.Name(
    "NSManagingContextWillSaveChangesNotification")
  /// Posted after a context has saved.
  ///
  /// `userInfo` has sets of objects, which belong to that context's queue: on another queue, read
  /// only their IDs.
  public static let NSManagedObjectContextDidSave = Notification.Name(
    "NSManagingContextDidSaveChangesNotification")
  /// Posted after a context has saved, with object IDs, which can be used on any queue.
  public static let NSManagedObjectContextDidSaveObjectIDs = Notification.Name(
    "_NSManagedObjectContextDidSaveObjectIDsNotificationName")
  /// Posted after a context has merged another's save; `userInfo` has the IDs of the affected
  /// objects.
  public static let NSManagedObjectContextDidMergeChangesObjectIDs = Notification.Name(
    "_NSManagedObjectContextDidMergeChangesObjectIDsNotificationName")
}

/// Key of the set of inserted objects in a notification's `userInfo`.
public let NSInsertedObjectsKey = "inserted"
/// Key of the set of updated objects in a notification's `userInfo`.
public let NSUpdatedObjectsKey = "updated"
/// Key of the set of deleted objects in a notification's `userInfo`.
public let NSDeletedObjectsKey = "deleted"
/// Key of the set of refreshed objects in a notification's `userInfo`.
public let NSRefreshedObjectsKey = "refreshed"
/// Key of the set of invalidated objects in a notification's `userInfo`.
public let NSInvalidatedObjectsKey = "invalidated"
/// Key of the array of all objects' IDs in a notification's `userInfo` after `reset`.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// Key of the set of inserted objects' IDs in a notification's `userInfo`.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// Key of the set of updated objects' IDs in a notification's `userInfo`.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// Key of the set of deleted objects' IDs in a notification's `userInfo`.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
/// Key of the set of refreshed objects' IDs in a notification's `userInfo`.
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
/// Key of the set of invalidated objects' IDs in a notification's `userInfo`.
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"
/// Key of the query generation that a pinned context reads from after a save or merge, in
/// `userInfo`.
public let NSManagedObjectContextQueryGenerationKey = "newQueryGenerationToken"
