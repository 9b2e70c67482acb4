import CoreDataCosts
import OpenCoreData
import Testing

@Suite("Incremental stores: reading")
struct IncrementalFetchTests {
  @Test("A store of a registered type loads its metadata when it's added")
  func addedStoreLoadsItsMetadata() throws {
    let shelf = Shelf.company()
    NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, type: ShelfStore.shelfType)
    #expect(NSPersistentStoreCoordinator.registeredStoreTypes["ShelfStore"] == ShelfStore.self)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModels.company())
    let url = URL(fileURLWithPath: "/shelf")
    let store = try coordinator.addPersistentStore(
      type: ShelfStore.shelfType, at: url, options: ["shelf": shelf])
    #expect(shelf.takeCalls() == ["loadMetadata", "didAdd"])
    #expect(store is ShelfStore)
    #expect(coordinator.persistentStores.first === store)
    #expect((store.identifier, store.type, store.url) == (shelf.identifier, "ShelfStore", url))
    #expect(coordinator.metadata(for: store)[NSStoreUUIDKey] as? String == shelf.identifier)
    try coordinator.remove(store)
    #expect(shelf.takeCalls() == ["willRemove"])
  }

  @Test("An error of loadMetadata fails the addition; an unregistered type is error 134000")
  func failedMetadataAndUnknownTypesAreErrors() throws {
    let shelf = Shelf()
    shelf.failures["loadMetadata"] = NSError(domain: "shelf", code: 7)
    let error = #expect(throws: NSError.self) { try ShelfStack(shelf) }
    #expect((error?.domain, error?.code) == ("shelf", 7))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModels.company())
    let unknown = #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(
        type: NSPersistentStore.StoreType(rawValue: "Unknown"),
        at: URL(fileURLWithPath: "/shelf"))
    }
    #expect(unknown?.code == NSPersistentStoreInvalidTypeError)
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test("A fetch is one request, and its objects are faults")
  func fetchIsOneRequestAndReturnsFaults() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let employees = try ShelfStack.employees(context)
      #expect(
        stack.shelf.takeCalls() == ["fetch Employee", "register e1", "register e2", "register e3"])
      #expect(employees.allSatisfy { $0.isFault })
      #expect(employees[1].value(forKey: "name") as? String == "Ben")
      #expect(employees[1].value(forKey: "name") as? String == "Ben")
      #expect(stack.shelf.takeCalls() == ["values e2"])
      _ = try ShelfStack.employees(context)
      #expect(stack.shelf.takeCalls() == ["fetch Employee"])
    }
  }

  @Test("The store gets the request's predicate, order, offset, and limit")
  func requestHasPredicateOrderAndLimits() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let request = ShelfStack.request("Employee")
      request.predicate = NSPredicate(format: "name > %@", "Ada")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
      request.fetchLimit = 1
      let last = try context.fetch(request)
      #expect(stack.shelf.takeCalls() == ["fetch Employee", "register e3"])
      #expect(last.map { $0.value(forKey: "name") as? String } == ["Cleo"])
      request.fetchOffset = 1
      let next = try context.fetch(request)
      #expect(next.map { $0.value(forKey: "name") as? String } == ["Ben"])
    }
  }

  @Test("Object IDs, counts, and dictionaries are requested as such, and register no objects")
  func otherResultTypesRegisterNothing() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Employee")
      ids.resultType = .managedObjectIDResultType
      let found = try context.fetch(ids)
      #expect(found.count == 3)
      let count = try context.count(for: ShelfStack.request("Department"))
      #expect(count == 2)
      let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Department")
      dictionaries.resultType = .dictionaryResultType
      dictionaries.propertiesToFetch = ["name"]
      let names = try context.fetch(dictionaries).compactMap { $0["name"] as? String }
      #expect(names == ["Sales", "Labs"])
      #expect(
        stack.shelf.takeCalls() == ["IDs Employee", "count Department", "dictionaries Department"])
    }
  }

  @Test("A batch that can't be read leaves the rows that another context uses in the row cache")
  func failedBatchLeavesCachedRows() throws {
    let coordinator = try BatchStore.coordinator()
    let contexts = (0..<2).map { _ in
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    try contexts[0].performAndWait {
      let kept = try contexts[0].fetch(request)[1]
      #expect(kept.value(forKey: "name") as? String == "b")
      try contexts[1].performAndWait {
        request.fetchBatchSize = 3
        let batch = try contexts[1].fetchBatched(request)
        #expect(batch.count == 3 && batch[0].isFault)
        contexts[1].reset()
      }
      #expect(kept.value(forKey: "name") as? String == "b")
      contexts[0].refresh(kept, mergeChanges: false)
      let hit = costs(of: contexts[0]) {
        #expect(kept.value(forKey: "name") as? String == "b")
      }
      #expect((hit.hits, hit.misses) == (1, 0))
      // Releases the row that a failed batch must not have released.
      contexts[0].reset()
    }
  }

  @Test("The error of each call reaches the caller, or the context's fault error")
  func errorsReachTheCaller() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    let failure = NSError(domain: "shelf", code: 9)
    try context.performAndWait {
      stack.shelf.failures = ["fetch": failure, "count": failure, "employees": failure]
      let fetch = #expect(throws: NSError.self) { try ShelfStack.employees(context) }
      #expect(fetch?.domain == "shelf")
      let count = #expect(throws: NSError.self) {
        try context.count(for: ShelfStack.request("Employee"))
      }
      #expect(count?.domain == "shelf")
      stack.shelf.failures["fetch"] = nil
      let department = try #require(try context.fetch(ShelfStack.request("Department")).last)
      #expect((department.value(forKey: "employees") as? Set<NSManagedObject>)?.isEmpty == true)
      let id = (stack.store as? ShelfStore)?.newObjectID(
        for: department.entity, referenceObject: "d9")
      let missingID = try #require(id)
      let missing = #expect(throws: NSError.self) {
        try context.existingObject(with: missingID)
      }
      #expect(missing?.code == NSManagedObjectReferentialIntegrityError)
      #expect(missing?.userInfo["reference"] as? String == "d9")
    }
  }

  @Test("A to-one is the object ID in the node, or NSNull; a missing one is read with the object")
  func toOneIsReadFromTheNode() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let employees = try ShelfStack.employees(context)
      _ = stack.shelf.takeCalls()
      let department = employees[0].value(forKey: "department") as? NSManagedObject
      #expect(stack.shelf.takeCalls() == ["values e1", "register d1"])
      #expect(department?.isFault == true)
      #expect(employees[2].value(forKey: "department") == nil)
      #expect(stack.shelf.takeCalls() == ["values e3"])
      stack.shelf.includesToOne = false
      #expect(employees[1].value(forKey: "department") as? NSManagedObject === department)
      #expect(stack.shelf.takeCalls() == ["values e2", "department e2"])
    }
  }

  @Test("A to-many is read when it's used, once, and its objects are faults")
  func toManyIsReadOnDemand() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let sales = try #require(try context.fetch(ShelfStack.request("Department")).last)
      _ = sales.value(forKey: "name")
      _ = stack.shelf.takeCalls()
      let staff = sales.value(forKey: "employees") as? Set<NSManagedObject>
      #expect(staff?.count == 2)
      #expect(staff?.allSatisfy { $0.isFault } == true)
      let calls = stack.shelf.takeCalls()
      #expect(calls.first == "employees d1")
      #expect(calls.dropFirst().sorted() == ["register e1", "register e2"])
      context.refresh(sales, mergeChanges: false)
      #expect((sales.value(forKey: "employees") as? Set<NSManagedObject>)?.count == 2)
      #expect(stack.shelf.takeCalls() == [])
    }
  }

  @Test("A to-many that the node has isn't requested")
  func toManyOfTheNodeIsCached() throws {
    let stack = try ShelfStack()
    stack.shelf.includesToMany = true
    let context = stack.context()
    try context.performAndWait {
      let sales = try #require(try context.fetch(ShelfStack.request("Department")).last)
      _ = sales.value(forKey: "name")
      #expect((sales.value(forKey: "employees") as? Set<NSManagedObject>)?.count == 2)
      #expect(!stack.shelf.takeCalls().contains("employees d1"))
    }
  }

  @Test("Faults fire without a call if the fetch has created their nodes")
  func nodesOfAFetchAreCached() throws {
    let stack = try ShelfStack()
    stack.shelf.createsNodes = true
    let context = stack.context()
    try context.performAndWait {
      let employees = try ShelfStack.employees(context)
      _ = stack.shelf.takeCalls()
      #expect(employees.allSatisfy { $0.isFault })
      #expect(employees.map { $0.value(forKey: "name") as? String } == ["Ada", "Ben", "Cleo"])
      #expect((employees[0].value(forKey: "department") as? NSManagedObject)?.isFault == true)
      #expect(stack.shelf.takeCalls() == ["register d1"])
      stack.shelf.change("e1", "name", to: "Adele")
      _ = try ShelfStack.employees(context)
      context.refresh(employees[0], mergeChanges: false)
      #expect(employees[0].value(forKey: "name") as? String == "Adele")
    }
  }

  @Test("The row cache keeps a node for all contexts while the object is registered")
  func nodesAreSharedByContexts() throws {
    let stack = try ShelfStack()
    let (first, second) = (stack.context(), stack.context())
    let kept = try first.performAndWait {
      let employees = try ShelfStack.employees(first)
      _ = employees[0].value(forKey: "name")
      return employees
    }
    _ = stack.shelf.takeCalls()
    try second.performAndWait {
      let ada = try ShelfStack.employees(second)[0]
      _ = stack.shelf.takeCalls()
      #expect(ada.value(forKey: "name") as? String == "Ada")
      #expect(stack.shelf.takeCalls() == [])
    }
    withExtendedLifetime(kept) {}
  }

  @Test("A refreshed object is read again only if the staleness interval has passed")
  func stalenessIntervalLimitsTheAgeOfNodes() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let ada = try ShelfStack.employees(context)[0]
      _ = ada.value(forKey: "name")
      stack.shelf.change("e1", "name", to: "Adele")
      _ = stack.shelf.takeCalls()
      context.refresh(ada, mergeChanges: false)
      #expect(ada.value(forKey: "name") as? String == "Ada")
      #expect(stack.shelf.takeCalls() == [])
      context.stalenessInterval = 0
      context.refresh(ada, mergeChanges: false)
      #expect(ada.value(forKey: "name") as? String == "Adele")
      #expect(stack.shelf.takeCalls() == ["values e1"])
    }
  }

  @Test("A request for realized or refreshed objects reads each one")
  func realizedAndRefreshedObjectsAreReadOneByOne() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let request = ShelfStack.request("Employee")
      request.returnsObjectsAsFaults = false
      let employees = try context.fetch(request)
      #expect(employees.allSatisfy { !$0.isFault })
      #expect(stack.shelf.takeCalls().suffix(3) == ["values e1", "values e2", "values e3"])
      stack.shelf.change("e1", "name", to: "Adele")
      _ = try context.fetch(request)
      #expect(stack.shelf.takeCalls() == ["fetch Employee"])
      request.shouldRefreshRefetchedObjects = true
      let refreshed = try context.fetch(request)
      #expect(refreshed[0].value(forKey: "name") as? String == "Adele")
    }
  }

  @Test("An asynchronous fetch calls the store later, on the context's queue, with fetch's result")
  func asynchronousFetchesRunOnTheQueue() async throws {
    let stack = try ShelfStack()
    let context = stack.context()
    /// Executes a request, cancels it on demand, and waits for its result.
    func run(cancelling: Bool = false) async throws -> NSAsynchronousFetchResult<NSManagedObject> {
      try await withCheckedThrowingContinuation { continuation in
        context.perform {
          let request = NSAsynchronousFetchRequest(
            fetchRequest: ShelfStack.request("Employee")
          ) { continuation.resume(returning: $0) }
          do {
            let begun = try context.execute(request)
            #expect(stack.shelf.takeCalls() == [])
            let result = begun as? NSAsynchronousFetchResult<NSManagedObject>
            #expect(result?.finalResult == nil && result?.operationError == nil)
            if cancelling { result?.cancel() }
          } catch {
            continuation.resume(throwing: error)
          }
        }
      }
    }
    context.performAndWait { _ = context.make("Employee", ["name": "Ann"]) }
    let result = try await run()
    context.performAndWait {
      let names = result.finalResult?.map(\.nameValue)
      #expect(names == ["Ada", "Ann", "Ben", "Cleo"] && result.operationError == nil)
      #expect(result.progress?.completedUnitCount == 4)
      #expect(stack.shelf.takeCalls().first == "fetch Employee")
      context.reset()
      stack.shelf.failures["fetch"] = NSError(domain: "shelf", code: 7)
      _ = stack.shelf.takeCalls()
    }
    let failed = try await run()
    context.performAndWait {
      let error = failed.operationError.map { $0 as NSError }
      #expect((error?.domain, error?.code) == ("shelf", 7))
      #expect(failed.finalResult == nil)
      stack.shelf.failures = [:]
      _ = stack.shelf.takeCalls()
    }
    let cancelled = try await run(cancelling: true)
    context.performAndWait {
      let code = cancelled.operationError.map { ($0 as NSError).code }
      #expect(code == CocoaError.Code.userCancelled.rawValue)
      #expect(cancelled.finalResult == nil && stack.shelf.takeCalls() == [])
    }
  }

  @Test("Prefetching is left to the store, and a batch size loads no rows")
  func prefetchesAndBatchesAreLeftToTheStore() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let request = ShelfStack.request("Employee")
      request.relationshipKeyPathsForPrefetching = ["department"]
      _ = try context.fetch(request)
      let calls = stack.shelf.takeCalls()
      #expect(calls.filter { !$0.hasPrefix("register") } == ["fetch Employee department"])
      request.relationshipKeyPathsForPrefetching = nil
      request.fetchBatchSize = 2
      let employees = try context.fetch(request)
      #expect((employees.count, employees.allSatisfy { $0.isFault }) == (3, true))
      #expect(stack.shelf.takeCalls().filter { !$0.hasPrefix("register") } == ["IDs Employee"])
    }
  }

  @Test("Values of every type pass through a node; a value of another type is an error")
  func nodesHaveValuesOfEveryType() throws {
    let model = TestModels.library()
    let (date, uuid, url) = (Date(timeIntervalSinceReferenceDate: 9), UUID(), URL(string: "a:b"))
    let values: [String: Any] = [
      "bool": true, "data": Data([1, 2]), "date": date, "decimal": Decimal(1.5), "double": 2.5,
      "float": Float(0.5), "int16": 7, "int32": NSNumber(value: 8), "int64": Int64(9),
      "string": "text", "uri": url as Any, "uuid": uuid,
    ]
    let shelf = Shelf()
    shelf.items = [
      "a1": Shelf.Item(entity: "Article", values: values),
      "a2": Shelf.Item(entity: "Article", values: ["string": 5]),
    ]
    let stack = try ShelfStack(shelf, model: model)
    let context = stack.context()
    try context.performAndWait {
      let articles = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Article"))
      let article = articles[0]
      #expect(article.value(forKey: "bool") as? Bool == true)
      #expect(article.value(forKey: "data") as? Data == Data([1, 2]))
      #expect(article.value(forKey: "date") as? Date == date)
      #expect(article.value(forKey: "decimal") as? Decimal == Decimal(1.5))
      #expect(article.value(forKey: "double") as? Double == 2.5)
      #expect(article.value(forKey: "float") as? Float == 0.5)
      #expect(article.value(forKey: "int16") as? Int16 == 7)
      #expect(article.value(forKey: "int32") as? Int32 == 8)
      #expect(article.value(forKey: "int64") as? Int64 == 9)
      #expect(article.value(forKey: "string") as? String == "text")
      #expect(article.value(forKey: "uri") as? URL == url)
      #expect(article.value(forKey: "uuid") as? UUID == uuid)
      let error = #expect(throws: NSError.self) {
        try context.existingObject(with: articles[1].objectID)
      }
      #expect(error?.localizedDescription.contains("'string' of 'Article'") == true)
    }
  }

  @Test("Objects are reported when a context registers and releases them")
  func registrationIsReported() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      let employees = try ShelfStack.employees(context)
      _ = employees[0].value(forKey: "department")
      _ = stack.shelf.takeCalls()
    }
    let released = stack.shelf.takeCalls().flatMap { call in
      #expect(call.hasPrefix("unregister "))
      return call.dropFirst("unregister ".count).split(separator: ",")
    }
    #expect(released.sorted() == ["d1", "e1", "e2", "e3"])
  }

  @Test("Objects of a batch are reported, too, but not the rows of object IDs")
  func registrationsAreBalanced() throws {
    let coordinator = try BatchStore.coordinator()
    let store = try #require(coordinator.persistentStores.first as? BatchStore)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.fetchBatchSize = 2
      let batch = try context.fetchBatched(request)
      _ = batch[1]
      #expect(store.registrations == ["a": 1, "b": 1])
    }
    #expect(store.registrations == ["a": 0, "b": 0])
    // Across stores, rows are read for object IDs.
    try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/memory"))
    let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
    ids.resultType = .managedObjectIDResultType
    ids.fetchLimit = 2
    let count = try context.performAndWait { try context.fetch(ids).count }
    #expect(count == 1, "the first has no row")
    #expect(store.registrations == ["a": 0, "b": 0])
  }
}

