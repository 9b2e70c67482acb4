import ManagedModel

// Core Data's codes in `NSCocoaErrorDomain` under Apple's Swift names, so that
// `catch CocoaError.validationMissingMandatoryProperty` matches what OpenCoreData throws.

extension CocoaError.Code {
  /// A validation failed for a reason that has no code of its own.
  public static var managedObjectValidation: CocoaError.Code {
    Self(rawValue: NSManagedObjectValidationError)
  }
  /// A row would lose an object that it must refer to.
  public static var managedObjectConstraintValidation: CocoaError.Code {
    Self(rawValue: NSManagedObjectConstraintValidationError)
  }
  /// Several validations failed; `NSDetailedErrorsKey` lists the errors.
  public static var validationMultipleErrors: CocoaError.Code {
    Self(rawValue: NSValidationMultipleErrorsError)
  }
  /// A required property is `nil`.
  public static var validationMissingMandatoryProperty: CocoaError.Code {
    Self(rawValue: NSValidationMissingMandatoryPropertyError)
  }
  /// A to-many relationship has too few objects.
  public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
    Self(rawValue: NSValidationRelationshipLacksMinimumCountError)
  }
  /// A to-many relationship has too many objects.
  public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
    Self(rawValue: NSValidationRelationshipExceedsMaximumCountError)
  }
  /// A relationship with the deny rule still has objects.
  public static var validationRelationshipDeniedDelete: CocoaError.Code {
    Self(rawValue: NSValidationRelationshipDeniedDeleteError)
  }
  /// A number is greater than its maximum.
  public static var validationNumberTooLarge: CocoaError.Code {
    Self(rawValue: NSValidationNumberTooLargeError)
  }
  /// A number is less than its minimum.
  public static var validationNumberTooSmall: CocoaError.Code {
    Self(rawValue: NSValidationNumberTooSmallError)
  }
  /// A date is later than its maximum.
  public static var validationDateTooLate: CocoaError.Code {
    Self(rawValue: NSValidationDateTooLateError)
  }
  /// A date is earlier than its minimum.
  public static var validationDateTooSoon: CocoaError.Code {
    Self(rawValue: NSValidationDateTooSoonError)
  }
  /// A date isn't valid.
  public static var validationInvalidDate: CocoaError.Code {
    Self(rawValue: NSValidationInvalidDateError)
  }
  /// A string is longer than its maximum.
  public static var validationStringTooLong: CocoaError.Code {
    Self(rawValue: NSValidationStringTooLongError)
  }
  /// A string is shorter than its minimum.
  public static var validationStringTooShort: CocoaError.Code {
    Self(rawValue: NSValidationStringTooShortError)
  }
  /// A string doesn't match its pattern.
  public static var validationStringPatternMatching: CocoaError.Code {
    Self(rawValue: NSValidationStringPatternMatchingError)
  }
  /// A URI isn't valid.
  public static var validationInvalidURI: CocoaError.Code {
    Self(rawValue: NSValidationInvalidURIError)
  }
  /// A context couldn't get a lock.
  public static var managedObjectContextLocking: CocoaError.Code {
    Self(rawValue: NSManagedObjectContextLockingError)
  }
  /// A coordinator couldn't get a lock.
  public static var persistentStoreCoordinatorLocking: CocoaError.Code {
    Self(rawValue: NSPersistentStoreCoordinatorLockingError)
  }
  /// A fault's row doesn't exist, or a reference is dangling.
  public static var managedObjectReferentialIntegrity: CocoaError.Code {
    Self(rawValue: NSManagedObjectReferentialIntegrityError)
  }
  /// A relationship refers to an object in another store.
  public static var managedObjectExternalRelationship: CocoaError.Code {
    Self(rawValue: NSManagedObjectExternalRelationshipError)
  }
  /// A row changed since its object was read.
  public static var managedObjectMerge: CocoaError.Code {
    Self(rawValue: NSManagedObjectMergeError)
  }
  /// Objects have the same values for a uniqueness constraint.
  public static var managedObjectConstraintMerge: CocoaError.Code {
    Self(rawValue: NSManagedObjectConstraintMergeError)
  }
  /// The store type isn't known.
  public static var persistentStoreInvalidType: CocoaError.Code {
    Self(rawValue: NSPersistentStoreInvalidTypeError)
  }
  /// The file isn't a store of the requested type.
  public static var persistentStoreTypeMismatch: CocoaError.Code {
    Self(rawValue: NSPersistentStoreTypeMismatchError)
  }
  /// The file lacks tables or columns of the model.
  public static var persistentStoreIncompatibleSchema: CocoaError.Code {
    Self(rawValue: NSPersistentStoreIncompatibleSchemaError)
  }
  /// The save failed.
  public static var persistentStoreSave: CocoaError.Code {
    Self(rawValue: NSPersistentStoreSaveError)
  }
  /// One of several stores failed to save.
  public static var persistentStoreIncompleteSave: CocoaError.Code {
    Self(rawValue: NSPersistentStoreIncompleteSaveError)
  }
  /// A save has conflicts that no merge policy resolved.
  public static var persistentStoreSaveConflicts: CocoaError.Code {
    Self(rawValue: NSPersistentStoreSaveConflictsError)
  }
  /// An error that has no code of its own.
  public static var coreData: CocoaError.Code { Self(rawValue: NSCoreDataError) }
  /// The store can't perform the operation.
  public static var persistentStoreOperation: CocoaError.Code {
    Self(rawValue: NSPersistentStoreOperationError)
  }
  /// The store can't be opened.
  public static var persistentStoreOpen: CocoaError.Code {
    Self(rawValue: NSPersistentStoreOpenError)
  }
  /// The store didn't respond in time.
  public static var persistentStoreTimeout: CocoaError.Code {
    Self(rawValue: NSPersistentStoreTimeoutError)
  }
  /// The store doesn't support requests of this type.
  public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
    Self(rawValue: NSPersistentStoreUnsupportedRequestTypeError)
  }
  /// The store was made with another version of the model.
  public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
    Self(rawValue: NSPersistentStoreIncompatibleVersionHashError)
  }
  /// A migration failed.
  public static var migration: CocoaError.Code { Self(rawValue: NSMigrationError) }
  /// A migration would violate a uniqueness constraint.
  public static var migrationConstraintViolation: CocoaError.Code {
    Self(rawValue: NSMigrationConstraintViolationError)
  }
  /// A migration was canceled.
  public static var migrationCancelled: CocoaError.Code {
    Self(rawValue: NSMigrationCancelledError)
  }
  /// A migration found no model for the source store.
  public static var migrationMissingSourceModel: CocoaError.Code {
    Self(rawValue: NSMigrationMissingSourceModelError)
  }
  /// A migration found no mapping model.
  public static var migrationMissingMappingModel: CocoaError.Code {
    Self(rawValue: NSMigrationMissingMappingModelError)
  }
  /// A migration failed in the source store.
  public static var migrationManagerSourceStore: CocoaError.Code {
    Self(rawValue: NSMigrationManagerSourceStoreError)
  }
  /// A migration failed in the destination store.
  public static var migrationManagerDestinationStore: CocoaError.Code {
    Self(rawValue: NSMigrationManagerDestinationStoreError)
  }
  /// A migration policy failed.
  public static var entityMigrationPolicy: CocoaError.Code {
    Self(rawValue: NSEntityMigrationPolicyError)
  }
  /// SQLite reported an error.
  public static var sqlite: CocoaError.Code { Self(rawValue: NSSQLiteError) }
  /// A mapping model couldn't be inferred.
  public static var inferredMappingModel: CocoaError.Code {
    Self(rawValue: NSInferredMappingModelError)
  }
  /// An external record couldn't be imported.
  public static var externalRecordImport: CocoaError.Code {
    Self(rawValue: NSExternalRecordImportError)
  }
  /// Transactions after a history token were deleted.
  public static var persistentHistoryTokenExpired: CocoaError.Code {
    Self(rawValue: NSPersistentHistoryTokenExpiredError)
  }
}

