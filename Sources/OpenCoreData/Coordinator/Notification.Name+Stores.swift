// swift-format-ignore-file: AlwaysUseLowerCamelCase
// Apple's names of a coordinator's notifications and of their keys.

import ManagedModel

extension Notification.Name {
  /// A coordinator's stores are about to change.
  ///
  /// Core Data posts it when an iCloud account changes; OpenCoreData never does.
  public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresWillChangeNotification")
  /// A coordinator has got a store, or has one less.
  ///
  /// Posted by the thread that did it, with the coordinator as the object; the stores are in arrays
  /// under `NSAddedPersistentStoresKey` and `NSRemovedPersistentStoresKey`. A store that was migrated is
  /// under `NSUUIDChangedPersistentStoresKey`.
  public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresDidChangeNotification")
  /// A coordinator is going to take a store away, which can be read until all have been told.
  ///
  /// Posted by the thread that does it, with the store as the object.
  public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
    "NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

/// Key of the stores that a coordinator has got.
public let NSAddedPersistentStoresKey = "added"
/// Key of the stores that a coordinator has lost, or is going to lose.
public let NSRemovedPersistentStoresKey = "removed"
/// Key of a store that was migrated elsewhere: an array of the old store, the new store, and an array of
/// pairs, each an array of an object's old and new `NSManagedObjectID`.
public let NSUUIDChangedPersistentStoresKey = "NSUUIDChangedPersistentStores"

extension NSPersistentStoreCoordinator {
  /// Posts that the stores have changed.
  func postStoresDidChange(_ userInfo: [AnyHashable: Any]) {
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: userInfo)
  }

  /// Posts that a store is about to be removed.
  func postWillRemove(_ store: NSPersistentStore) {
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
  }
}
