import Dispatch
import OpenCoreData
import Testing

@Suite("A program's own stores")
struct CustomStoreTests {
  @Test("URIs contain the reference object, and a new coordinator finds it")
  func urisContainReferenceObjects() throws {
    let stack = try ShelfStack()
    let store = try #require(stack.store as? ShelfStore)
    let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Employee"])
    let cold = try ShelfStack(stack.shelf)
    let coldStore = try #require(cold.store as? ShelfStore)
    for (reference, component) in [
      ("e1", "pe1"), ("a/b c%", "pa%2Fb%20c%25"), ("ü", "p%C3%BC"),
    ] {
      let id = store.newObjectID(for: entity, referenceObject: reference)
      let uri = id.uriRepresentation()
      #expect(uri.absoluteString == "x-coredata://\(store.identifier)/Employee/\(component)")
      #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) == id)
      #expect(store.newObjectID(for: entity, referenceObject: reference) == id)
      let found = try #require(cold.coordinator.managedObjectID(forURIRepresentation: uri))
      #expect(coldStore.referenceObject(for: found) as? String == reference)
    }
    let number = store.newObjectID(for: entity, referenceObject: 42)
    #expect(number.uriRepresentation().lastPathComponent == "p42")
    #expect(store.referenceObject(for: number) as? Int == 42)
    #expect(store.newObjectID(for: entity, referenceObject: NSNumber(value: 42)) == number)
    #expect(number != store.newObjectID(for: entity, referenceObject: "42"))
  }

