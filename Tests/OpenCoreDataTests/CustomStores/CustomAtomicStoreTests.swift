import Dispatch
import OpenCoreData
import Testing

@Suite("Atomic stores of a program")
struct CustomAtomicStoreTests {
  /// A folder with a JSON file; each coordinator reads the file again.
  private struct Bed {
    let files: TestStack
    var url: URL { files.folder.appendingPathComponent("Store.json") }

    init() throws { files = try TestStack(model: TestModels.company()) }

    func open() throws -> (context: NSManagedObjectContext, store: JSONStore) {
      NSPersistentStoreCoordinator.registerStoreClass(JSONStore.self, type: JSONStore.jsonType)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModels.company())
      let added = try coordinator.addPersistentStore(type: JSONStore.jsonType, at: url)
      let store = try #require(added as? JSONStore)
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return (context, store)
    }

    /// Saves a department of two employees, and an employee without one.
    func fill() throws {
      let (context, _) = try open()
      try context.performAndWait {
        let sales = CustomAtomicStoreTests.insert("Department", "Sales", in: context)
        for (index, name) in ["Ada", "Ben", "Cleo"].enumerated() {
          let employee = CustomAtomicStoreTests.insert("Employee", name, in: context)
          if index < 2 { employee.setValue(sales, forKey: "department") }
        }
        try context.save()
      }
    }
  }

  private static func insert(
    _ entity: String, _ name: String, in context: NSManagedObjectContext
  ) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    object.setValue(name, forKey: "name")
    return object
  }

  @Test("A new store loads, and its first save creates nodes, fills them, and writes the file")
  func firstSaveCreatesNodesAndWrites() throws {
    let bed = try Bed()
    let (context, store) = try bed.open()
    #expect(store.takeCalls() == ["load"])
    #expect(!FileManager.default.fileExists(atPath: bed.url.path))
    try context.performAndWait {
      _ = Self.insert("Employee", "Ada", in: context)
      try context.save()
      #expect(store.takeCalls() == ["reference Employee", "new Ada", "update Ada", "save 1"])
      try context.save()
      #expect(store.takeCalls() == [])
    }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: JSONStore.jsonType, at: bed.url)
    #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
  }

  @Test("Fetches evaluate predicates and orders in memory, and follow relationships of nodes")
  func fetchesAreEvaluatedInMemory() throws {
    let bed = try Bed()
    try bed.fill()
    let (context, store) = try bed.open()
    #expect(store.takeCalls() == ["load"])
    try context.performAndWait {
      let request = ShelfStack.request("Employee")
      request.predicate = NSPredicate(format: "department.name == %@", "Sales")
      let employees = try context.fetch(request)
      #expect(employees.map { $0.value(forKey: "name") as? String } == ["Ada", "Ben"])
      request.predicate = NSPredicate(format: "name IN %@", ["Ben", "Cleo"])
      request.fetchLimit = 1
      let one = try context.fetch(request)
      #expect(one.map { $0.value(forKey: "name") as? String } == ["Ben"])
      let department = try #require(employees[0].value(forKey: "department") as? NSManagedObject)
      #expect((department.value(forKey: "employees") as? Set<NSManagedObject>)?.count == 2)
      #expect(store.takeCalls() == [])
      let uri = employees[0].objectID.uriRepresentation()
      let id = context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri)
      #expect(id == employees[0].objectID)
      #expect(
        store.cacheNode(for: employees[0].objectID)?.value(forKey: "name") as? String == "Ada")
    }
  }

  @Test(
    "A save updates nodes of changed objects, then removes those of deleted ones, and writes once")
  func savesUpdateAndRemoveNodes() throws {
    let bed = try Bed()
    try bed.fill()
    let (context, store) = try bed.open()
    try context.performAndWait {
      let employees = try ShelfStack.employees(context)
      employees[2].setValue("Chloe", forKey: "name")
      context.delete(employees[0])
      _ = store.takeCalls()
      try context.save()
      let calls = store.takeCalls()
      #expect(calls.filter { $0.hasPrefix("update") }.sorted() == ["update Chloe", "update Sales"])
      #expect(calls.suffix(2) == ["remove [\"Ada\"]", "save 3"])
    }
    let (cold, _) = try bed.open()
    try cold.performAndWait {
      let names = try ShelfStack.employees(cold).map { $0.value(forKey: "name") as? String }
      #expect(names == ["Ben", "Chloe"])
    }
  }

  @Test("A failed save restores the nodes, and the context keeps its changes")
  func failedSaveRestoresNodes() throws {
    let bed = try Bed()
    try bed.fill()
    let (context, store) = try bed.open()
    try context.performAndWait {
      let employees = try ShelfStack.employees(context)
      employees[2].setValue("Chloe", forKey: "name")
      context.delete(employees[0])
      _ = Self.insert("Employee", "Dan", in: context)
      store.failure = NSError(domain: "json", code: 3)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect((error?.domain, error?.code) == ("json", 3))
      let names = store.cacheNodes().compactMap { $0.value(forKey: "name") as? String }
      #expect(names.sorted() == ["Ada", "Ben", "Cleo", "Sales"])
      #expect((context.insertedObjects.count, context.deletedObjects.count) == (1, 1))
      try context.save()
      let saved = store.cacheNodes().compactMap { $0.value(forKey: "name") as? String }
      #expect(saved.sorted() == ["Ben", "Chloe", "Dan", "Sales"])
    }
  }

  @Test("A failed save keeps the nodes of another one that has succeeded during it")
  func failedSaveKeepsNodesOfAnother() throws {
    let bed = try Bed()
    try bed.fill()
    let (context, store) = try bed.open()
    let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    other.persistentStoreCoordinator = context.persistentStoreCoordinator
    var names: [String] { store.cacheNodes().compactMap { $0.value(forKey: "name") as? String } }
    store.duringSave = {
      other.performAndWait {
        _ = Self.insert("Employee", "Eve", in: other)
        let ben = try? ShelfStack.employees(other)[1]
        ben?.setValue("Benno", forKey: "name")
        #expect(other.saveError() == nil)
      }
      store.failure = NSError(domain: "json", code: 3)
    }
    try context.performAndWait {
      let employees = try ShelfStack.employees(context)
      employees[2].setValue("Chloe", forKey: "name")
      context.delete(employees[0])
      _ = Self.insert("Employee", "Dan", in: context)
      #expect(context.saveError()?.code == 3)
      #expect(names.sorted() == ["Ada", "Benno", "Cleo", "Eve", "Sales"])
      try context.save()
      #expect(names.sorted() == ["Benno", "Chloe", "Dan", "Eve", "Sales"])
    }
    let (cold, _) = try bed.open()
    try cold.performAndWait {
      let saved = try ShelfStack.employees(cold).map { $0.value(forKey: "name") as? String }
      #expect(saved == ["Benno", "Chloe", "Dan", "Eve"])
    }
  }

  @Test("A removal waits for a save that is being written")
  func removalsWaitForSaves() throws {
    let bed = try Bed()
    try bed.fill()
    let (context, store) = try bed.open()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let removed = DispatchSemaphore(value: 0)
    store.duringSave = {
      DispatchQueue.global().async {
        try? coordinator.remove(store)
        removed.signal()
      }
      #expect(removed.wait(timeout: .now() + .milliseconds(200)) == .timedOut)
    }
    context.performAndWait {
      _ = Self.insert("Employee", "Dan", in: context)
      #expect(context.saveError() == nil)
    }
    #expect(removed.waitForSignal() && coordinator.persistentStores.isEmpty)
    let (cold, _) = try bed.open()
    let count = try cold.performAndWait { try ShelfStack.employees(cold).count }
    #expect(count == 4)
  }

  @Test("Two contexts' changes of one object are a conflict, which the framework finds")
  func conflictsAreFoundByTheFramework() throws {
    let bed = try Bed()
    try bed.fill()
    let (context, store) = try bed.open()
    let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    other.persistentStoreCoordinator = context.persistentStoreCoordinator
    let ada = try other.performAndWait {
      let ada = try ShelfStack.employees(other)[0]
      _ = ada.value(forKey: "name")
      return ada
    }
    try context.performAndWait {
      try ShelfStack.employees(context)[0].setValue("Adele", forKey: "name")
      try context.save()
    }
    try other.performAndWait {
      ada.setValue("Adela", forKey: "name")
      _ = store.takeCalls()
      let error = #expect(throws: NSError.self) { try other.save() }
      #expect(error?.code == NSManagedObjectMergeError)
      #expect(store.takeCalls() == [])
      other.mergePolicy = NSMergePolicy.overwrite
      try other.save()
      #expect(store.takeCalls() == ["update Adela", "save 4"])
    }
  }

  @Test("An object that the merge policy restores has a node again, and is written")
  func restoredObjectsHaveNodes() throws {
    let bed = try Bed()
    try bed.fill()
    let (context, store) = try bed.open()
    let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    other.persistentStoreCoordinator = context.persistentStoreCoordinator
    other.mergePolicy = NSMergePolicy.overwrite
    try other.performAndWait {
      try ShelfStack.employees(other)[2].setValue("Chloe", forKey: "name")
      try context.performAndWait {
        context.delete(try ShelfStack.employees(context)[2])
        try context.save()
      }
      _ = store.takeCalls()
      try other.save()
      #expect(store.takeCalls() == ["new Chloe", "update Chloe", "save 4"])
    }
    let (cold, _) = try bed.open()
    try cold.performAndWait {
      let names = try ShelfStack.employees(cold).map { $0.value(forKey: "name") as? String }
      #expect(names == ["Ada", "Ben", "Chloe"])
    }
  }

  @Test("Metadata that was set is written with the next save, even without changed objects")
  func metadataIsWrittenWithTheData() throws {
    let bed = try Bed()
    try bed.fill()
    let (context, store) = try bed.open()
    _ = store.takeCalls()
    let coordinator = try #require(context.persistentStoreCoordinator)
    coordinator.setMetadata(["purpose": "test"], for: store)
    #expect(store.metadata[NSStoreUUIDKey] as? String == store.identifier)
    try context.performAndWait { try context.save() }
    #expect(store.takeCalls() == ["save 4"])
  }

  @Test("An atomic store of a program is copied to a SQLite store")
  func atomicStoresAreConverted() throws {
    let bed = try Bed()
    try bed.fill()
    let (context, store) = try bed.open()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let new = try coordinator.migratePersistentStore(
      store, to: bed.files.storeURL, type: .sqlite)
    #expect(new.type == NSSQLiteStoreType)
    try context.performAndWait {
      let employees = try ShelfStack.employees(context)
      #expect(employees.map { $0.value(forKey: "name") as? String } == ["Ada", "Ben", "Cleo"])
      let department = employees[0].value(forKey: "department") as? NSManagedObject
      #expect(department?.value(forKey: "name") as? String == "Sales")
    }
  }

  @Test("Nodes added after loading are found by the next fetch")
  func nodesAddedLaterAreFound() throws {
    let bed = try Bed()
    try bed.fill()
    let (context, store) = try bed.open()
    let entity = try #require(
      context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Employee"])
    let node = NSAtomicStoreCacheNode(
      objectID: store.objectID(for: entity, withReferenceObject: "later"))
    node.setValue("Dora", forKey: "name")
    store.addCacheNodes([node])
    try context.performAndWait {
      let names = try ShelfStack.employees(context).map { $0.value(forKey: "name") as? String }
      #expect(names == ["Ada", "Ben", "Cleo", "Dora"])
    }
  }

  @Test("Saving an object whose node was replaced after it was read is a conflict")
  func replacedNodesAreConflicts() throws {
    let bed = try Bed()
    try bed.fill()
    let (context, store) = try bed.open()
    try context.performAndWait {
      let cleo = try ShelfStack.employees(context)[2]
      cleo.setValue("Chloe", forKey: "name")
      let node = NSAtomicStoreCacheNode(objectID: cleo.objectID)
      node.setValue("Clio", forKey: "name")
      store.addCacheNodes([node])
      #expect(context.saveError()?.code == NSManagedObjectMergeError)
      #expect(node.value(forKey: "name") as? String == "Clio")
      context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      try context.save()
      #expect(cleo.value(forKey: "name") as? String == "Clio")
    }
  }

  @Test("A node that replaces another has its relationships, also those without destinations")
  func replacedNodesLoseTheirDestinations() throws {
    let bed = try Bed()
    try bed.fill()
    let (context, store) = try bed.open()
    store.addCacheNodes(
      Set(
        store.cacheNodes().map { node in
          let new = NSAtomicStoreCacheNode(objectID: node.objectID)
          new.setValue(node.value(forKey: "name"), forKey: "name")
          return new
        }))
    try context.performAndWait {
      let departments = try context.fetch(ShelfStack.request("Department"))
      #expect(departments.map { $0.value(forKey: "name") as? String } == ["Sales"])
      #expect(
        departments.map { ($0.value(forKey: "employees") as? Set<NSManagedObject>)?.count } == [0])
      let employees = try ShelfStack.employees(context)
      #expect(employees.count == 3)
      #expect(employees.allSatisfy { $0.value(forKey: "department") == nil })
    }
  }

  @Test("A failed save restores nodes of a class with its own storage, too")
  func failedSaveRestoresOwnStorage() throws {
    final class OwnNode: NSAtomicStoreCacheNode, @unchecked Sendable {
      var values: [String: Any] = [:]
      override func value(forKey key: String) -> Any? { values[key] }
      override func setValue(_ value: Any?, forKey key: String) { values[key] = value }
    }
    let bed = try Bed()
    let (context, store) = try bed.open()
    let entity = try #require(
      context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Employee"])
    let node = OwnNode(objectID: store.objectID(for: entity, withReferenceObject: "own"))
    node.setValue("Dora", forKey: "name")
    store.addCacheNodes([node])
    try context.performAndWait {
      let dora = try #require(try ShelfStack.employees(context).first)
      dora.setValue("Dana", forKey: "name")
      store.failure = NSError(domain: "json", code: 3)
      #expect(throws: NSError.self) { try context.save() }
      #expect(node.value(forKey: "name") as? String == "Dora")
      try context.save()
      #expect(node.value(forKey: "name") as? String == "Dana")
    }
  }
}
