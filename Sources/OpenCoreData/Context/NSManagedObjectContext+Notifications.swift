import ManagedModel
import ProfileEvents

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

extension NSManagedObjectContext {
  /// Posts on the context's queue, with the context as the object; one event.
  final func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]) {
    let event = scope.begin(.notification)
    NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    scope.end(event) { $0.entity = name.rawValue }
  }
}
