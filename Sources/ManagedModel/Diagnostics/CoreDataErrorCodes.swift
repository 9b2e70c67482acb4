// swift-format-ignore-file: AlwaysUseLowerCamelCase
// Core Data's codes in NSCocoaErrorDomain and the keys of their userInfo, with Core Data's names.

/// A validation failed for a reason that has no code of its own.
public let NSManagedObjectValidationError = 1550
/// A row would lose an object that it must refer to.
public let NSManagedObjectConstraintValidationError = 1551
/// Several validations failed; `NSDetailedErrorsKey` lists them.
public let NSValidationMultipleErrorsError = 1560
/// A required property is `nil`.
public let NSValidationMissingMandatoryPropertyError = 1570
/// A to-many relationship has too few objects.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// A to-many relationship has too many objects.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// A relationship with the deny rule still has objects.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// A number is greater than its maximum, or too wide for its type.
public let NSValidationNumberTooLargeError = 1610
/// A number is less than its minimum, or too wide for its type.
public let NSValidationNumberTooSmallError = 1620
/// A date is later than its maximum.
public let NSValidationDateTooLateError = 1630
/// A date is earlier than its minimum.
public let NSValidationDateTooSoonError = 1640
/// A date isn't valid.
public let NSValidationInvalidDateError = 1650
/// A string is longer than its maximum.
public let NSValidationStringTooLongError = 1660
/// A string is shorter than its minimum.
public let NSValidationStringTooShortError = 1670
/// A string doesn't match its pattern.
public let NSValidationStringPatternMatchingError = 1680
/// A URI isn't valid.
public let NSValidationInvalidURIError = 1690
/// A context couldn't get a lock; OpenCoreData doesn't throw it.
public let NSManagedObjectContextLockingError = 132000
/// A coordinator couldn't get a lock; OpenCoreData doesn't throw it.
public let NSPersistentStoreCoordinatorLockingError = 132010
/// A fault's row doesn't exist, or a reference is dangling.
public let NSManagedObjectReferentialIntegrityError = 133000
/// A relationship refers to an object in another store; OpenCoreData throws 134030 instead.
public let NSManagedObjectExternalRelationshipError = 133010
/// A row changed since its object was read.
public let NSManagedObjectMergeError = 133020
/// Objects have the same values for a uniqueness constraint.
public let NSManagedObjectConstraintMergeError = 133021
/// The store type isn't known.
public let NSPersistentStoreInvalidTypeError = 134000
/// The file isn't a store of that type.
public let NSPersistentStoreTypeMismatchError = 134010
/// The file lacks tables or columns of the model.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// The save failed.
public let NSPersistentStoreSaveError = 134030
/// One of several stores failed to save; OpenCoreData throws the store's own error instead.
public let NSPersistentStoreIncompleteSaveError = 134040
/// A save has conflicts that no merge policy resolved; OpenCoreData throws 133020 or 133021.
public let NSPersistentStoreSaveConflictsError = 134050
/// An error that has no code of its own.
public let NSCoreDataError = 134060
/// The store can't perform the operation.
public let NSPersistentStoreOperationError = 134070
/// The store can't be opened, for a reason without a code of its own: a corrupt store is error 259,
/// a missing one 260.
public let NSPersistentStoreOpenError = 134080
/// The store didn't respond in time; OpenCoreData reports SQLite's own error instead.
public let NSPersistentStoreTimeoutError = 134090
/// The store doesn't support requests of this type.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
/// The store was created with another version of the model.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// A migration failed.
public let NSMigrationError = 134110
/// A migration would violate a uniqueness constraint.
public let NSMigrationConstraintViolationError = 134111
/// A migration was canceled.
public let NSMigrationCancelledError = 134120
/// A migration found no model for the source store.
public let NSMigrationMissingSourceModelError = 134130
/// A migration found no mapping model.
public let NSMigrationMissingMappingModelError = 134140
/// A migration failed in the source store.
public let NSMigrationManagerSourceStoreError = 134150
/// A migration failed in the destination store.
public let NSMigrationManagerDestinationStoreError = 134160
/// A migration policy failed.
public let NSEntityMigrationPolicyError = 134170
/// SQLite reported an error.
public let NSSQLiteError = 134180
/// A mapping model couldn't be inferred.
public let NSInferredMappingModelError = 134190
/// An external record couldn't be imported; OpenCoreData doesn't throw it.
public let NSExternalRecordImportError = 134200
/// Transactions after a history token were deleted.
public let NSPersistentHistoryTokenExpiredError = 134301
/// The model of a migration stage, or the stage of a store's version, wasn't found.
public let NSManagedObjectModelReferenceNotFoundError = 134504
/// The store's metadata is too old for a staged migration; OpenCoreData doesn't throw it.
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
/// The stages of a migration don't lead from the store's version to an earlier one.
public let NSStagedMigrationBackwardMigrationError = 134506

/// The domain of SQLite's own codes.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"
/// Key of the errors that an error 1560 combines.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// Key of the invalid object.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// Key of the invalid property.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// Key of the invalid value.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// Key of the predicate that isn't satisfied.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// Key of the objects that an error affects.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// Key of the stores that an error affects.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// Key of the conflicts of an error 133020 or 133021: an array of `NSMergeConflict` or
/// `NSConstraintConflict`.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
