import ManagedModel

extension CocoaError {
  /// The object that failed validation, or nil for other errors.
  public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }
  /// The name of the property that failed validation, or nil for other errors.
  public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }
  /// The value that failed validation, or nil for none.
  public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
  /// The predicate that a value didn't satisfy, or nil if the error isn't about one.
  public var validationPredicate: NSPredicate? {
    userInfo[NSValidationPredicateErrorKey] as? NSPredicate
  }
  /// The objects that the error is about, or nil for other errors.
  public var affectedObjects: [NSManagedObject]? {
    userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject]
  }
  /// The stores that the error is about, or nil for other errors.
  public var affectedStores: [NSPersistentStore]? {
    userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore]
  }
  /// The conflicts of a save that optimistic locking stopped, or nil for other errors.
  public var persistentStoreSaveConflicts: [NSMergeConflict]? {
    userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
  }
}