  @Test("One save writes a SQLite store and a program's own, or neither")
  func failedCustomStoreRollsBackSQLite() throws {
    let files = try TestStack(model: TestModels.company())
    let shelf = Shelf()
    let context = try Shelf.context(beside: files.storeURL, .sqlite, shelf)
    try context.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
      _ = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
      shelf.failures["save"] = NSError(domain: "shelf", code: 5)
      #expect(throws: NSError.self) { try context.save() }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
      request.includesPendingChanges = false
      let saved = try context.count(for: request)
      #expect(saved == 0)
      shelf.failures = [:]
      try context.save()
      let both = try context.count(for: request)
      #expect((both, shelf.items.count) == (1, 1))
    }
  }

  @Test(
    "A program's own store can read a store that the same save changes",
    arguments: [NSPersistentStore.StoreType.inMemory, .xml, .binary, .sqlite])
  func storesOfOneSaveCanBeRead(type: NSPersistentStore.StoreType) throws {
    let files = try TestStack(model: TestModels.company())
    let shelf = Shelf()
    let context = try Shelf.context(beside: files.storeURL, type, shelf)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
    let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    reader.persistentStoreCoordinator = context.persistentStoreCoordinator
    var counts: [Int?] = []
    shelf.duringSave = { _, _ in
      counts.append(try? reader.performAndWait { try reader.count(for: request) })
    }
    try context.performAndWait {
      _ = context.make("Department", ["name": "Sales"])
      _ = context.make("Employee", ["name": "Ada"])
      try context.save()
    }
    let saved = try reader.performAndWait { try reader.count(for: request) }
    #expect(counts == [0] && saved == 1)
    shelf.duringSave = nil
  }

  @Test("A container opens a program's own store from a description")
  func containersOpenRegisteredTypes() throws {
    let shelf = Shelf.company()
    NSPersistentStoreCoordinator.registerStoreClass(
      ShelfStore.self, forStoreType: ShelfStore.shelfType.rawValue)
    let container = NSPersistentContainer(name: "Shelf", managedObjectModel: TestModels.company())
    let url = try #require(URL(string: "shelf://host/company"))
    let description = NSPersistentStoreDescription(url: url)
    description.type = ShelfStore.shelfType.rawValue
    description.setOption(shelf, forKey: "shelf")
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    #expect(failure == nil)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let employees = try ShelfStack.employees(context)
      #expect(employees.count == 3)
    }
  }

  @Test("A store on a server is found by its URL, not by the path of another one")
  func storesOfServersAreFoundByURL() throws {
    NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, type: ShelfStore.shelfType)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModels.company())
    for host in ["one", "two"] {
      let url = try #require(URL(string: "shelf://\(host)/company"))
      let store = try coordinator.addPersistentStore(
        type: ShelfStore.shelfType, at: url, options: ["shelf": Shelf()])
      #expect(coordinator.persistentStore(for: url) === store)
    }
    let file = URL(fileURLWithPath: "/company")
    #expect(coordinator.persistentStore(for: file) == nil)
    let store = try coordinator.addPersistentStore(
      type: ShelfStore.shelfType, at: file, options: ["shelf": Shelf()])
    let indirect = URL(fileURLWithPath: "/tmp/../company")
    #expect(coordinator.persistentStore(for: indirect) === store)
  }

  @Test("Observers of a removal save to the store before its willRemove is called")
  func observersSaveBeforeARemoval() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    nonisolated(unsafe) var failure: NSError?
    let observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: stack.store, queue: nil
    ) { _ in
      context.performAndWait {
        _ = context.make("Employee", ["name": "Dora"])
        failure = context.saveError()
      }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try stack.coordinator.remove(stack.store)
    #expect(failure == nil)
    let calls = stack.shelf.takeCalls().filter { $0.hasPrefix("save") || $0 == "willRemove" }
    #expect(calls.count == 2 && calls.last == "willRemove")
  }

  @Test("A removal waits for a save that is being written before it calls willRemove")
  func removalsWaitForSaves() throws {
    let stack = try ShelfStack()
    let (coordinator, store, context) = (stack.coordinator, stack.store, stack.context())
    let removed = DispatchSemaphore(value: 0)
    stack.shelf.duringSave = { _, _ in
      DispatchQueue.global().async {
        try? coordinator.remove(store)
        removed.signal()
      }
      #expect(removed.wait(timeout: .now() + .milliseconds(200)) == .timedOut)
    }
    context.performAndWait {
      _ = context.make("Employee", ["name": "Dora"])
      #expect(context.saveError() == nil)
    }
    #expect(removed.waitForSignal() && coordinator.persistentStores.isEmpty)
    let calls = stack.shelf.takeCalls().filter { $0.hasPrefix("save") || $0 == "willRemove" }
    #expect(calls.count == 2 && calls.last == "willRemove")
  }

  @Test("The store of the documentation is read and written")
  func documentedStoreWorks() throws {
    let page = try String(
      contentsOf: TestModels.root.appendingPathComponent("Documentation/custom-stores.md"),
      encoding: .utf8)
    let source = try String(
      contentsOf: TestModels.root.appendingPathComponent(
        "Tests/OpenCoreDataTests/CustomStores/NoteStore.swift"), encoding: .utf8)
    let code = try #require(page.components(separatedBy: "```swift\n").dropFirst().first)
    #expect(source.hasSuffix(try #require(code.components(separatedBy: "```").first)))
    let note = NSEntityDescription()
    note.name = "Note"
    note.properties = [TestModels.attribute("text", .stringAttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [note]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let type = NSPersistentStore.StoreType(rawValue: "NoteStore")
    NSPersistentStoreCoordinator.registerStoreClass(NoteStore.self, type: type)
    try coordinator.addPersistentStore(type: type, at: URL(fileURLWithPath: "/notes"))
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      let milk = try context.fetch(request)[0]
      #expect(milk.value(forKey: "text") as? String == "buy milk")
      milk.setValue("buy bread", forKey: "text")
      let second = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      second.setValue("call", forKey: "text")
      try context.save()
      context.reset()
      let texts = try context.fetch(request).compactMap { $0.value(forKey: "text") as? String }
      #expect(texts.sorted() == ["buy bread", "call"])
      try context.fetch(request).forEach(context.delete)
      try context.save()
      let count = try context.count(for: request)
      #expect(count == 0)
    }
  }

  @Test("A store with the version hashes of another model isn't added")
  func versionHashesAreCompared() throws {
    final class VersionedStore: NSIncrementalStore, @unchecked Sendable {
      override func loadMetadata() throws {
        metadata = [
          NSStoreUUIDKey: "versioned",
          NSStoreModelVersionHashesKey: ["Employee": Data([1]), "Department": Data([2])],
        ]
      }
    }
    let type = NSPersistentStore.StoreType(rawValue: "VersionedStore")
    NSPersistentStoreCoordinator.registerStoreClass(VersionedStore.self, type: type)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModels.company())
    let url = URL(fileURLWithPath: "/versioned")
    let error = #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(type: type, at: url)
    }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    let store = try coordinator.addPersistentStore(
      type: type, at: url, options: [NSIgnorePersistentStoreVersioningOption: true])
    #expect((store.identifier, store.type) == ("versioned", "VersionedStore"))
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
      let missing = #expect(throws: NSError.self) { try ShelfStack.employees(context) }
      #expect(missing?.localizedDescription.contains("must override execute(_:with:)") == true)
    }
    NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "VersionedStore")
    #expect(NSPersistentStoreCoordinator.registeredStoreTypes["VersionedStore"] == nil)
  }
}
