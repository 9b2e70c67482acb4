import ManagedModel
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Migration of the elements of composite attributes")
struct CompositeMigrationTests {
  private static func element(
    _ name: String, _ type: NSAttributeType, renaming former: String? = nil
  ) -> NSAttributeDescription {
    LightweightMigrationTests.attribute(name, type, renaming: former)
  }

  private static func composite(
    _ name: String, _ elements: [NSAttributeDescription], renaming former: String? = nil
  ) -> NSCompositeAttributeDescription {
    let composite = NSCompositeAttributeDescription()
    (composite.name, composite.isOptional, composite.elements) = (name, true, elements)
    if let former { composite.renamingIdentifier = former }
    return composite
  }

  /// A model of items with a composite attribute.
  private static func model(_ elements: [NSAttributeDescription]) -> NSManagedObjectModel {
    let item = NSEntityDescription()
    item.name = "Item"
    item.properties = [composite("spot", elements)]
    let model = NSManagedObjectModel()
    model.entities = [item]
    return model
  }

  private static func former(_ type: NSAttributeType = .integer32AttributeType)
    -> NSManagedObjectModel
  {
    model([element("x", type), composite("inner", [element("y", .stringAttributeType)])])
  }

  /// A store with one item, whose elements are 100,000 and "why".
  private static func store() throws -> MigratedStore {
    let store = try MigratedStore()
    let context = try store.open(former())
    try context.performAndWait {
      let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      item.setValue(["x": 100_000, "inner": ["y": "why"]] as [String: Any], forKey: "spot")
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    return store
  }

  @Test("Renamed and nested elements keep their values, and numbers are converted")
  func elementsAreRenamed() throws {
    let store = try Self.store()
    let next = Self.model([
      Self.element("left", .doubleAttributeType, renaming: "x"),
      Self.composite(
        "core", [Self.element("text", .stringAttributeType, renaming: "y")], renaming: "inner"),
      Self.element("more", .stringAttributeType),
    ])
    let details = ModelComparison(from: Self.former(), to: next).differences.map(\.detail)
    #expect(
      details == [
        "element left renamed from x", "type of element left from Integer 32 to Double",
        "element core renamed from inner", "element core.text renamed from y",
        "element more added",
      ])
    let context = try store.open(next)
    try context.performAndWait {
      let item = try #require(
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first)
      let spot = try #require(item.value(forKey: "spot") as? [String: Any])
      #expect(spot["left"] as? Double == 100_000)
      #expect((spot["core"] as? [String: Any])?["text"] as? String == "why")
      #expect(spot["more"] == nil)
    }
  }

  @Test("A number that an element's narrower type can't represent is an error")
  func narrowedElementsMustFit() throws {
    let store = try Self.store()
    let error = try #require(
      thrownError { try store.migrate(to: Self.former(.integer16AttributeType)) })
    #expect(error.code == NSMigrationError)
    let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
    #expect(cause.userInfo["property"] as? String == "spot.x")
    #expect(try store.values("SELECT ZSPOT_X FROM ZITEM") == [[.integer(100_000)]])
  }

  // MARK: Required composites

  /// A store with two items, of which the first has a number and the second has the given elements.
  private static func store(_ elements: [String: Any]?) throws -> MigratedStore {
    let store = try MigratedStore()
    let context = try store.open(former())
    try context.performAndWait {
      for elements in [["x": 1], elements] as [[String: Any]?] {
        NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
          .setValue(elements, forKey: "spot")
      }
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    return store
  }

  /// A version in which the composite attribute is required.
  private static func required(_ elements: [NSAttributeDescription]) -> NSManagedObjectModel {
    let version = model(elements)
    version.entitiesByName["Item"]?.attributesByName["spot"]?.isOptional = false
    return version
  }

  /// Expects that one object has no value of an attribute, and that the store is unchanged.
  private func expectMissing(
    _ name: String, in version: NSManagedObjectModel, _ store: MigratedStore
  ) throws {
    let bytes = try Data(contentsOf: store.url)
    let error = thrownError { try store.migrate(to: version) }
    #expect(error?.code == NSMigrationError)
    let reason = "no value for the required attribute Item.\(name)"
    #expect(error?.localizedDescription.contains(reason) == true, "\(String(describing: error))")
    #expect(try Data(contentsOf: store.url) == bytes)
  }

  @Test("A composite attribute that's required now has a value of one element, however nested")
  func requiredCompositesHaveAValue() throws {
    let inner = { Self.composite("inner", [Self.element("y", .stringAttributeType)]) }
    let whole = { Self.required([Self.element("x", .integer32AttributeType), inner()]) }
    try expectMissing("spot", in: whole(), Self.store(nil))
    try Self.store(["inner": ["y": "why"]]).migrate(to: whole())
    // Nothing remains of a value whose elements are removed, also of one that was required before.
    let nested = try Self.store(["inner": ["y": "why"]])
    try expectMissing("spot", in: Self.required([inner()]), nested)
    try nested.migrate(to: whole())
    try expectMissing("spot", in: Self.required([inner()]), nested)
  }

  @Test("A required composite attribute can be added if an element has a default value")
  func addedCompositesNeedADefault() throws {
    func version(_ value: String?) -> NSManagedObjectModel {
      let city = LightweightMigrationTests.attribute("city", .stringAttributeType, default: value)
      let home = Self.composite("home", [Self.composite("place", [city])])
      home.isOptional = false
      let version = Self.former()
      version.entitiesByName["Item"]?.properties.append(home)
      return version
    }
    let store = try Self.store(nil)
    try expectMissing("home", in: version(nil), store)
    try store.migrate(to: version("Bonn"))
    #expect(
      try store.values("SELECT DISTINCT ZHOME_PLACE_CITY FROM ZITEM") == [[.text("Bonn")]])
  }

  @Test(
    "Default values of elements are set where a composite attribute has no value, and only there",
    arguments: [NSPersistentStore.StoreType.sqlite, .xml])
  func defaultsFillMissingComposites(type: NSPersistentStore.StoreType) throws {
    func version() -> NSManagedObjectModel {
      let y = LightweightMigrationTests.attribute("y", .stringAttributeType, default: "yes")
      return Self.required([
        Self.element("x", .integer32AttributeType), Self.composite("inner", [y]),
      ])
    }
    let filled = try Self.copy(nil, to: version(), type)
    #expect(filled["x"] == nil)
    #expect((filled["inner"] as? [String: Any])?["y"] as? String == "yes")
    let kept = try Self.copy(["x": 7], to: version(), type)
    #expect(kept["x"] as? Int == 7 && kept["inner"] == nil)
    guard type == .sqlite else { return }
    let store = try Self.store(nil)
    try store.migrate(to: version())
    #expect(
      try store.values("SELECT ZSPOT_X, ZSPOT_INNER_Y FROM ZITEM ORDER BY ZSPOT_X")
        == [[.null, .text("yes")], [.integer(1), .null]])
    #expect(
      ModelComparison(from: Self.former(), to: version()).differences.contains {
        $0.reason == "Rows without a value get the default value."
      })
  }

  @Test("The type of a nested element that can't be converted is refused")
  func nestedTypesAreCompared() {
    let next = Self.model([
      Self.element("x", .integer32AttributeType),
      Self.composite("inner", [Self.element("y", .dateAttributeType)]),
    ])
    let obstacles = InferredMapping(from: Self.former(), to: next).obstacles
    #expect(obstacles.map(\.path) == ["Item.spot"])
    #expect(obstacles.map(\.detail) == ["type of element inner.y from String to Date"])
    #expect(
      obstacles.map(\.leastChange) == [
        "Leave the element as it was, and add one with another name."
      ])
  }

  @Test("External storage, optionality, and the hash modifier of an element are compared")
  func elementsAreComparedLikeAttributes() {
    func model(
      isExternal: Bool = false, isOptional: Bool = true, modifier: String? = nil
    ) -> NSManagedObjectModel {
      let photo = Self.element("photo", .binaryDataAttributeType)
      photo.allowsExternalBinaryDataStorage = isExternal
      photo.isOptional = isOptional
      photo.versionHashModifier = modifier
      return Self.model([Self.composite("inner", [photo])])
    }
    let off = InferredMapping(from: model(isExternal: true), to: model()).obstacles
    #expect(off.map(\.path) == ["Item.spot"])
    #expect(off.map(\.detail) == ["external storage of element inner.photo off"])
    #expect(off.map(\.leastChange) == ["Leave external storage of the element on."])
    for (version, detail, reason) in [
      (
        model(isExternal: true), "external storage of element inner.photo on",
        "The values stay in their rows, each with a byte that states this."
      ),
      (
        model(isOptional: false), "element inner.photo required now",
        "It is checked when an object is saved."
      ),
      (
        model(modifier: "2"), "hash modifier of element inner.photo from none to 2",
        "It causes stores to be migrated."
      ),
    ] {
      let comparison = ModelComparison(from: model(), to: version)
      #expect(comparison.differences.map(\.detail) == [detail])
      #expect(comparison.differences.map(\.reason) == [reason])
      #expect(comparison.effect == .lightweight)
    }
  }

  /// Migrates an item by copy, with an inferred mapping model.
  ///
  /// - Parameter elements: The elements of the item.
  /// - Returns: The elements of the copy.
  private static func copy(
    _ elements: [String: Any]? = ["x": 100_000, "inner": ["y": "why"]],
    to next: NSManagedObjectModel, _ type: NSPersistentStore.StoreType
  ) throws -> [String: Any] {
    let folder = try ProcessFolder.makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (url, new) = (folder.appendingPathComponent("Old"), folder.appendingPathComponent("New"))
    func withStore<T>(
      _ model: NSManagedObjectModel, _ url: URL, _ body: (NSManagedObjectContext) throws -> T
    ) throws -> T {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store = try coordinator.addPersistentStore(type: type, at: url)
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      let result = try context.performAndWait { try body(context) }
      try coordinator.remove(store)
      return result
    }
    try withStore(former(), url) { context in
      let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      item.setValue(elements, forKey: "spot")
      try context.save()
    }
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: former(), destinationModel: next)
    let manager = NSMigrationManager(sourceModel: former(), destinationModel: next)
    try manager.migrateStore(from: url, type: type, mapping: mapping, to: new, type: type)
    return try withStore(next, new) { context in
      let items = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
      return try #require(items.first?.value(forKey: "spot") as? [String: Any])
    }
  }

  @Test(
    "A migration by copy renames, removes, and adds elements as one in place does",
    arguments: [NSPersistentStore.StoreType.sqlite, .xml])
  func copiedElementsAreRenamed(type: NSPersistentStore.StoreType) throws {
    let added = LightweightMigrationTests.attribute("x", .integer32AttributeType, default: 7)
    let renamed = try Self.copy(
      to: Self.model([
        Self.element("y", .doubleAttributeType, renaming: "x"), added,
        Self.composite(
          "core", [Self.element("text", .stringAttributeType, renaming: "y")], renaming: "inner"),
      ]), type)
    #expect(renamed["y"] as? Double == 100_000)
    #expect(renamed["x"] as? Int == 7)
    #expect((renamed["core"] as? [String: Any])?["text"] as? String == "why")
    let removed = try Self.copy(
      to: Self.model([Self.element("x", .integer32AttributeType)]), type)
    #expect(removed["x"] as? Int == 100_000)
    #expect(Set(removed.keys) == ["x"])
  }

  @Test(
    "The elements of an added nested composite attribute get their default values",
    arguments: [NSPersistentStore.StoreType.sqlite, .xml])
  func addedNestedElementsGetDefaults(type: NSPersistentStore.StoreType) throws {
    let zone = LightweightMigrationTests.attribute("zone", .stringAttributeType, default: "UTC")
    let next = Self.model([
      Self.element("x", .integer32AttributeType),
      Self.composite("outer", [Self.composite("deep", [zone])]),
    ])
    let spot = try Self.copy(to: next, type)
    #expect(spot["x"] as? Int == 100_000)
    let deep = (spot["outer"] as? [String: Any])?["deep"] as? [String: Any]
    #expect(deep?["zone"] as? String == "UTC")
  }

  @Test("An edited expression of a composite attribute is used as it is")
  func editedExpressionsHaveLaterNames() throws {
    let next = Self.model([Self.element("left", .integer32AttributeType, renaming: "x")])
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: Self.former(), destinationModel: next)
    let spot = try #require(mapping.entityMappings?.first?.attributeMappings?.first)
    #expect(spot.elements.map(\.destination?.name) == ["left", nil])
    let expression = spot.valueExpression
    spot.valueExpression = expression
    #expect(spot.elements.isEmpty)
  }
}
