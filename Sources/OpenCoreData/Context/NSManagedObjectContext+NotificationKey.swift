import ManagedModel

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
