// swift-format-ignore-file: AlwaysUseLowerCamelCase
// Apple's names of a context's notifications and of the keys of their `userInfo`.

import ManagedModel

extension Notification.Name {
  /// Objects of a context were inserted, set, deleted or refreshed since the last such notification.
  public static let NSManagedObjectContextObjectsDidChange = Notification.Name(
    "NSObjectsChangedInManagingContextNotification")
  /// A context with changes is about to save.
  public static let NSManagedObjectContextWillSave = Notification.Name(
    "NSManagingContextWillSaveChangesNotification")
  /// A context has saved.
  public static let NSManagedObjectContextDidSave = Notification.Name(
    "NSManagingContextDidSaveChangesNotification")
}

/// Key of the set of inserted objects in a notification's `userInfo`.
public let NSInsertedObjectsKey = "inserted"
/// Key of the set of updated objects in a notification's `userInfo`.
public let NSUpdatedObjectsKey = "updated"
/// Key of the set of deleted objects in a notification's `userInfo`.
public let NSDeletedObjectsKey = "deleted"
/// Key of the set of refreshed objects in a notification's `userInfo`.
public let NSRefreshedObjectsKey = "refreshed"
