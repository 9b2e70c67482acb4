// swift-format-ignore-file: AlwaysUseLowerCamelCase
// Apple's names of a context's notifications and of the keys of their `userInfo`.

import ManagedModel

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