/// A store of three items that reads the values of a batch together: the first is missing, and the
/// last can't be read.
private final class BatchStore: NSIncrementalStore, @unchecked Sendable {
  static let batchType = NSPersistentStore.StoreType(rawValue: "BatchStore")

  static func coordinator() throws -> NSPersistentStoreCoordinator {
    let (item, name) = (NSEntityDescription(), NSAttributeDescription())
    (item.name, name.name, name.attributeType) = ("Item", "name", .stringAttributeType)
    item.properties = [name]
    let model = NSManagedObjectModel()
    model.entities = [item]
    NSPersistentStoreCoordinator.registerStoreClass(BatchStore.self, type: batchType)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: batchType, at: URL(fileURLWithPath: "/batch"))
    return coordinator
  }

  override class var loadsBatches: Bool { true }

  /// The number of contexts that have registered an object, by its reference object.
  private(set) var registrations: [String: Int] = [:]

  override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    for id in objectIDs { registrations[name(id), default: 0] += 1 }
  }

  override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
    for id in objectIDs { registrations[name(id), default: 0] -= 1 }
  }

  private func name(_ id: NSManagedObjectID) -> String {
    referenceObject(for: id) as? String ?? ""
  }

  override func loadMetadata() throws {
    metadata = [NSStoreUUIDKey: "batch", NSStoreTypeKey: BatchStore.batchType.rawValue]
  }

  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>,
      let entity = fetch.entity, let context
    else { return [Any]() }
    let names = ["a", "b", "c"].prefix(fetch.fetchLimit > 0 ? fetch.fetchLimit : 3)
    let ids = names.map { newObjectID(for: entity, referenceObject: $0) }
    return fetch.resultType == .managedObjectIDResultType ? ids : ids.map(context.object(with:))
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    switch referenceObject(for: objectID) as? String {
    case "a": throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
    case "b":
      return NSIncrementalStoreNode(objectID: objectID, withValues: ["name": "b"], version: 1)
    default: throw NSError(domain: "batch", code: 1)
    }
  }
}
