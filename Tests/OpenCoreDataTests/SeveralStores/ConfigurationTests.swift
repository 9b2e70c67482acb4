import CoreDataCosts
import OpenCoreData
import SQLiteDriver
import Testing

/// Stores for the entities of a configuration.
@Suite("Configurations")
struct ConfigurationTests {
  @Test(
    "S-A16 objects are saved in the store whose configuration contains their entity",
    arguments: TwoStores.Pair.allCases)
  func objectsAreSavedInTheStoreOfTheirConfiguration(pair: TwoStores.Pair) throws {
    let two = try TwoStores(pair, configurations: ["Staff", "Places"])
    #expect(two.stores.map(\.configurationName) == ["Staff", "Places"])
    let context = two.context()
    try context.performAndWait {
      _ = context.make("Employee", ["name": "e"])
      let department = context.make("Department", ["name": "d"])
      _ = context.make("UrgentNote", ["text": "n", "rank": 1])
      try context.save()
      #expect(department.objectID.persistentStore === two.stores[1])
    }
    let reader = two.context()
    try reader.performAndWait {
      for (entity, selects) in [("Employee", pair.kinds[0]), ("Department", pair.kinds[1])] {
        var found: [NSManagedObject] = []
        let cost = try costs(of: reader) {
          found = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
        }
        #expect(found.count == 1 && cost.selects == (selects == .sqlite ? 1 : 0))
        reader.refreshAllObjects()
        #expect(found[0].nameValue == String(entity.prefix(1)).lowercased())
      }
      let notes = NSFetchRequest<NSManagedObject>(entityName: "Note")
      let cost = try costs(of: reader) {
        let found = try reader.fetch(notes)
        #expect(found.map { $0.entity.name } == ["UrgentNote"])
      }
      #expect(cost.selects == pair.files)
      // Relationships to objects of the other store are empty.
      let employee = try #require(try reader.fetch(TwoStores.request()).first)
      #expect(employee.value(forKey: "department") == nil)
      let department = try #require(
        try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Department")).first)
      #expect((department.value(forKey: "employees") as? Set<NSManagedObject>)?.isEmpty == true)
      #expect(reader.faultError == nil)
      employee.setValue(department, forKey: "department")
      #expect(reader.saveError()?.code == NSPersistentStoreSaveError)
    }
  }

