import ManagedModel

extension NSManagedObject {
  /// The position of the object's ID among others.
  package final var positionByID: UInt64 { NSManagedObjectID.positionByID(of: primaryKey) }

  /// The properties that every object has in addition to those of its entity, by the keys of
  /// key-value coding: a Boolean one has two, `isDeleted` and `deleted`.
  ///
  /// None of them fires a fault.
  static let ownKeys: [String: @Sendable (NSManagedObject) -> Any?] = [
    "self": { $0 },
    "objectID": { $0.objectID },
    "entity": { $0.entity },
    "managedObjectContext": { $0.managedObjectContext },
    "description": { $0.description },
    "faultingState": { NSNumber(value: $0.faultingState) },
    "hasChanges": { KeyedValue.boxed($0.hasChanges) },
    "hasPersistentChangedValues": { KeyedValue.boxed($0.hasPersistentChangedValues) },
    "isInserted": { KeyedValue.boxed($0.isInserted) },
    "inserted": { KeyedValue.boxed($0.isInserted) },
    "isUpdated": { KeyedValue.boxed($0.isUpdated) },
    "updated": { KeyedValue.boxed($0.isUpdated) },
    "isDeleted": { KeyedValue.boxed($0.isDeleted) },
    "deleted": { KeyedValue.boxed($0.isDeleted) },
    "isFault": { KeyedValue.boxed($0.isFault) },
    "fault": { KeyedValue.boxed($0.isFault) },
  ]
}
