public import OpenCoreData

/// What a context has saved, to be processed on the queue of another context.
///
/// Only the object IDs are read. The notification is retained: it retains the saved objects, and
/// those retain their entries in the row cache, so that firing the other context's faults runs no
/// statement. See chapters 9 and 10 of the book.
public struct SavedChanges: @unchecked Sendable {  // merging uses only the objects' identity
  /// The IDs of the inserted objects.
  public let inserted: [NSManagedObjectID]
  /// The IDs of the updated objects.
  public let updated: [NSManagedObjectID]
  /// The did-save notification.
  public let notification: Notification

  /// Reads a did-save notification on the queue of the context that has posted it.
  ///
  /// Deleted objects are ignored, because objects are marked before they're deleted.
  public init(_ notification: Notification) {
    func ids(_ key: String) -> [NSManagedObjectID] {
      (notification.userInfo?[key] as? Set<NSManagedObject> ?? []).map(\.objectID)
    }
    inserted = ids(NSInsertedObjectsKey)
    updated = ids(NSUpdatedObjectsKey)
    self.notification = notification
  }
}

extension NSManagedObjectContext {
  /// Schedules the merging of another context's changes on this context's queue.
  public func performMergeChanges(from changes: SavedChanges) {
    perform { [self] in mergeChanges(fromContextDidSave: changes.notification) }
  }
}

extension Sequence<NSManagedObjectID> {
  /// Returns the objects with these IDs in a context, on whose queue you call this method.
  ///
  /// **Cost**: none. An object that isn't registered is a fault.
  public func remap(to context: NSManagedObjectContext) -> [NSManagedObject] {
    map(context.object(with:))
  }
}
