import ManagedModel

// Errors of validation, conflicts, and saves.

extension NSError {
  /// Returns the error for a relationship that refers to another store.
  static func crossStore(
    _ relationship: String, of object: NSManagedObject, to other: NSManagedObject
  ) -> NSError {
    coreData(
      NSPersistentStoreSaveError,
      "'\(relationship)' of \(object.objectID) refers to \(other.objectID) in another store. Related "
        + "objects must be in the same store; call assign(_:to:) before saving.",
      [
        NSAffectedObjectsErrorKey: [object, other],
        NSAffectedStoresErrorKey: [object, other].compactMap { $0.context?.store(for: $0) },
      ])
  }

  /// Returns the error for one invalid value.
  static func validation(
    _ code: Int, object: NSManagedObject, key: String, value: Any?, predicate: NSPredicate? = nil,
    message: String
  ) -> NSError {
    var info: [String: Any] = [
      NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: key,
      NSLocalizedFailureReasonErrorKey:
        "'\(key)' of \(object.layout.entityName) \(object.objectID) is not valid.",
    ]
    info[NSValidationValueErrorKey] = value.map { KeyedValue.boxed($0) }
    info[NSValidationPredicateErrorKey] = predicate
    return coreData(code, message, info)
  }

  /// Throws a single failure, or several as one error 1560; returns if there are none.
  static func throwValidation(_ failures: [NSError]) throws {
    if failures.isEmpty { return }
    // Errors that contain others are flattened, so that the details are one list.
    let flat = failures.flatMap { failure in
      failure.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [failure]
    }
    guard let first = flat.first else { return }
    if flat.count == 1 { throw first }
    throw coreData(
      NSValidationMultipleErrorsError, "\(flat.count) validation errors occurred.",
      [NSDetailedErrorsKey: flat])
  }

  /// Returns the error for rows that changed since they were read.
  static func mergeConflicts(_ conflicts: [NSMergeConflict]) -> NSError {
    coreData(
      NSManagedObjectMergeError,
      "\(PluralForm.counted(conflicts.count, "row")) changed in the store since the objects were read. "
        + "Refresh the objects and save again, or set the context's merge policy.",
      [NSPersistentStoreSaveConflictsErrorKey: conflicts])
  }

  /// Returns the error for duplicate values of uniqueness constraints.
  static func constraintConflicts(_ conflicts: [NSConstraintConflict]) -> NSError {
    coreData(
      NSManagedObjectConstraintMergeError,
      "\(PluralForm.counted(conflicts.count, "uniqueness constraint")) would be violated, the first on "
        + "\(conflicts.first?.constraint.joined(separator: ", ") ?? ""). Change the values, or give the "
        + "context a merge policy.",
      [NSPersistentStoreSaveConflictsErrorKey: conflicts])
  }

  /// Returns the error for a row of a batch insertion that has the unique values of several rows.
  static func severalUniqueRows(of entity: String, _ message: String) -> NSError {
    coreData(
      NSManagedObjectConstraintMergeError,
      "A row to insert into '\(entity)' has the unique values of several rows, of which only one can be "
        + "updated (\(message)). Change its values, or delete the other rows first.")
  }
}

extension CocoaError {
  /// The object that failed validation; `nil` for other errors.
  public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }
  /// The name of the property that failed validation; `nil` for other errors.
  public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }
  /// The value that failed validation; `nil` if there's none.
  public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
  /// The predicate that a value didn't satisfy; `nil` for other errors.
  public var validationPredicate: NSPredicate? {
    userInfo[NSValidationPredicateErrorKey] as? NSPredicate
  }
  /// The objects affected by the error; `nil` for other errors.
  public var affectedObjects: [NSManagedObject]? {
    userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject]
  }
  /// The stores affected by the error; `nil` for other errors.
  public var affectedStores: [NSPersistentStore]? {
    userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore]
  }
  /// The optimistic-locking conflicts of a failed save; `nil` for other errors.
  public var persistentStoreSaveConflicts: [NSMergeConflict]? {
    userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
  }
}
