import CoreDataCosts
import OpenCoreData
import Testing

/// A driver whose class has custom validation.
final class CarefulDriver: NSManagedObject {
  nonisolated(unsafe) static var wraps = false
  nonisolated(unsafe) static var forgetsSuper = false
  nonisolated(unsafe) static var refusesDeletion = false
  nonisolated(unsafe) static var neverSettles = false
  /// How often the name's validator still calls `validateValue`.
  nonisolated(unsafe) static var generalCalls = 0
  nonisolated(unsafe) static var calls: [String] = []

  static func reset() {
    (wraps, forgetsSuper, refusesDeletion, neverSettles) = (false, false, false, false)
    (calls, generalCalls) = ([], 0)
  }

  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    try super.validateValue(&value, forKey: key)
    if key == "longitude" { try validateLongitude(&value) }
    if key == "name", CarefulDriver.neverSettles { value = "\(value ?? "")." }
    if key == "name", CarefulDriver.generalCalls > 0 {
      CarefulDriver.generalCalls -= 1
      CarefulDriver.calls.append("name")
      try validateValue(&value, forKey: key)
    }
  }

  func validateLongitude(_ value: inout Any?) throws {
    guard let degrees = value as? Double else { return }
    guard abs(degrees) > 180 else { return }
    guard CarefulDriver.wraps else { throw failure("longitude", "out of range") }
    value = degrees.truncatingRemainder(dividingBy: 180) - (degrees > 0 ? 180 : -180)
  }

  /// A validator that `validateValue` doesn't call.
  func validateAge(_ value: inout Any?) throws {
    if let age = value as? Int16, age == 13 { throw failure("age", "unlucky") }
  }

  override func validateForInsert() throws {
    CarefulDriver.calls.append("insert")
    if !CarefulDriver.forgetsSuper { try super.validateForInsert() }
    try validateLicence()
  }

  override func validateForUpdate() throws {
    CarefulDriver.calls.append("update")
    if !CarefulDriver.forgetsSuper { try super.validateForUpdate() }
    try validateLicence()
  }

  override func validateForDelete() throws {
    CarefulDriver.calls.append("delete")
    try super.validateForDelete()
    if CarefulDriver.refusesDeletion { throw failure("name", "cannot go") }
  }

  private func validateLicence() throws {
    guard let age = value(forKey: "age") as? Int16, value(forKey: "hasLicence") as? Bool == true
    else { return }
    if age < 16 { throw failure("age", "too young for a license") }
  }

  private func failure(_ key: String, _ words: String) -> NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: NSManagedObjectValidationError,
      userInfo: [
        NSLocalizedDescriptionKey: words, NSValidationKeyErrorKey: key,
        NSValidationObjectErrorKey: self,
      ])
  }
}

@Suite("Validation methods", .serialized)
struct ValidatorTests {
  private func context(_ kind: StoreKind = .sqlite) throws -> NSManagedObjectContext {
    CarefulDriver.reset()
    return try GraphStack(kind, model: DrivingModel.make(driver: CarefulDriver.self)).context()
  }

  @Test(
    "S7.25 S7.15 a validation method rejects or replaces the value",
    arguments: StoreKind.allCases)
  func validationMethodRejectsOrReplacesTheValue(kind: StoreKind) throws {
    let context = try context(kind)
    context.performAndWait {
      let driver = context.make("Driver", ["longitude": 181.0])
      #expect(context.saveError()?.localizedDescription == "out of range")
      CarefulDriver.wraps = true
      CarefulDriver.calls = []
      #expect(context.saveError() == nil)
      #expect(driver.value(forKey: "longitude") as? Double == -179)
      #expect(CarefulDriver.calls == ["insert", "insert"])
      driver.setValue(-190.0, forKey: "longitude")
      #expect(context.saveError() == nil)
      #expect(driver.value(forKey: "longitude") as? Double == 170)
      driver.setValue(nil, forKey: "longitude")
      #expect(context.saveError() == nil && !context.hasChanges)
    }
  }