  @Test("A file has only the tables of its configuration, and opens only with it")
  func fileHasOnlyTheTablesOfItsConfiguration() throws {
    let two = try TwoStores(.files, configurations: ["Staff", "Places"])
    let url = try #require(two.stores[1].url)
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    let names = try connection.values(
      "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY 1")
    #expect(
      names == [
        [.integer(1), .text("Department"), .integer(0)], [.integer(2), .text("Note"), .integer(0)],
        [.integer(3), .text("UrgentNote"), .integer(2)],
      ])
    let model = two.coordinator.managedObjectModel
    #expect(
      model.isConfiguration(withName: "Places", compatibleWithStoreMetadata: two.stores[1].metadata)
    )
    for (configuration, code) in [
      (nil, NSPersistentStoreIncompatibleVersionHashError),
      ("Staff", NSPersistentStoreIncompatibleVersionHashError), ("Places", 0),
      ("None", NSPersistentStoreOperationError),
    ] as [(String?, Int)] {
      let other = NSPersistentStoreCoordinator(managedObjectModel: model)
      let error = thrownError {
        try other.addPersistentStore(type: .sqlite, configuration: configuration, at: url)
      }
      #expect(error?.code ?? 0 == code, "\(configuration ?? "all")")
    }
  }

  @Test(
    "A store is added again with its configuration's name, that of all entities, too",
    arguments: [nil, "Places"] as [String?], StoreKind.allCases)
  func storeIsAddedAgainWithItsConfigurationName(configuration: String?, kind: StoreKind) throws {
    let two = try TwoStores(.memories)
    let (coordinator, model) = (two.coordinator, two.coordinator.managedObjectModel)
    let stack = try TestStack(model: TestModels.company())
    let store = try coordinator.addPersistentStore(
      ofType: kind.type.rawValue, configurationName: configuration,
      at: kind.url(stack.folder.appendingPathComponent("again")))
    let name = store.configurationName
    #expect(
      model.entities(forConfigurationName: name)
        == model.entities(forConfigurationName: configuration))
    #expect(model.isConfiguration(withName: name, compatibleWithStoreMetadata: store.metadata))
    try coordinator.remove(store)
    let again = try coordinator.addPersistentStore(
      ofType: store.type, configurationName: name, at: store.url)
    #expect(again.configurationName == name)
  }

  @Test("A store can be added only once, and again after it was removed")
  func storeIsAddedOnceAndAgainAfterItsRemoval() throws {
    let two = try TwoStores(.files)
    try two.addEmployees(2)
    let url = try #require(two.stores[0].url)
    let error = thrownError { try two.coordinator.addPersistentStore(type: .sqlite, at: url) }
    #expect(error?.code == NSPersistentStoreOpenError)
    #expect(two.coordinator.persistentStores == two.stores)
    try two.coordinator.remove(two.stores[0])
    let context = two.context()
    try context.performAndWait {
      let found = try context.fetch(TwoStores.request())
      #expect(found.map(\.nameValue) == ["e01"])
    }
    try two.coordinator.addPersistentStore(type: .sqlite, at: url)
    let again = two.context()
    try again.performAndWait {
      let found = try again.fetch(TwoStores.request())
      #expect(found.map(\.nameValue) == ["e00", "e01"])
    }
  }

  @Test(
    "Objects of a removed store never change rows of stores that are added later",
    arguments: StoreKind.allCases)
  func objectsOfARemovedStoreNeverChangeRowsOfLaterStores(kind: StoreKind) throws {
    let stack = try TestStack(model: TestModels.company())
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    func add(_ number: Int) throws -> NSPersistentStore {
      let url = kind.url(stack.folder.appendingPathComponent("\(number)"))
      return try coordinator.addPersistentStore(
        ofType: kind.type.rawValue, configurationName: nil, at: url)
    }
    func context() -> NSManagedObjectContext {
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    var left: [(context: NSManagedObjectContext, object: NSManagedObject)] = []
    for number in 0..<3 {
      let store = try add(number)
      let writer = context()
      let object = try writer.performAndWait {
        let object = writer.make("Employee", ["name": "e\(number)"])
        try writer.save()
        return object
      }
      for (old, former) in left {
        try old.performAndWait {
          #expect(former.objectID != object.objectID)
          #expect(former.objectID.persistentStore !== store)
          _ = former.value(forKey: "department")
          former.setValue("x", forKey: "name")
          #expect(old.saveError()?.code == NSPersistentStoreOperationError)
          old.delete(former)
          #expect(old.saveError()?.code == NSPersistentStoreOperationError)
          old.rollback()
          let names = try old.all("Employee").map(\.nameValue)
          #expect(names == ["e\(number)"])
        }
      }
      let reader = context()
      try reader.performAndWait {
        let names = try reader.all("Employee").map(\.nameValue)
        #expect(names == ["e\(number)"])
      }
      left.append((writer, object))
      try coordinator.remove(store)
    }
    guard !kind.isInMemory else { return }
    let again = try add(0)
    try left[0].context.performAndWait {
      left[0].object.setValue("again", forKey: "name")
      try left[0].context.save()
      #expect(left[0].object.objectID.persistentStore === again)
    }
    let reader = context()
    try reader.performAndWait {
      let names = try reader.all("Employee").map(\.nameValue)
      #expect(names == ["again"])
    }
  }

  @Test(
    "A removed store is released; its objects keep their IDs, and can't be read or saved",
    arguments: StoreKind.allCases)
  func removedStoresAreReleased(kind: StoreKind) throws {
    let stack = try TestStack(model: TestModels.company())
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    weak var removed: NSPersistentStore?
    /// Saves an object to a store that's removed afterward.
    func makeObject() throws -> (object: NSManagedObject, uri: URL) {
      let store = try coordinator.addPersistentStore(
        ofType: kind.type.rawValue, configurationName: nil,
        at: kind.url(stack.folder.appendingPathComponent("removed")))
      removed = store
      let object = try context.performAndWait {
        let object = context.make("Employee", ["name": "e"])
        context.assign(object, to: store)
        try context.save()
        return object
      }
      let uri = context.performAndWait { object.objectID.uriRepresentation() }
      try coordinator.remove(store)
      return (object, uri)
    }
    let (object, uri) = try makeObject()
    #expect(removed == nil)
    try context.performAndWait {
      let id = object.objectID
      #expect(id.uriRepresentation() == uri && id.persistentStore == nil)
      #expect(try context.existingObject(with: id) === object)
      context.refresh(object, mergeChanges: false)
      #expect(object.value(forKey: "name") == nil)
      #expect(context.faultError?.code == NSPersistentStoreOperationError)
      object.setValue("x", forKey: "name")
      #expect(context.saveError()?.code == NSPersistentStoreOperationError)
      context.rollback()
      _ = context.make("Employee", ["name": "new"])
      try context.save()
      #expect(try context.all("Employee").map(\.nameValue) == ["new"])
      #expect(object.objectID == id)
    }
    #expect(removed == nil)
  }

  @Test(
    "S-A15 a fetch without a store is an error; after one is added, it returns its rows")
  func fetchWithoutAStoreIsAnErrorUntilOneIsAdded() async throws {
    let stack = try TestStack(model: TestModels.company())
    let first = try stack.coldContext()
    try first.performAndWait {
      _ = first.make("Employee", ["name": "e"])
      try first.save()
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
      let before = thrownError { _ = try context.fetch(TwoStores.request()) }
      #expect(before?.localizedDescription.contains("no store") == true)
      _ = context.make("Employee", ["name": "f"])
      #expect(context.saveError()?.code == NSPersistentStoreSaveError)
    }
    let description = NSPersistentStoreDescription(url: stack.storeURL)
    description.shouldAddStoreAsynchronously = true
    let failure = await withCheckedContinuation { continuation in
      coordinator.addPersistentStore(with: description) { continuation.resume(returning: $1) }
    }
    #expect(failure == nil)
    try context.performAndWait {
      try context.save()
      #expect(try context.fetch(TwoStores.request()).map(\.nameValue) == ["e", "f"])
    }
  }
}
