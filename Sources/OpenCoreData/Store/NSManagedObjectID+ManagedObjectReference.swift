import ManagedModel

extension NSManagedObjectID: ManagedObjectReference {
  /// The ID itself.
  package var referenceIdentity: AnyHashable { AnyHashable(self) }

  /// False for a temporary ID.
  package var hasStableIdentity: Bool { !isTemporaryID }
}