  @Test("S-F05 a change made while validating takes a second pass; one at every pass is an error")
  func changeWhileValidatingTakesAnotherPassUpTo1000() throws {
    let context = try context()
    context.performAndWait {
      CarefulDriver.wraps = true
      let driver = context.make("Driver", ["longitude": 200.0])
      #expect(context.saveError() == nil)
      #expect(CarefulDriver.calls == ["insert", "insert"])
      CarefulDriver.neverSettles = true
      driver.setValue("a", forKey: "name")
      let cost = costs(of: context) {
        #expect(context.saveError()?.localizedDescription.contains("1000 passes") == true)
      }
      #expect(cost.updates == 0 && context.hasChanges)
    }
  }

  @Test("S7.26 S-F09 a rule over several properties runs per change; without super, no others run")
  func validationOfSeveralPropertiesRunsForEachChange() throws {
    let context = try context()
    context.performAndWait {
      let driver = context.make("Driver", ["age": Int16(12), "hasLicence": true])
      #expect(context.saveError()?.localizedDescription == "too young for a license")
      driver.setValue(Int16(200), forKey: "age")
      #expect(context.saveError()?.code == NSValidationNumberTooLargeError)
      CarefulDriver.forgetsSuper = true
      #expect(context.saveError() == nil)
      CarefulDriver.forgetsSuper = false
      driver.setValue(Int16(20), forKey: "age")
      #expect(context.saveError() == nil)
      context.delete(driver)
      #expect(context.saveError() == nil)
      #expect(CarefulDriver.calls == ["insert", "insert", "insert", "update", "delete"])
    }
  }

  @Test("S-F06 interproperty validation rejects only an invalid combination")
  func interpropertyValidationFailsOnlyForAnInvalidCombination() throws {
    let context = try context()
    context.performAndWait {
      let driver = context.make("Driver", ["age": Int16(12), "hasLicence": true])
      #expect(context.saveError()?.code == NSManagedObjectValidationError)
      driver.setValue(nil, forKey: "age")
      #expect(context.saveError() == nil)
      driver.setValue(Int16(16), forKey: "age")
      #expect(context.saveError() == nil)
    }
  }

  @Test("S-F03 a validator called directly skips the model's rules; validateValue applies them")
  func validatorCalledDirectlySkipsTheModelsRules() throws {
    let context = try context()
    context.performAndWait {
      let driver = context.make("Driver") as? CarefulDriver
      var value: Any? = Int16(200)
      #expect(throws: Never.self) { try driver?.validateAge(&value) }
      #expect(throws: NSError.self) { try driver?.validateValue(&value, forKey: "age") }
    }
  }

  @Test(
    "S-F04 validateValue called inside a validator calls that validator again")
  func validateValueInsideAValidatorCallsThatValidatorAgain() throws {
    let context = try context()
    context.performAndWait {
      let driver = context.make("Driver", ["name": "a"])
      CarefulDriver.generalCalls = 7
      let cost = costs(of: context) {
        var value: Any? = "a"
        #expect(throws: Never.self) { try driver.validateValue(&value, forKey: "name") }
      }
      // Only the class ended the recursion.
      #expect(CarefulDriver.calls == Array(repeating: "name", count: 7))
      #expect(cost.selects == 0 && cost.faults == 0)
    }
  }

  @Test("S-F10 a deletion that fails validation fails the save and deletes nothing")
  func failedDeleteValidationDeletesNothing() throws {
    let context = try context()
    try context.performAndWait {
      let driver = context.make("Driver")
      try context.save()
      CarefulDriver.refusesDeletion = true
      context.delete(driver)
      let cost = costs(of: context) {
        #expect(context.saveError()?.localizedDescription == "cannot go")
      }
      #expect(cost.deletes == 0 && context.deletedObjects == [driver])
      context.rollback()
      #expect(try context.all("Driver") == [driver])
    }
  }
}
