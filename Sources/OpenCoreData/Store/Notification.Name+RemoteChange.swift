// swift-format-ignore-file: AlwaysUseLowerCamelCase
// Apple's names of the notification of other writers, of its keys, and of the options of the history.

import ManagedModel

extension Notification.Name {
  /// Somebody has committed to a store: this process or another.
  ///
  /// Posted on a queue of the store's own with the coordinator as the object, for stores opened with
  /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`. Several commits may come as one.
  public static let NSPersistentStoreRemoteChange = Notification.Name(
    "NSPersistentStoreRemoteChangeNotification")
}

/// Option: true keeps a persistent history in the store.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Option: true posts `NSPersistentStoreRemoteChange` for each commit to the file.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
  "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// Key of the store's URL in a remote change notification.
public let NSPersistentStoreURLKey = "storeURL"
/// Key of the place in the history in a remote change notification.
public let NSPersistentHistoryTokenKey = "historyToken"
