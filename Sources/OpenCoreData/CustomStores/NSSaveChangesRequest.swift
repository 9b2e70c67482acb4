import ManagedModel

/// The changes of a save, which a context gives to an incremental store.
///
/// Each set has the objects of one store. Apple counterpart: the same.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
  /// The new objects, with their permanent IDs.
  public let insertedObjects: Set<NSManagedObject>?
  /// The objects with changed values.
  public let updatedObjects: Set<NSManagedObject>?
  /// The objects to delete.
  public let deletedObjects: Set<NSManagedObject>?
  /// Unchanged objects whose version must be the one that they were read with.
  public let lockedObjects: Set<NSManagedObject>?

  /// Creates a request.
  public init(
    inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
    deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
  ) {
    self.insertedObjects = insertedObjects
    self.updatedObjects = updatedObjects
    self.deletedObjects = deletedObjects
    self.lockedObjects = lockedObjects
    super.init()
  }

  /// `saveRequestType`.
  open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

  /// Returns a copy of the request, with the same objects.
  ///
  /// A copy of a subclass is a plain `NSSaveChangesRequest`.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSSaveChangesRequest(
      inserted: insertedObjects, updated: updatedObjects, deleted: deletedObjects,
      locked: lockedObjects)
    copy.affectedStores = affectedStores
    return copy
  }
}

extension NSSaveChangesRequest {
  /// Creates the request of a save to one store.
  convenience init(_ plan: SavePlan, for store: NSPersistentStore) {
    self.init(
      inserted: Set(plan.inserted), updated: Set(plan.updated), deleted: Set(plan.deleted),
      locked: Set(plan.locked))
    affectedStores = [store]
  }
}
