// swift-format-ignore-file: AlwaysUseLowerCamelCase

import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Posts on the context's queue, with the context as the object; one event.
  final func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]) {
    let event = scope.begin(.notification)
    NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    scope.end(event) { $0.entity = name.rawValue }
  }

  /// Tells that a save is done: did-save with objects, did-save with IDs, and the contexts that merge
  /// by themselves.
  ///
  /// - Parameter insertions: `inserted` as a set.
  final func announceSave(
    inserted: [NSManagedObject], _ insertions: Set<NSManagedObject>, updated: [NSManagedObject],
    deleted: [NSManagedObject]
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
    if parent == nil, let token = coordinator?.historyToken(afterSave: !isEmpty) {
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

  /// The IDs of objects of this context, those included that have just left it.
  final func objectIDs(of objects: some Sequence<NSManagedObject>) -> Set<NSManagedObjectID> {
    var ids: Set<NSManagedObjectID> = []
    ids.reserveCapacity(objects.underestimatedCount)
    var last: (layout: EntityLayout, handle: StoreHandle?)?
    for object in objects {
      let layout = object.layout
      if last?.layout !== layout { last = (layout, store(at: layout.place)?.handle) }
      let handle = object.primaryKey > 0 ? last?.handle : nil
      ids.insert(NSManagedObjectID(layout: layout, primaryKey: object.primaryKey, handle: handle))
    }
    return ids
  }

  /// The ID of a row of one of this context's stores, or of a new object.
  final func objectID(of identity: FetchedIdentity) -> NSManagedObjectID {
    NSManagedObjectID(
      layout: identity.layout, primaryKey: identity.primaryKey,
      store: identity.primaryKey > 0 ? store(at: identity.layout.place) : nil)
  }
}

extension NSManagedObject {
  /// Where the object's row is or will be.
  final var identity: FetchedIdentity {
    FetchedIdentity(layout: layout, primaryKey: primaryKey)
  }
}

// The names of Apple's Swift overlay for a context's notifications and their keys.

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
  /// Missing if no store has a history. Apple's framework uses this key without declaring it.
  public static let newHistoryTokenKey = "newHistoryToken"

  /// A key of a context's notifications; the raw value is what stands in `userInfo`.
  ///
  /// Apple counterpart: `NSManagedObjectContext.NotificationKey`.
  public enum NotificationKey: String, Sendable, CaseIterable {
    /// The context that made the change; the notification's own `object` says the same.
    case sourceContext = "managedObjectContext"
    /// The query generation read from after the save or merge.
    case queryGeneration = "newQueryGenerationToken"
    /// The IDs of all objects, an array, which `reset` has released.
    case invalidatedAllObjects = "invalidatedAll"
    /// A set of new objects.
    case insertedObjects = "inserted"
    /// A set of objects of which a property was set.
    case updatedObjects = "updated"
    /// A set of objects that go or have gone.
    case deletedObjects = "deleted"
    /// A set of objects that were refreshed.
    case refreshedObjects = "refreshed"
    /// A set of objects that were invalidated.
    case invalidatedObjects = "invalidated"
    /// The IDs of new objects.
    case insertedObjectIDs = "inserted_objectIDs"
    /// The IDs of objects of which a property was set.
    case updatedObjectIDs = "updated_objectIDs"
    /// The IDs of objects that go or have gone.
    case deletedObjectIDs = "deleted_objectIDs"
    /// The IDs of objects that were refreshed.
    case refreshedObjectIDs = "refreshed_objectIDs"
    /// The IDs of objects that were invalidated.
    case invalidatedObjectIDs = "invalidated_objectIDs"
  }
}

// Apple's names of a context's notifications and of the keys of their `userInfo`.

extension Notification.Name {
  /// Objects of a context were inserted, set, deleted or refreshed since the last such notification.
  ///
  /// `userInfo` has sets of objects.
  public static let NSManagedObjectContextObjectsDidChange = Notification.Name(
    "NSObjectsChangedInManagingContextNotification")
  /// A context with changes is about to save.
  public static let NSManagedObjectContextWillSave = Notification.Name(
    "NSManagingContextWillSaveChangesNotification")
  /// A context has saved.
  ///
  /// `userInfo` has sets of objects, which belong to that context's queue: from elsewhere read
  /// nothing but their IDs.
  public static let NSManagedObjectContextDidSave = Notification.Name(
    "NSManagingContextDidSaveChangesNotification")
  /// A context has saved; as did-save, with object IDs, which may go anywhere.
  public static let NSManagedObjectContextDidSaveObjectIDs = Notification.Name(
    "_NSManagedObjectContextDidSaveObjectIDsNotificationName")
  /// A context has merged what another saved; `userInfo` has the IDs of what that changed here.
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
/// Key of the query generation that a pinned context reads from after a save or merge, in `userInfo`.
public let NSManagedObjectContextQueryGenerationKey = "newQueryGenerationToken"
