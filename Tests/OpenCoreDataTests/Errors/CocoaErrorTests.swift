import OpenCoreData
import Testing

@Suite("Core Data's codes on CocoaError")
struct CocoaErrorTests {
  @Test(arguments: [
    (CocoaError.Code.managedObjectValidation, CocoaError.managedObjectValidation, 1550),
    (
      CocoaError.Code.managedObjectConstraintValidation,
      CocoaError.managedObjectConstraintValidation, 1551
    ),
    (CocoaError.Code.validationMultipleErrors, CocoaError.validationMultipleErrors, 1560),
    (
      CocoaError.Code.validationMissingMandatoryProperty,
      CocoaError.validationMissingMandatoryProperty, 1570
    ),
    (
      CocoaError.Code.validationRelationshipLacksMinimumCount,
      CocoaError.validationRelationshipLacksMinimumCount, 1580
    ),
    (
      CocoaError.Code.validationRelationshipExceedsMaximumCount,
      CocoaError.validationRelationshipExceedsMaximumCount, 1590
    ),
    (
      CocoaError.Code.validationRelationshipDeniedDelete,
      CocoaError.validationRelationshipDeniedDelete, 1600
    ),
    (CocoaError.Code.validationNumberTooLarge, CocoaError.validationNumberTooLarge, 1610),
    (CocoaError.Code.validationNumberTooSmall, CocoaError.validationNumberTooSmall, 1620),
    (CocoaError.Code.validationDateTooLate, CocoaError.validationDateTooLate, 1630),
    (CocoaError.Code.validationDateTooSoon, CocoaError.validationDateTooSoon, 1640),
    (CocoaError.Code.validationInvalidDate, CocoaError.validationInvalidDate, 1650),
    (CocoaError.Code.validationStringTooLong, CocoaError.validationStringTooLong, 1660),
    (CocoaError.Code.validationStringTooShort, CocoaError.validationStringTooShort, 1670),
    (
      CocoaError.Code.validationStringPatternMatching, CocoaError.validationStringPatternMatching,
      1680
    ),
    (CocoaError.Code.validationInvalidURI, CocoaError.validationInvalidURI, 1690),
    (CocoaError.Code.managedObjectContextLocking, CocoaError.managedObjectContextLocking, 132000),
    (
      CocoaError.Code.persistentStoreCoordinatorLocking,
      CocoaError.persistentStoreCoordinatorLocking, 132010
    ),
    (
      CocoaError.Code.managedObjectReferentialIntegrity,
      CocoaError.managedObjectReferentialIntegrity, 133000
    ),
    (
      CocoaError.Code.managedObjectExternalRelationship,
      CocoaError.managedObjectExternalRelationship, 133010
    ),
    (CocoaError.Code.managedObjectMerge, CocoaError.managedObjectMerge, 133020),
    (CocoaError.Code.managedObjectConstraintMerge, CocoaError.managedObjectConstraintMerge, 133021),
    (CocoaError.Code.persistentStoreInvalidType, CocoaError.persistentStoreInvalidType, 134000),
    (CocoaError.Code.persistentStoreTypeMismatch, CocoaError.persistentStoreTypeMismatch, 134010),
    (
      CocoaError.Code.persistentStoreIncompatibleSchema,
      CocoaError.persistentStoreIncompatibleSchema, 134020
    ),
    (CocoaError.Code.persistentStoreSave, CocoaError.persistentStoreSave, 134030),
    (
      CocoaError.Code.persistentStoreIncompleteSave, CocoaError.persistentStoreIncompleteSave,
      134040
    ),
    (CocoaError.Code.persistentStoreSaveConflicts, CocoaError.persistentStoreSaveConflicts, 134050),
    (CocoaError.Code.coreData, CocoaError.coreData, 134060),
    (CocoaError.Code.persistentStoreOperation, CocoaError.persistentStoreOperation, 134070),
    (CocoaError.Code.persistentStoreOpen, CocoaError.persistentStoreOpen, 134080),
    (CocoaError.Code.persistentStoreTimeout, CocoaError.persistentStoreTimeout, 134090),
    (
      CocoaError.Code.persistentStoreUnsupportedRequestType,
      CocoaError.persistentStoreUnsupportedRequestType, 134091
    ),
    (
      CocoaError.Code.persistentStoreIncompatibleVersionHash,
      CocoaError.persistentStoreIncompatibleVersionHash, 134100
    ),
    (CocoaError.Code.migration, CocoaError.migration, 134110),
    (CocoaError.Code.migrationConstraintViolation, CocoaError.migrationConstraintViolation, 134111),
    (CocoaError.Code.migrationCancelled, CocoaError.migrationCancelled, 134120),
    (CocoaError.Code.migrationMissingSourceModel, CocoaError.migrationMissingSourceModel, 134130),
    (CocoaError.Code.migrationMissingMappingModel, CocoaError.migrationMissingMappingModel, 134140),
    (CocoaError.Code.migrationManagerSourceStore, CocoaError.migrationManagerSourceStore, 134150),
    (
      CocoaError.Code.migrationManagerDestinationStore, CocoaError.migrationManagerDestinationStore,
      134160
    ),
    (CocoaError.Code.entityMigrationPolicy, CocoaError.entityMigrationPolicy, 134170),
    (CocoaError.Code.sqlite, CocoaError.sqlite, 134180),
    (CocoaError.Code.inferredMappingModel, CocoaError.inferredMappingModel, 134190),
    (CocoaError.Code.externalRecordImport, CocoaError.externalRecordImport, 134200),
    (
      CocoaError.Code.persistentHistoryTokenExpired, CocoaError.persistentHistoryTokenExpired,
      134301
    ),
  ])
  func codesHaveCoreDatasNumbers(code: CocoaError.Code, same: CocoaError.Code, number: Int) {
    #expect(code.rawValue == number && same == code)
    let error: any Error = NSError(domain: NSCocoaErrorDomain, code: number)
    #expect((error as? CocoaError)?.code == code)
  }