extension CocoaError {
  /// A validation failed for a reason that has no code of its own.
  public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }
  /// A row would lose an object that it must refer to.
  public static var managedObjectConstraintValidation: CocoaError.Code {
    .managedObjectConstraintValidation
  }
  /// Several validations failed; `NSDetailedErrorsKey` lists the errors.
  public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }
  /// A required property is `nil`.
  public static var validationMissingMandatoryProperty: CocoaError.Code {
    .validationMissingMandatoryProperty
  }
  /// A to-many relationship has too few objects.
  public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
    .validationRelationshipLacksMinimumCount
  }
  /// A to-many relationship has too many objects.
  public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
    .validationRelationshipExceedsMaximumCount
  }
  /// A relationship with the deny rule still has objects.
  public static var validationRelationshipDeniedDelete: CocoaError.Code {
    .validationRelationshipDeniedDelete
  }
  /// A number is greater than its maximum.
  public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }
  /// A number is less than its minimum.
  public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }
  /// A date is later than its maximum.
  public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }
  /// A date is earlier than its minimum.
  public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }
  /// A date isn't valid.
  public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }
  /// A string is longer than its maximum.
  public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }
  /// A string is shorter than its minimum.
  public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }
  /// A string doesn't match its pattern.
  public static var validationStringPatternMatching: CocoaError.Code {
    .validationStringPatternMatching
  }
  /// A URI isn't valid.
  public static var validationInvalidURI: CocoaError.Code { .validationInvalidURI }
  /// A context couldn't get a lock.
  public static var managedObjectContextLocking: CocoaError.Code { .managedObjectContextLocking }
  /// A coordinator couldn't get a lock.
  public static var persistentStoreCoordinatorLocking: CocoaError.Code {
    .persistentStoreCoordinatorLocking
  }
  /// A fault's row doesn't exist, or a reference is dangling.
  public static var managedObjectReferentialIntegrity: CocoaError.Code {
    .managedObjectReferentialIntegrity
  }
  /// A relationship refers to an object in another store.
  public static var managedObjectExternalRelationship: CocoaError.Code {
    .managedObjectExternalRelationship
  }
  /// A row changed since its object was read.
  public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }
  /// Objects have the same values for a uniqueness constraint.
  public static var managedObjectConstraintMerge: CocoaError.Code { .managedObjectConstraintMerge }
  /// The store type isn't known.
  public static var persistentStoreInvalidType: CocoaError.Code { .persistentStoreInvalidType }
  /// The file isn't a store of the requested type.
  public static var persistentStoreTypeMismatch: CocoaError.Code { .persistentStoreTypeMismatch }
  /// The file lacks tables or columns of the model.
  public static var persistentStoreIncompatibleSchema: CocoaError.Code {
    .persistentStoreIncompatibleSchema
  }
  /// The save failed.
  public static var persistentStoreSave: CocoaError.Code { .persistentStoreSave }
  /// One of several stores failed to save.
  public static var persistentStoreIncompleteSave: CocoaError.Code {
    .persistentStoreIncompleteSave
  }
  /// A save has conflicts that no merge policy resolved.
  public static var persistentStoreSaveConflicts: CocoaError.Code { .persistentStoreSaveConflicts }
  /// An error that has no code of its own.
  public static var coreData: CocoaError.Code { .coreData }
  /// The store can't perform the operation.
  public static var persistentStoreOperation: CocoaError.Code { .persistentStoreOperation }
  /// The store can't be opened.
  public static var persistentStoreOpen: CocoaError.Code { .persistentStoreOpen }
  /// The store didn't respond in time.
  public static var persistentStoreTimeout: CocoaError.Code { .persistentStoreTimeout }
  /// The store doesn't support requests of this type.
  public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
    .persistentStoreUnsupportedRequestType
  }
  /// The store was made with another version of the model.
  public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
    .persistentStoreIncompatibleVersionHash
  }
  /// A migration failed.
  public static var migration: CocoaError.Code { .migration }
  /// A migration would violate a uniqueness constraint.
  public static var migrationConstraintViolation: CocoaError.Code { .migrationConstraintViolation }
  /// A migration was canceled.
  public static var migrationCancelled: CocoaError.Code { .migrationCancelled }
  /// A migration found no model for the source store.
  public static var migrationMissingSourceModel: CocoaError.Code { .migrationMissingSourceModel }
  /// A migration found no mapping model.
  public static var migrationMissingMappingModel: CocoaError.Code { .migrationMissingMappingModel }
  /// A migration failed in the source store.
  public static var migrationManagerSourceStore: CocoaError.Code { .migrationManagerSourceStore }
  /// A migration failed in the destination store.
  public static var migrationManagerDestinationStore: CocoaError.Code {
    .migrationManagerDestinationStore
  }
  /// A migration policy failed.
  public static var entityMigrationPolicy: CocoaError.Code { .entityMigrationPolicy }
  /// SQLite reported an error.
  public static var sqlite: CocoaError.Code { .sqlite }
  /// A mapping model couldn't be inferred.
  public static var inferredMappingModel: CocoaError.Code { .inferredMappingModel }
  /// An external record couldn't be imported.
  public static var externalRecordImport: CocoaError.Code { .externalRecordImport }
  /// Transactions after a history token were deleted.
  public static var persistentHistoryTokenExpired: CocoaError.Code {
    .persistentHistoryTokenExpired
  }
}
