// swift-format-ignore-file: AlwaysUseLowerCamelCase
// Apple's names of a coordinator's notifications and of their keys.

import ManagedModel

extension Notification.Name {
  /// A coordinator has got a store, or has one less.
  ///
  /// Posted by the thread that did it, with the coordinator as the object; the stores are in arrays
  /// under `NSAddedPersistentStoresKey` and `NSRemovedPersistentStoresKey`.
  public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresDidChangeNotification")
  /// A coordinator is going to take a store away, which can be read until all have been told.
  ///
  /// Posted by the thread that does it, with the coordinator as the object; the store is in an array
  /// under `NSRemovedPersistentStoresKey`.
  public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
    "NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

/// Key of the stores that a coordinator has got.
public let NSAddedPersistentStoresKey = "added"
/// Key of the stores that a coordinator has lost, or is going to lose.
public let NSRemovedPersistentStoresKey = "removed"

extension NSPersistentStoreCoordinator {
  /// Tells what has become, or will become, of stores.
  func post(_ name: Notification.Name, _ key: String, _ stores: NSPersistentStore...) {
    NotificationCenter.default.post(name: name, object: self, userInfo: [key: stores])
  }
}
