import OpenCoreData
import Testing

@Suite("Incremental stores: saving")
struct IncrementalSaveTests {
  private func insert(_ name: String, in context: NSManagedObjectContext) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
    object.setValue(name, forKey: "name")
    return object
  }

  @Test("A save obtains permanent IDs, then makes one request with the changed objects")
  func saveObtainsIDsThenMakesOneRequest() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let employees = try ShelfStack.employees(context)
      let new = insert("Dan", in: context)
      #expect(new.objectID.isTemporaryID)
      new.setValue(employees[0].value(forKey: "department"), forKey: "department")
      employees[0].setValue("Adele", forKey: "name")
      context.delete(employees[2])
      _ = stack.shelf.takeCalls()
      try context.save()
      let calls = stack.shelf.takeCalls()
      #expect(calls.prefix(3) == ["values e3", "obtain Employee", "save +e101 ~d1,e1 -e3"])
      #expect(calls.contains("register e101"))
      #expect(new.objectID.uriRepresentation().lastPathComponent == "pe101")
      #expect(context.registeredObject(for: new.objectID) === new)
      #expect(stack.shelf.items["e101"]?.values["department"] as? String == "d1")
      #expect(stack.shelf.items["e1"]?.values["name"] as? String == "Adele")
      #expect(stack.shelf.items["e3"] == nil)
      #expect(!context.hasChanges)
    }
  }

  @Test("While a save is written, new objects are found by their permanent IDs")
  func newObjectsAreFoundDuringTheSave() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    context.performAndWait {
      let new = insert("Dan", in: context)
      var found: NSManagedObject?
      stack.shelf.duringSave = { request, context in
        guard let id = request.insertedObjects?.first?.objectID, !id.isTemporaryID else { return }
        found = context?.object(with: id)
      }
      stack.shelf.failures["save"] = NSError(domain: "shelf", code: 5)
      #expect(throws: NSError.self) { try context.save() }
      #expect(found === new)
      #expect(new.objectID.isTemporaryID)
      #expect(context.registeredObject(for: new.objectID) === new)
      #expect(context.registeredObjects == [new])
      stack.shelf.failures = [:]
      #expect(throws: Never.self) { try context.save() }
      #expect(context.registeredObjects == [new])
    }
  }

  @Test("Batch requests and requests of the program are passed to the store")
  func otherRequestsReachTheStore() throws {
    final class ReindexRequest: NSPersistentStoreRequest {}
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let request = NSBatchDeleteRequest(
        fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee"))
      request.resultType = .resultTypeCount
      let result = try context.execute(request) as? NSBatchDeleteResult
      #expect(result?.result as? Int == 3)
      _ = try context.execute(ReindexRequest())
      #expect(stack.shelf.takeCalls() == ["batch delete", "execute ReindexRequest"])
    }
  }

  @Test("To-many relationships are read again after a batch request and a refresh")
  func batchesDiscardCachedRelationships() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let sales = try context.fetch(ShelfStack.request("Department"))[1]
      #expect((sales.value(forKey: "employees") as? Set<NSManagedObject>)?.count == 2)
      stack.shelf.items["d1"]?.values["employees"] = ["e2"]
      let request = NSBatchDeleteRequest(
        fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee"))
      _ = try context.execute(request)
      _ = stack.shelf.takeCalls()
      context.refresh(sales, mergeChanges: false)
      #expect((sales.value(forKey: "employees") as? Set<NSManagedObject>)?.count == 1)
      #expect(stack.shelf.takeCalls().contains("employees d1"))
    }
  }

  @Test("A new object without a valid permanent ID fails the save")
  func invalidPermanentIDsAreErrors() throws {
    final class ForgetfulStore: NSIncrementalStore, @unchecked Sendable {
      override func loadMetadata() throws {}
      override class func identifierForNewStore(at storeURL: URL) -> Any {
        storeURL.lastPathComponent
      }
      override func obtainPermanentIDs(
        for array: [NSManagedObject]
      ) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: "same") }
      }
    }
    let type = NSPersistentStore.StoreType(rawValue: "ForgetfulStore")
    NSPersistentStoreCoordinator.registerStoreClass(ForgetfulStore.self, type: type)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModels.company())
    let store = try coordinator.addPersistentStore(
      type: type, at: URL(fileURLWithPath: "/forgetful"))
    #expect(store.identifier == "forgetful")
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
      _ = insert("Ada", in: context)
      _ = insert("Ben", in: context)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.localizedDescription.contains("obtainPermanentIDs(for:)") == true)
      #expect(context.insertedObjects.count == 2)
    }
  }

  @Test("An incremental store has no query generations")
  func queryGenerationsAreErrors() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    context.performAndWait {
      let error = #expect(throws: NSError.self) { try context.setQueryGenerationFrom(.current) }
      #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
      #expect(throws: Never.self) { try ShelfStack.employees(context) }
    }
  }

  @Test("IDs obtained before a save aren't obtained again")
  func obtainedIDsAreKept() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let new = insert("Dan", in: context)
      try context.obtainPermanentIDs(for: [new])
      #expect(stack.shelf.takeCalls() == ["obtain Employee", "register e101"])
      #expect(!new.objectID.isTemporaryID)
      try context.save()
      #expect(stack.shelf.takeCalls() == ["save +e101"])
    }
  }

  @Test("A failed save throws the store's error, and the changes and temporary IDs stay")
  func failedSaveKeepsChanges() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let ada = try ShelfStack.employees(context)[0]
      let new = insert("Dan", in: context)
      ada.setValue("Adele", forKey: "name")
      stack.shelf.failures["save"] = NSError(domain: "shelf", code: 5)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect((error?.domain, error?.code) == ("shelf", 5))
      #expect((new.isInserted, new.objectID.isTemporaryID, ada.isUpdated) == (true, true, true))
      #expect(ada.value(forKey: "name") as? String == "Adele")
      stack.shelf.failures = [:]
      try context.save()
      #expect(stack.shelf.items.values.contains { $0.values["name"] as? String == "Dan" })
      #expect(stack.shelf.items["e1"]?.values["name"] as? String == "Adele")
      stack.shelf.failures["obtain"] = NSError(domain: "shelf", code: 6)
      _ = insert("Eve", in: context)
      let second = #expect(throws: NSError.self) { try context.save() }
      #expect((second?.code, context.insertedObjects.count) == (6, 1))
    }
  }

  @Test("Saved objects keep their values, and are read again when they are refreshed")
  func savedRowsAreReadAgain() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let ada = try ShelfStack.employees(context)[0]
      ada.setValue("Adele", forKey: "name")
      try context.save()
      _ = stack.shelf.takeCalls()
      #expect(ada.value(forKey: "name") as? String == "Adele")
      #expect(stack.shelf.takeCalls() == [])
      context.refresh(ada, mergeChanges: false)
      #expect(ada.value(forKey: "name") as? String == "Adele")
      #expect(stack.shelf.takeCalls() == ["values e1"])
      ada.setValue("Ada", forKey: "name")
      try context.save()
      #expect(stack.shelf.takeCalls() == ["save ~e1"])
    }
  }

  @Test("A node that the store updates while it saves is cached, with its version")
  func updatedNodesAreCached() throws {
    let stack = try ShelfStack()
    stack.shelf.updatesNodes = true
    let (context, other) = (stack.context(), stack.context())
    let stale = try other.performAndWait {
      let ada = try ShelfStack.employees(other)[0]
      _ = ada.value(forKey: "name")
      return ada
    }
    try context.performAndWait {
      let ada = try ShelfStack.employees(context)[0]
      ada.setValue("Adele", forKey: "name")
      try context.save()
      _ = stack.shelf.takeCalls()
      context.refresh(ada, mergeChanges: false)
      #expect(ada.value(forKey: "name") as? String == "Adele")
      #expect(stack.shelf.takeCalls() == [])
    }
    // The other context's object was read with the version before.
    other.performAndWait {
      stale.setValue("Adela", forKey: "name")
      let error = #expect(throws: NSError.self) { try other.save() }
      #expect(error?.code == NSManagedObjectMergeError)
      #expect(!stack.shelf.takeCalls().contains { $0.hasPrefix("save") })
    }
  }

  @Test("The nodes of two saves, one of which runs during the other, are cached")
  func nodesOfNestedSavesAreCached() throws {
    let stack = try ShelfStack()
    stack.shelf.createsNodes = true
    let (context, other) = (stack.context(), stack.context())
    let inner = other.performAndWait { insert("Eve", in: other) }
    stack.shelf.duringSave = { _, _ in
      stack.shelf.duringSave = nil
      other.performAndWait { #expect(other.saveError() == nil) }
    }
    try context.performAndWait {
      let outer = insert("Dan", in: context)
      try context.save()
      _ = stack.shelf.takeCalls()
      context.refresh(outer, mergeChanges: false)
      #expect(outer.value(forKey: "name") as? String == "Dan")
      #expect(stack.shelf.takeCalls() == [])
    }
    other.performAndWait {
      #expect(!inner.objectID.isTemporaryID)
      _ = stack.shelf.takeCalls()
      other.refresh(inner, mergeChanges: false)
      #expect(inner.value(forKey: "name") as? String == "Eve")
      #expect(stack.shelf.takeCalls() == [])
    }
  }

  @Test("The node that the store creates for a new object is cached, with its version")
  func createdNodesAreCached() throws {
    let stack = try ShelfStack()
    stack.shelf.createsNodes = true
    let (context, other) = (stack.context(), stack.context())
    let dan = try context.performAndWait {
      let dan = insert("Dan", in: context)
      try context.save()
      _ = stack.shelf.takeCalls()
      context.refresh(dan, mergeChanges: false)
      #expect(dan.value(forKey: "name") as? String == "Dan")
      #expect(stack.shelf.takeCalls() == [])
      return dan
    }
    try other.performAndWait {
      let same = try #require(try ShelfStack.employees(other).first { $0.objectID == dan.objectID })
      same.setValue("Daniel", forKey: "name")
      try other.save()
    }
    // The version of the new row is known, so this is a conflict.
    context.performAndWait {
      dan.setValue("Dana", forKey: "name")
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectMergeError)
    }
  }

  @Test("Conflicts that the store finds are resolved by the merge policy, with the store's values")
  func storeConflictsAreResolvedByThePolicy() throws {
    let stack = try ShelfStack()
    stack.shelf.comparesVersions = true
    let context = stack.context()
    try context.performAndWait {
      let ada = try ShelfStack.employees(context)[0]
      _ = ada.value(forKey: "name")
      stack.shelf.change("e1", "department", to: "d2")
      ada.setValue("Adele", forKey: "name")
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectMergeError)
      let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
      #expect(conflicts?.first?.sourceObject === ada)
      #expect((conflicts?.first?.oldVersionNumber, conflicts?.first?.newVersionNumber) == (1, 2))
      #expect(ada.hasChanges)
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      _ = stack.shelf.takeCalls()
      try context.save()
      let calls = stack.shelf.takeCalls().filter { !$0.hasPrefix("register") }
      #expect(calls == ["save ~e1", "values e1", "save ~e1"])
      #expect(stack.shelf.items["e1"]?.values["name"] as? String == "Adele")
      #expect(stack.shelf.items["e1"]?.values["department"] as? String == "d2")
    }
  }

  @Test("An object that others have deleted is a conflict without a row")
  func deletedObjectsAreConflicts() throws {
    let stack = try ShelfStack()
    stack.shelf.comparesVersions = true
    let context = stack.context()
    try context.performAndWait {
      let ada = try ShelfStack.employees(context)[0]
      ada.setValue("Adele", forKey: "name")
      stack.shelf.items["e1"] = nil
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectMergeError)
      context.mergePolicy = NSMergePolicy.rollback
      try context.save()
      #expect(stack.shelf.items["e1"] == nil)
      #expect(!context.hasChanges)
      #expect(throws: NSError.self) { try context.existingObject(with: ada.objectID) }
    }
  }

  @Test("A node that is updated between saves replaces the cached values")
  func nodesUpdatedLaterAreCached() throws {
    let stack = try ShelfStack()
    stack.shelf.includesToMany = true
    let context = stack.context()
    try context.performAndWait {
      let sales = try #require(try context.fetch(ShelfStack.request("Department")).last)
      #expect((sales.value(forKey: "employees") as? Set<NSManagedObject>)?.count == 2)
      let store = try #require(stack.store as? ShelfStore)
      stack.shelf.change("d1", "name", to: "Trade")
      stack.shelf.change("d1", "employees", to: ["e3"])
      store.updateNode("d1")
      _ = stack.shelf.takeCalls()
      context.refresh(sales, mergeChanges: false)
      #expect(sales.value(forKey: "name") as? String == "Trade")
      #expect((sales.value(forKey: "employees") as? Set<NSManagedObject>)?.count == 1)
      let calls = stack.shelf.takeCalls().filter { !$0.contains("register") }
      #expect(calls == [])
    }
  }

  @Test("A fetch merges unsaved changes into the store's result")
  func fetchIncludesPendingChanges() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let employees = try ShelfStack.employees(context)
      _ = insert("Abe", in: context)
      employees[1].setValue("Zoe", forKey: "name")
      context.delete(employees[2])
      let names = try ShelfStack.employees(context).map { $0.value(forKey: "name") as? String }
      #expect(names == ["Abe", "Ada", "Zoe"])
      let request = ShelfStack.request("Employee")
      let count = try context.count(for: request)
      #expect(count == 3)
      request.includesPendingChanges = false
      let saved = try context.fetch(request)
      #expect(saved.count == 3)
      #expect(!saved.contains { $0.isInserted })
    }
  }

  @Test("A child's reads and saves reach the store through its parent")
  func childrenUseTheirParent() throws {
    let stack = try ShelfStack()
    let parent = stack.context()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    try child.performAndWait {
      let ada = try ShelfStack.employees(child)[0]
      #expect(stack.shelf.takeCalls().contains("fetch Employee"))
      ada.setValue("Adele", forKey: "name")
      #expect(stack.shelf.takeCalls().contains("values e1"))
      try child.save()
      #expect(!stack.shelf.takeCalls().contains { $0.hasPrefix("save") })
    }
    try parent.performAndWait { try parent.save() }
    #expect(stack.shelf.takeCalls().filter { $0.hasPrefix("save") } == ["save ~e1"])
  }

  @Test("A results controller follows saves")
  func resultsControllerFollowsSaves() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let controller = NSFetchedResultsController(
        fetchRequest: ShelfStack.request("Employee"), managedObjectContext: context,
        sectionNameKeyPath: nil, cacheName: nil)
      let delegate = Delegate()
      controller.delegate = delegate
      try controller.performFetch()
      #expect(controller.fetchedObjects?.count == 3)
      _ = insert("Bea", in: context)
      try context.save()
      let names = controller.fetchedObjects?.map { $0.value(forKey: "name") as? String }
      #expect(names == ["Ada", "Bea", "Ben", "Cleo"])
      withExtendedLifetime(delegate) {}
    }
  }

  private final class Delegate: NSFetchedResultsControllerDelegate {}

  @Test("Another context merges a save, and reads the saved objects again")
  func otherContextsMergeSaves() throws {
    let stack = try ShelfStack()
    let (context, other) = (stack.context(), stack.context())
    other.automaticallyMergesChangesFromParent = true
    let seen = try other.performAndWait {
      let ada = try ShelfStack.employees(other)[0]
      _ = ada.value(forKey: "name")
      return ada
    }
    try context.performAndWait {
      try ShelfStack.employees(context)[0].setValue("Adele", forKey: "name")
      try context.save()
      _ = stack.shelf.takeCalls()
    }
    other.performAndWait {
      #expect(seen.value(forKey: "name") as? String == "Adele")
      #expect(stack.shelf.takeCalls().filter { $0.hasPrefix("values") } == ["values e1"])
    }
  }
}
