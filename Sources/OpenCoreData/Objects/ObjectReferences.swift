import ManagedModel

// To a predicate, an object and its ID are the same.

extension NSManagedObject: ManagedObjectReference {
  package final var referenceIdentity: AnyHashable { AnyHashable(objectID) }
  package final var hasStableIdentity: Bool { primaryKey > 0 }
}

extension NSManagedObjectID: ManagedObjectReference {
  package var referenceIdentity: AnyHashable { AnyHashable(self) }
  package var hasStableIdentity: Bool { !isTemporaryID }
}
