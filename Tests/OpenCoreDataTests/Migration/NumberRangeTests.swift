import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Numbers that a mapping model converts")
struct NumberRangeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let from: NSAttributeType
    let number: Double
    let to: NSAttributeType
    /// The error's code; `nil` if the number is converted.
    let code: Int?

    var testDescription: String { "\(number) of type \(from.rawValue) to \(to.rawValue)" }

    init(_ from: NSAttributeType, _ number: Double, _ to: NSAttributeType, _ code: Int?) {
      (self.from, self.number, self.to, self.code) = (from, number, to, code)
    }
  }

  private static let cases = [
    Case(.integer64AttributeType, 70_000, .integer16AttributeType, NSValidationNumberTooLargeError),
    Case(.integer64AttributeType, -3e9, .integer32AttributeType, NSValidationNumberTooSmallError),
    Case(.doubleAttributeType, 70_000, .integer16AttributeType, NSValidationNumberTooLargeError),
    Case(.doubleAttributeType, 1e300, .integer64AttributeType, NSMigrationError),
    Case(.doubleAttributeType, 1e300, .floatAttributeType, NSMigrationError),
    Case(.doubleAttributeType, 1e300, .decimalAttributeType, NSMigrationError),
    Case(.doubleAttributeType, .infinity, .floatAttributeType, nil),
    Case(.doubleAttributeType, 1e30, .floatAttributeType, nil),
    Case(.doubleAttributeType, 7, .integer16AttributeType, nil),
    Case(.integer64AttributeType, 7, .decimalAttributeType, nil),
  ]

  private static func model(_ type: NSAttributeType) -> NSManagedObjectModel {
    let entity = NSEntityDescription()
    entity.name = "Item"
    entity.properties = [LightweightMigrationTests.attribute("number", type)]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  private static func mapping(
    _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel
  ) -> NSMappingModel {
    let (entity, property) = (NSEntityMapping(), NSPropertyMapping())
    property.name = "number"
    property.valueExpression = NSExpression(format: "$source.number")
    (entity.name, entity.mappingType) = ("ItemToItem", .transformEntityMappingType)
    (entity.sourceEntityName, entity.destinationEntityName) = ("Item", "Item")
    entity.sourceEntityVersionHash = source.entitiesByName["Item"]?.versionHash
    entity.destinationEntityVersionHash = destination.entitiesByName["Item"]?.versionHash
    entity.attributeMappings = [property]
    let mapping = NSMappingModel()
    mapping.entityMappings = [entity]
    return mapping
  }

  @Test(
    "A number that the new type can't represent is an error",
    arguments: cases, [NSPersistentStore.StoreType.sqlite, .xml, .binary])
  func numbersMustFit(_ tested: Case, type: NSPersistentStore.StoreType) throws {
    let store = try MigratedStore()
    let (source, destination) = (Self.model(tested.from), Self.model(tested.to))
    let number: Any =
      tested.from == .doubleAttributeType ? tested.number : Int64(tested.number)
    try Self.insert(number, into: store.url, type, source)
    let target = store.url.appendingPathExtension("new")
    let error = thrownError {
      try NSMigrationManager(sourceModel: source, destinationModel: destination).migrateStore(
        from: store.url, type: type, mapping: Self.mapping(source, destination), to: target,
        type: type)
    }
    #expect(error?.code == tested.code)
    if tested.code == NSMigrationError {
      #expect(error?.localizedDescription.contains("Item.number") == true)
    }
    guard tested.code == nil else { return }
    #expect(try Self.number(in: target, type, destination) == tested.number)
  }

  @Test("A number of any type that isn't 0 becomes true, which is stored as 1")
  func numbersBecomeBooleans() throws {
    let cases: [(NSAttributeType, Any, Int64)] = [
      (.integer64AttributeType, Int64(5), 1), (.integer64AttributeType, Int64(0), 0),
      (.doubleAttributeType, 0.5, 1), (.doubleAttributeType, 1e300, 1),
      (.doubleAttributeType, -0.0, 0), (.floatAttributeType, Float(-0.25), 1),
      (.decimalAttributeType, Decimal(sign: .plus, exponent: -3, significand: 1), 1),
      (.decimalAttributeType, Decimal(0), 0),
    ]
    for (type, number, expected) in cases {
      let store = try MigratedStore()
      let (source, destination) = (Self.model(type), Self.model(.booleanAttributeType))
      try Self.insert(number, into: store.url, .sqlite, source)
      let target = store.url.appendingPathExtension("new")
      try NSMigrationManager(sourceModel: source, destinationModel: destination).migrateStore(
        from: store.url, type: .sqlite, mapping: Self.mapping(source, destination), to: target,
        type: .sqlite)
      let connection = try Connection(path: target.path, access: .inspecting)
      defer { connection.close() }
      let stored = try connection.values("SELECT typeof(ZNUMBER), ZNUMBER FROM ZITEM")
      #expect(stored == [[.text("integer"), .integer(expected)]], "\(number)")
    }
  }

  @Test("An inferred migration of a document doesn't make a number infinite")
  func inferredNumbersOfDocumentsMustFit() throws {
    let store = try MigratedStore()
    let (source, destination) = (
      Self.model(.doubleAttributeType), Self.model(.floatAttributeType)
    )
    try Self.insert(1e300, into: store.url, .xml, source)
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: source, destinationModel: destination)
    let error = thrownError {
      try NSMigrationManager(sourceModel: source, destinationModel: destination).migrateStore(
        from: store.url, type: .xml, mapping: mapping,
        to: store.url.appendingPathExtension("new"), type: .xml)
    }
    #expect(error?.code == NSMigrationError)
  }

  private static func insert(
    _ number: Any, into url: URL, _ type: NSPersistentStore.StoreType,
    _ model: NSManagedObjectModel
  ) throws {
    let context = try context(url, type, model)
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
        .setValue(number, forKey: "number")
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  private static func number(
    in url: URL, _ type: NSPersistentStore.StoreType, _ model: NSManagedObjectModel
  ) throws -> Double? {
    let context = try context(url, type, model)
    return try context.performAndWait {
      let item = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first
      // As text, so that a float is compared by its shortest form.
      return item?.value(forKey: "number").flatMap { Double("\($0)") }
    }
  }

  private static func context(
    _ url: URL, _ type: NSPersistentStore.StoreType, _ model: NSManagedObjectModel
  ) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: type, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }
}
