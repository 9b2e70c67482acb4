import ManagedModel

extension CocoaError {
  /// The object that failed validation; nil for other errors.
  public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }
  /// The name of the property that failed validation; nil for other errors.
  public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }
  /// The value that failed validation; nil if there is none.
  public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
  /// The predicate that a value didn't satisfy; nil for other errors.
  public var validationPredicate: NSPredicate? {
    userInfo[NSValidationPredicateErrorKey] as? NSPredicate
  }
  /// The objects affected by the error; nil for other errors.
  public var affectedObjects: [NSManagedObject]? {
    userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject]
  }
  /// The stores affected by the error; nil for other errors.
  public var affectedStores: [NSPersistentStore]? {
    userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore]
  }
  /// The optimistic-locking conflicts of a failed save; nil for other errors.
  public var persistentStoreSaveConflicts: [NSMergeConflict]? {
    userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
  }
}