  @Test("A validation error is caught by its code and has an object, a key, and a value")
  func validationErrorsAreCaughtByCode() throws {
    let model = try DrivingModel.make()
    let context = try GraphStack(.memory, model: model).context()
    try context.performAndWait {
      let driver = context.make("Driver", ["age": Int16(151)])
      do {
        try context.save()
        Issue.record("an invalid object was saved")
      } catch CocoaError.validationNumberTooLarge {
      }
      do {
        try context.save()
        Issue.record("an invalid object was saved")
      } catch let error as CocoaError {
        #expect(error.code == .validationNumberTooLarge && error.isValidationError)
        #expect(error.validationObject as? NSManagedObject === driver)
        #expect(error.validationKey == "age" && error.validationValue as? Int16 == 151)
        #expect(error.validationPredicate != nil && error.affectedObjects == nil)
      }
      driver.setValue(Int16(-1), forKey: "age")
      driver.setValue(3.5, forKey: "height")
      #expect(throws: CocoaError.self) { try context.save() }
      do {
        try context.save()
        Issue.record("an invalid object was saved")
      } catch CocoaError.validationMultipleErrors {
      }
    }
  }

  @Test("Errors of stores and of saving are caught by their codes")
  func storeAndSaveErrorsAreCaughtByCode() throws {
    let stack = try TestStack(model: SavingModels.items())
    let first = try stack.coldContext()
    let second = try stack.coldContext()
    try first.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: first)
      try first.save()
    }
    func change(_ context: NSManagedObjectContext, to number: Int32) throws {
      try context.performAndWait {
        let item = try context.everyObject(of: "Item").first
        item?.setValue(number, forKey: "a")
      }
    }
    try change(first, to: 1)
    try change(second, to: 2)
    try first.performAndWait { try first.save() }
    second.performAndWait {
      do {
        try second.save()
        Issue.record("a conflict was saved")
      } catch CocoaError.managedObjectMerge {
        let error = second.saveError().flatMap { $0 as any Error as? CocoaError }
        #expect(error?.persistentStoreSaveConflicts?.count == 1)
      } catch {
        Issue.record(error)
      }
    }
    do {
      try NSPersistentStoreCoordinator(managedObjectModel: DrivingModel.make())
        .addPersistentStore(type: .sqlite, at: stack.storeURL)
      Issue.record("a store of another model was opened")
    } catch CocoaError.persistentStoreIncompatibleVersionHash {
    }
    do {
      try NSPersistentStoreCoordinator(managedObjectModel: DrivingModel.make())
        .addPersistentStore(ofType: "Paper", configurationName: nil, at: nil)
      Issue.record("a store of an unknown type was added")
    } catch CocoaError.persistentStoreInvalidType {
    }
    #expect(
      Notification.Name.NSPersistentStoreCoordinatorStoresWillChange.rawValue
        == "NSPersistentStoreCoordinatorStoresWillChangeNotification")
  }
}
