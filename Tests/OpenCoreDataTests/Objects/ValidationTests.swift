import CoreDataCosts
import ManagedModel
import OpenCoreData
import Testing

@Suite("Validation")
struct ValidationTests {
  private typealias Broken = (key: String, value: any Sendable, code: Int)

  @Test(
    "S-F01 S7.24 each limit of the model is one error with object, key and value",
    arguments: StoreKind.allCases)
  func eachLimitFailsWithItsCodeObjectKeyAndValue(kind: StoreKind) throws {
    let context = try GraphStack(kind, model: DrivingModel.make()).context()
    func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
    let broken: [Broken] = [
      ("age", Int16(-1), NSValidationNumberTooSmallError),
      ("age", Int16(151), NSValidationNumberTooLargeError),
      ("height", 0.4, NSValidationNumberTooSmallError),
      ("height", 2.6, NSValidationNumberTooLargeError),
      ("born", date(-1), NSValidationDateTooSoonError),
      ("born", date(1001), NSValidationDateTooLateError),
      ("plate", "A", NSValidationStringTooShortError),
      ("plate", "ABCDE", NSValidationStringTooLongError),
      ("plate", "a1", NSValidationStringPatternMatchingError),
    ]
    try context.performAndWait {
      let driver = context.make("Driver")
      for (key, value, code) in broken {
        driver.setValue(value, forKey: key)
        let cost = costs(of: context) {
          let error = context.saveError()
          #expect(error?.domain == NSCocoaErrorDomain && error?.code == code, "\(key) \(value)")
          #expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === driver)
          #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == key)
          #expect(error?.userInfo[NSValidationPredicateErrorKey] is NSPredicate)
          #expect(
            error?.userInfo[NSValidationValueErrorKey] as? AnyHashable == value as? AnyHashable)
        }
        #expect(cost.inserts == 0 && cost.transactions == 0)
        driver.setValue(nil, forKey: key)
      }
      let good: [String: Any] = [
        "age": Int16(150), "height": 0.5, "born": date(1000), "plate": "AB12",
      ]
      driver.setValuesForKeys(good)
      try context.save()
      #expect(driver.dictionaryWithValues(forKeys: ["plate", "age"])["age"] as? Int16 == 150)
    }
  }

  @Test(
    "S-F01 bounds apply to numbers of every type and are inclusive",
    arguments: StoreKind.allCases)
  func boundsAreInclusiveForNumbersOfEveryType(kind: StoreKind) throws {
    // Below the minimum, the minimum, the maximum, above the maximum.
    let values: [NSAttributeType: [any Sendable]] = [
      .integer16AttributeType: [-4, -3, 7, 8].map { Int16($0) },
      .integer32AttributeType: [-4, -3, 7, 8].map { Int32($0) },
      .integer64AttributeType: [-4, -3, 7, 8].map { Int64($0) },
      .doubleAttributeType: [-3.001, -3, 7, 7.001],
      .floatAttributeType: [-3.5, -3, 7, 7.5].map { Float($0) },
      .decimalAttributeType: ["-3.0001", "-3", "7", "7.0001"].compactMap { Decimal(string: $0) },
    ]
    let entity = NSEntityDescription()
    entity.name = "Thing"
    entity.properties = values.keys.map { type in
      let attribute = TestModels.attribute("a\(type.rawValue)", type)
      attribute.valueRule = ValueRule(minimum: "-3", maximum: "7")
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let context = try GraphStack(kind, model: model).context()
    context.performAndWait {
      let thing = context.make("Thing")
      let codes = [
        NSValidationNumberTooSmallError, nil, nil, NSValidationNumberTooLargeError,
      ]
      for (type, values) in values {
        #expect(values.count == codes.count)
        for (value, code) in zip(values, codes) {
          thing.setValue(value, forKey: "a\(type.rawValue)")
          #expect(context.saveError()?.code == code, "\(type) \(value)")
        }
        thing.setValue(nil, forKey: "a\(type.rawValue)")
      }
    }
  }

  @Test("A pattern that remains from an earlier type of an attribute doesn't reject its values")
  func patternsApplyToStringsOnly() throws {
    let document = """
      <model><entity name="Thing">
      <attribute name="text" optional="YES" attributeType="String" \
      regularExpressionString="[a-z]+"/>
      <attribute name="number" optional="YES" attributeType="Integer 16" \
      regularExpressionString="[a-z]+"/>
      <attribute name="date" optional="YES" attributeType="Date" \
      regularExpressionString="[a-z]+"/>
      </entity></model>
      """
    let model = try ModelDocument.read(data: Data(document.utf8), file: "Thing")
    let context = try GraphStack(.sqlite, model: model).context()
    context.performAndWait {
      let thing = context.make("Thing", ["number": 3, "date": Date(), "text": "a"])
      #expect(context.saveError() == nil)
      thing.setValue("A", forKey: "text")
      #expect(context.saveError()?.code == NSValidationStringPatternMatchingError)
    }
  }

  @Test("An integer too large for its type fails validation and isn't truncated")
  func integerTooLargeForItsTypeFailsValidation() throws {
    let context = try GraphStack(.sqlite, model: DrivingModel.make()).context()
    context.performAndWait {
      let driver = context.make("Driver", ["narrow": 70_000, "serial": Int64(1) << 40])
      #expect(driver.value(forKey: "narrow") as? Int64 == 70_000)
      #expect(
        context.saveError()?.codes
          == [NSValidationNumberTooLargeError, NSValidationNumberTooLargeError])
      driver.setValue(-40_000, forKey: "narrow")
      driver.setValue(7, forKey: "serial")
      #expect(context.saveError()?.code == NSValidationNumberTooSmallError)
      driver.setValue(-32_768, forKey: "narrow")
      #expect(context.saveError() == nil && driver.value(forKey: "narrow") as? Int16 == .min)
    }
  }

  @Test("A number beyond 64 bits fails the validation of an integer; a fraction is cut off")
  func numberBeyond64BitsFailsValidation() throws {
    let entity = NSEntityDescription()
    entity.name = "Thing"
    let types: [(String, NSAttributeType)] = [
      ("narrow", .integer16AttributeType), ("wide", .integer64AttributeType),
    ]
    entity.properties = types.map { TestModels.attribute($0.0, $0.1) }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let context = try GraphStack(.sqlite, model: model).context()
    try context.performAndWait {
      let thing = context.make("Thing")
      let large = NSValidationNumberTooLargeError
      let numbers: [(NSNumber, Int?)] = [
        (NSNumber(value: 1e300), large), (NSNumber(value: UInt64.max), large),
        (NSDecimalNumber(string: "9223372036854775808"), large),
        (NSNumber(value: -1e300), NSValidationNumberTooSmallError), (NSNumber(value: 7.9), nil),
      ]
      for (number, code) in numbers {
        for (key, _) in types {
          var value: Any? = number
          let error = thrownError { try thing.validateValue(&value, forKey: key) }
          #expect(error?.code == code, "\(key) \(number)")
        }
      }
      thing.setValue(NSNumber(value: -7.9), forKey: "wide")
      #expect(thing.value(forKey: "wide") as? Int64 == -7)
      thing.setValue(NSDecimalNumber(string: "9223372036854775807.5"), forKey: "wide")
      #expect(thing.value(forKey: "wide") as? Int64 == .max)
      try context.save()
    }
  }

  @Test("S-B04 a required nil fails before any SQL", arguments: StoreKind.allCases)
  func missingRequiredValueFailsBeforeAnySQL(kind: StoreKind) throws {
    let context = try GraphStack(kind, model: DrivingModel.make()).context()
    context.performAndWait {
      let car = context.make("Car")
      let cost = costs(of: context) {
        #expect(context.saveError()?.code == NSValidationMissingMandatoryPropertyError)
      }
      #expect(cost.inserts == 0 && cost.selects == 0 && cost.transactions == 0)
      #expect(car.objectID.isTemporaryID && context.insertedObjects == [car])
    }
  }

  @Test("A fault is validated with its row's values")
  func faultsAreValidated() throws {
    let context = try GraphStack(.sqlite, model: DrivingModel.make()).context()
    try context.performAndWait {
      let car = context.make("Car", ["name": "a"])
      try context.save()
      context.refresh(car, mergeChanges: false)
      #expect(car.isFault)
      try car.validateForUpdate()
      #expect(!car.isFault)
    }
  }

  @Test("S-F11 S5.12 nil passes the bounds of an optional, and fails where a value is required")
  func nilFailsOnlyIfAValueIsRequired() throws {
    let context = try GraphStack(.sqlite, model: DrivingModel.make()).context()
    context.performAndWait {
      let driver = context.make(
        "Driver", ["age": NSNull(), "height": NSNull(), "born": NSNull(), "plate": NSNull()])
      #expect(context.saveError() == nil)
      driver.setValue(nil, forKey: "hasLicence")
      let cost = costs(of: context) {
        #expect(context.saveError()?.code == NSValidationMissingMandatoryPropertyError)
      }
      #expect(cost.updates == 0)
    }
  }

  @Test("S-F02 values are validated only by a call or a save")
  func valuesAreValidatedOnlyByACallOrASave() throws {
    let context = try GraphStack(.sqlite, model: DrivingModel.make()).context()
    try context.performAndWait {
      let driver = context.make("Driver", ["age": Int16(200)])
      context.processPendingChanges()
      var value: Any? = Int16(200)
      #expect(throws: NSError.self) { try driver.validateValue(&value, forKey: "age") }
      #expect(throws: NSError.self) { try driver.validateForInsert() }
      #expect(context.saveError()?.code == NSValidationNumberTooLargeError)
      value = Int16(20)
      try driver.validateValue(&value, forKey: "age")
      #expect(driver.value(forKey: "age") as? Int16 == 200)
    }
  }

  @Test(
    "S-E14 a to-many's count must be within its bounds, or 0 if it's optional",
    arguments: StoreKind.allCases)
  func toManyCountIsWithinItsBoundsOrZeroIfOptional(kind: StoreKind) throws {
    let context = try GraphStack(kind, model: DrivingModel.make()).context()
    try context.performAndWait {
      let driver = context.make("Driver")
      let garage = context.make("Garage", ["keeper": driver])
      let cars = (0..<41).map { context.make("Car", ["name": "\($0)"]) }
      func codes(_ object: NSManagedObject, _ count: Int) -> [Int] {
        object.setValue(Array(cars.prefix(count)), forKey: "cars")
        do {
          try object.validateForInsert()
          return []
        } catch {
          return (error as NSError).codes
        }
      }
      let (few, many) = (
        NSValidationRelationshipLacksMinimumCountError,
        NSValidationRelationshipExceedsMaximumCountError
      )
      #expect([0, 2, 3, 40, 41].map { codes(driver, $0) } == [[], [few], [], [], [many]])
      #expect([0, 2, 3, 40, 41].map { codes(garage, $0) } == [[few], [few], [], [], [many]])
      driver.setValue([], forKey: "cars")
      garage.setValue(cars, forKey: "cars")
      #expect(context.saveError()?.code == many)
      garage.setValue(Array(cars.prefix(1)), forKey: "cars")
      let one = context.saveError()?.localizedDescription
      #expect(one == "cars has 1 object, but needs at least 3.")
      garage.setValue(Array(cars.prefix(3)), forKey: "cars")
      try context.save()
    }
  }

  @Test("The objects of a mutable set, an ordered set, and an array are counted by validation")
  func collectionsOfEveryKindAreCounted() throws {
    let context = try GraphStack(.sqlite, model: DrivingModel.make()).context()
    context.performAndWait {
      let garage = context.make("Garage")
      let cars = (0..<3).map { context.make("Car", ["name": "\($0)"]) }
      let proxy = garage.mutableSetValue(forKey: "cars")
      func code(_ collection: Any?) -> Int? {
        var value = collection
        do {
          try garage.validateValue(&value, forKey: "cars")
          return nil
        } catch {
          return (error as NSError).code
        }
      }
      let few = NSValidationRelationshipLacksMinimumCountError
      #expect(code(proxy) == few && code(NSSet(array: Array(cars.prefix(2)))) == few)
      #expect(code(Array(cars.prefix(2))) == few && code(nil) == few && code(NSNull()) == few)
      for car in cars { proxy.add(car) }
      let collections: [Any] = [
        proxy, NSSet(array: cars), NSOrderedSet(array: cars), cars, Set(cars),
      ]
      for collection in collections {
        #expect(code(collection) == nil, "\(type(of: collection))")
      }
    }
  }

  @Test("S-E15 a missing required relationship fails validation")
  func missingRequiredRelationshipFailsValidation() throws {
    let context = try GraphStack(.sqlite, model: DrivingModel.make()).context()
    try context.performAndWait {
      let garage = context.make("Garage")
      #expect(context.insertedObjects == [garage] && garage.value(forKey: "keeper") == nil)
      #expect(
        context.saveError()?.codes
          == [
            NSValidationMissingMandatoryPropertyError,
            NSValidationRelationshipLacksMinimumCountError,
          ])
      let drivers = try context.all("Driver")
      #expect(drivers.isEmpty)
    }
  }

  @Test("S-F07 S7.27 one failure is returned as it is; several, of any objects, are one flat list")
  func oneFailureIsReturnedAsIsAndSeveralAsOneFlatList() throws {
    let context = try GraphStack(.sqlite, model: DrivingModel.make()).context()
    context.performAndWait {
      let driver = context.make("Driver", ["age": Int16(-1)])
      #expect(context.saveError()?.code == NSValidationNumberTooSmallError)
      driver.setValue(9.0, forKey: "height")
      let two = context.saveError()
      #expect(two?.code == NSValidationMultipleErrorsError)
      #expect((two?.userInfo[NSDetailedErrorsKey] as? [NSError])?.count == 2)
      driver.setValue("abcdef", forKey: "plate")
      _ = context.make("Driver", ["age": Int16(-2)])
      #expect(
        context.saveError()?.codes == [
          NSValidationNumberTooLargeError, NSValidationNumberTooSmallError,
          NSValidationNumberTooSmallError, NSValidationStringTooLongError,
          NSValidationStringPatternMatchingError,
        ])
    }
  }

  @Test("S-F08 an error's user info has object, key, value, description, and reason")
  func validationErrorContainsObjectKeyValueAndReason() throws {
    let context = try GraphStack(.sqlite, model: DrivingModel.make()).context()
    context.performAndWait {
      let driver = context.make("Driver", ["age": Int16(200)])
      let info = context.saveError()?.userInfo ?? [:]
      #expect(info[NSValidationObjectErrorKey] as? NSManagedObject === driver)
      #expect(info[NSValidationKeyErrorKey] as? String == "age")
      #expect(info[NSValidationValueErrorKey] as? Int16 == 200)
      #expect((info[NSLocalizedDescriptionKey] as? String)?.contains("age is 200") == true)
      #expect((info[NSLocalizedFailureReasonErrorKey] as? String)?.contains("Driver") == true)
    }
  }

  @Test("Predicates set in code have their own warnings or codes")
  func predicatesSetInCodeHaveTheirOwnWarningsOrCodes() throws {
    let model = try DrivingModel.make()
    let attribute = try #require(model.entitiesByName["Driver"]?.attributesByName["serial"])
    attribute.setValidationPredicates(
      [NSPredicate(format: "SELF > 5"), NSPredicate(format: "SELF != 7")],
      withValidationWarnings: ["too early", NSManagedObjectValidationError])
    let context = try GraphStack(.sqlite, model: model).context()
    context.performAndWait {
      let driver = context.make("Driver", ["serial": 3])
      let error = context.saveError()
      #expect(error?.localizedDescription == "too early")
      #expect(error?.code == NSManagedObjectValidationError)
      driver.setValue(7, forKey: "serial")
      #expect(context.saveError()?.code == NSManagedObjectValidationError)
      driver.setValue(8, forKey: "serial")
      #expect(context.saveError() == nil)
    }
  }

  @Test("A limit's code is its warning if that's a number, and 1550 if it's a string")
  func limitCodeIsItsNumericWarningOr1550() throws {
    let model = try DrivingModel.make()
    let age = try #require(model.entitiesByName["Driver"]?.attributesByName["age"])
    age.setValidationPredicates(
      ["SELF > 0", "SELF < 100", "SELF != 13"].map { NSPredicate(format: $0) },
      withValidationWarnings: ["too young", NSNumber(value: 1610), "unlucky"])
    let context = try GraphStack(.sqlite, model: model).context()
    context.performAndWait {
      let driver = context.make("Driver", ["age": Int16(-1)])
      let error = context.saveError()
      #expect(error?.code == NSManagedObjectValidationError)
      #expect(error?.localizedDescription.contains("too young") == true)
      driver.setValue(Int16(100), forKey: "age")
      #expect(context.saveError()?.code == NSValidationNumberTooLargeError)
      driver.setValue(Int16(13), forKey: "age")
      #expect(context.saveError()?.code == NSManagedObjectValidationError)
    }
  }

  @Test(
    "Transient attributes are validated: required ones, bounds, lengths, and patterns",
    arguments: StoreKind.allCases)
  func transientAttributesAreValidated(kind: StoreKind) throws {
    let model = try DrivingModel.make()
    let driver = try #require(model.entitiesByName["Driver"])
    for name in ["age", "plate", "serial", "hasLicence"] {
      driver.attributesByName[name]?.isTransient = true
    }
    driver.attributesByName["note"]?.isOptional = false
    let context = try GraphStack(kind, model: model).context()
    try context.performAndWait {
      // The default value of `hasLicence` is valid.
      let driver = context.make("Driver")
      let missing = context.saveError()
      #expect(missing?.code == NSValidationMissingMandatoryPropertyError)
      #expect(missing?.userInfo[NSValidationKeyErrorKey] as? String == "note")
      driver.setValue("n", forKey: "note")
      let broken: [Broken] = [
        ("age", Int16(-1), NSValidationNumberTooSmallError),
        ("age", Int16(151), NSValidationNumberTooLargeError),
        ("serial", Int64(1) << 40, NSValidationNumberTooLargeError),
        ("plate", "A", NSValidationStringTooShortError),
        ("plate", "ABCDE", NSValidationStringTooLongError),
        ("plate", "a1", NSValidationStringPatternMatchingError),
      ]
      for (key, value, code) in broken {
        driver.setValue(value, forKey: key)
        #expect(context.saveError()?.code == code, "\(key) \(value)")
        driver.setValue(nil, forKey: key)
      }
      try context.save()
      driver.setValue(nil, forKey: "note")
      #expect(context.saveError()?.code == NSValidationMissingMandatoryPropertyError)
    }
  }

  @Test("A required derived attribute needs a value only when its object is inserted", .ofOwnStores)
  func requiredDerivedAttributeNeedsAValueOnlyAtInsertion() throws {
    let entity = NSEntityDescription()
    entity.name = "Book"
    let title = NSAttributeDescription()
    (title.name, title.attributeType, title.isOptional) = ("title", .stringAttributeType, true)
    let upper = NSDerivedAttributeDescription()
    (upper.name, upper.attributeType, upper.isOptional) = ("upper", .stringAttributeType, false)
    upper.derivationExpression = NSExpression(format: "uppercase:(title)")
    entity.properties = [title, upper]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let context = try GraphStack(.sqlite, model: model).context()
    try context.performAndWait {
      let book = context.make("Book", ["title": "a"])
      let error = context.saveError()
      #expect(error?.code == NSValidationMissingMandatoryPropertyError)
      #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "upper")
      book.setValue("", forKey: "upper")
      try context.save()
      book.setValue("b", forKey: "title")
      book.setValue(nil, forKey: "upper")
      try context.save()
    }
  }
}
