import ManagedModel

extension NSManagedObject: ManagedObjectReference {
  /// The object's ID: to a predicate, an object and its ID are the same.
  package final var referenceIdentity: AnyHashable { AnyHashable(objectID) }

  /// False until the object has been saved.
  package final var hasStableIdentity: Bool { primaryKey > 0 }
}
