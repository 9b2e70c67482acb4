import Dispatch
import OpenCoreData
import Synchronization
import Testing

@Suite("API used by programs written for Core Data")
struct CoordinatorCallsTests {
  /// Records the notifications of a coordinator, as `added: Store.sqlite`.
  private final class StoreNotes {
    private(set) var posted: [String] = []
    private var tokens: [any NSObjectProtocol] = []

    init(_ coordinator: NSPersistentStoreCoordinator) {
      nonisolated(unsafe) weak let notes = self
      let center = NotificationCenter.default
      tokens.append(
        center.addObserver(
          forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
        ) { notes?.add($0) })
      tokens.append(
        center.addObserver(
          forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: nil, queue: nil
        ) { note in
          guard let store = note.object as? NSPersistentStore,
            store.persistentStoreCoordinator === coordinator
          else { return }
          notes?.posted.append("will be removed: \(store.url?.lastPathComponent ?? "")")
        })
    }

    /// The stores and ID pairs of the last migration.
    private(set) var changed: [Any] = []

    private func add(_ note: Notification) {
      for key in [NSAddedPersistentStoresKey, NSRemovedPersistentStoresKey] {
        for store in note.userInfo?[key] as? [NSPersistentStore] ?? [] {
          posted.append("\(key): \(store.url?.lastPathComponent ?? "")")
        }
      }
      changed = note.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any] ?? changed
    }

    deinit {
      for token in tokens { NotificationCenter.default.removeObserver(token) }
    }
  }

  @Test("A store that's being replaced by its copy can't be removed")
  func storesBeingReplacedAreNotRemoved() throws {
    let stack = try TestStack(model: TestModels.company())
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: stack.storeURL)
    let codes = Mutex<[Int?]>([])
    let token = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
    ) { note in
      guard note.userInfo?[NSAddedPersistentStoresKey] != nil else { return }
      let error = thrownError { try coordinator.remove(store) }
      codes.withLock { $0.append(error?.code) }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let notes = StoreNotes(coordinator)
    let copy = try coordinator.migratePersistentStore(
      store, to: stack.folder.appendingPathComponent("Moved.sqlite"), type: .sqlite)
    #expect(codes.withLock { $0 } == [NSPersistentStoreOperationError])
    #expect(notes.posted.filter { $0.hasPrefix("removed") } == ["removed: Store.sqlite"])
    #expect(coordinator.persistentStores == [copy])
  }

  @Test("Adding, moving, and removing a store posts notifications")
  func addingMovingAndRemovingStoresPostsNotifications() throws {
    let stack = try TestStack(model: TestModels.company())
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    coordinator.name = "main"
    let notes = StoreNotes(coordinator)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: stack.storeURL)
    #expect(notes.posted == ["added: Store.sqlite"])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let old = try context.performAndWait {
      let object = context.make("Employee")
      try context.save()
      return object.objectID
    }
    let moved = try coordinator.migratePersistentStore(
      store, to: stack.folder.appendingPathComponent("Moved.sqlite"), type: .sqlite)
    #expect(
      notes.posted.dropFirst() == [
        "will be removed: Store.sqlite", "added: Moved.sqlite", "removed: Store.sqlite",
      ])
    #expect(notes.changed.first as? NSPersistentStore === store)
    #expect(notes.changed.dropFirst().first as? NSPersistentStore === moved)
    let pairs = notes.changed.last as? [[NSManagedObjectID]]
    #expect(pairs?.count == 1 && pairs?[0].first == old)
    #expect(pairs?[0].last?.persistentStore === moved)
    #expect(pairs?[0].last?.uriRepresentation() == old.uriRepresentation())
    try coordinator.remove(moved)
    #expect(notes.posted.suffix(2) == ["will be removed: Moved.sqlite", "removed: Moved.sqlite"])
    #expect(throws: NSError.self) { try coordinator.remove(moved) }
    #expect(notes.posted.count == 6 && coordinator.name == "main")
  }

  @Test(
    "A store isn't migrated to the file of another one that's open",
    arguments: [StoreKind.sqlite, .memory])
  func openStoresAreNotReplacedByAMigration(kind: StoreKind) throws {
    let one = try SharedStack(kind, TestModels.company())
    let other = try SharedStack(.sqlite, TestModels.company())
    let (context, user) = (one.context(), other.context())
    for (context, name) in [(context, "mine"), (user, "theirs")] {
      try context.performAndWait {
        _ = context.make("Employee", ["name": name])
        try context.save()
      }
    }
    let store = try #require(one.coordinator.persistentStores.first)
    let error = thrownError {
      try one.coordinator.migratePersistentStore(store, to: other.storeURL, type: .sqlite)
    }
    #expect(error?.code == NSPersistentStoreOperationError)
    #expect(one.coordinator.persistentStores == [store])
    try other.coordinator.remove(#require(other.coordinator.persistentStores.first))
    try one.coordinator.migratePersistentStore(store, to: other.storeURL, type: .sqlite)
    let names = try context.performAndWait {
      context.reset()
      return try context.everyObject(of: "Employee").map { $0.value(forKey: "name") as? String }
    }
    #expect(names == ["mine"])
  }

  @Test(
    "A URL that isn't one of a file is an error, and no file is created at its path",
    arguments: StoreKind.allCases.filter { !$0.isInMemory })
  func storesNeedTheURLOfAFile(kind: StoreKind) throws {
    let stack = try TestStack(model: TestModels.company())
    let path = stack.folder.appendingPathComponent("Other").path
    let url = try #require(URL(string: "https://example.org\(path)"))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    let added = thrownError { try coordinator.addPersistentStore(type: kind.type, at: url) }
    #expect(added?.code == NSPersistentStoreOpenError)
    let store = try coordinator.addPersistentStore(
      type: kind.type, at: stack.folder.appendingPathComponent("Own"))
    let moved = thrownError {
      try coordinator.migratePersistentStore(store, to: url, type: kind.type)
    }
    #expect(moved?.code == NSPersistentStoreOpenError)
    #expect(!coordinator.setURL(url, for: store) && store.url?.lastPathComponent == "Own")
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(coordinator.persistentStores == [store])
  }

  @Test(
    "A store isn't copied, changed, or destroyed by a URL that has its path but isn't one of a file",
    arguments: StoreKind.allCases.filter { !$0.isInMemory })
  func pathsOfOtherURLsAreNotUsed(kind: StoreKind) throws {
    let stack = try TestStack(model: TestModels.company())
    let file = stack.folder.appendingPathComponent("Own")
    let copy = stack.folder.appendingPathComponent("Copy")
    let url = try #require(URL(string: "https://example.org\(file.path)"))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    try coordinator.remove(coordinator.addPersistentStore(type: kind.type, at: file))
    let errors = [
      thrownError {
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: kind.type, at: url)
      },
      thrownError {
        try NSPersistentStoreCoordinator.setMetadata(["a": 1], type: kind.type, at: url)
      },
      thrownError {
        try coordinator.replacePersistentStore(
          at: copy, withPersistentStoreFrom: url, type: kind.type)
      },
      thrownError { try coordinator.destroyPersistentStore(at: url, type: kind.type) },
    ]
    #expect(errors.map { $0?.code } == Array(repeating: NSPersistentStoreOpenError, count: 4))
    #expect(!FileManager.default.fileExists(atPath: copy.path))
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: kind.type, at: file)
    #expect(metadata["a"] == nil)
  }

  @Test("The error for a store in a folder that doesn't exist names the folder, and is Core Data's")
  func missingFolderIsNamed() throws {
    let stack = try TestStack(model: TestModels.company())
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    let folder = stack.folder.appendingPathComponent("none")
    let error = thrownError {
      try coordinator.addPersistentStore(
        type: .sqlite, at: folder.appendingPathComponent("Store.sqlite"))
    }
    #expect(error?.domain == NSCocoaErrorDomain)
    #expect(error?.code == CocoaError.Code.fileWriteUnknown.rawValue)
    #expect(error?.userInfo["reason"] as? String == "Failed to create file; code = 2")
    #expect(
      error?.userInfo[NSFilePathErrorKey] as? String
        == folder.appendingPathComponent("Store.sqlite").path)
    #expect(!FileManager.default.fileExists(atPath: folder.path))
    let message = try #require(error?.localizedDescription)
    #expect(message.hasSuffix("There's no folder \(folder.path): create it first."), "\(message)")
  }

  @Test("The URL and the coordinator of a store can be read while it's moved and removed")
  func storesAreReadWhileTheyAreRemoved() throws {
    for _ in 0..<10 {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModels.company())
      let store = try coordinator.addPersistentStore(
        type: .inMemory, at: URL(fileURLWithPath: "/first"))
      DispatchQueue.concurrentPerform(iterations: 4) { worker in
        for number in 0..<500 {
          if worker == 0 {
            _ = coordinator.setURL(URL(fileURLWithPath: "/store\(number)"), for: store)
          } else {
            #expect(store.url?.path.isEmpty == false)
            #expect(store.persistentStoreCoordinator.map { $0 === coordinator } ?? true)
          }
        }
        if worker == 0 { try? coordinator.remove(store) }
      }
      #expect(store.persistentStoreCoordinator == nil && store.url?.path == "/store499")
    }
  }

  @Test("A coordinator's blocks run in order, nested ones immediately")
  func coordinatorBlocksRunInOrder() async throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModels.company())
    let order = Mutex<[Int]>([])
    // A synchronous function selects the overload without a result.
    func begin() { coordinator.perform { order.withLock { $0.append(1) } } }
    begin()
    let count = coordinator.performAndWait {
      coordinator.performAndWait { order.withLock { $0.append(2) } }
      return order.withLock { $0.count }
    }
    #expect(count == 2)
    let last = await coordinator.perform { order.withLock { $0.last } }
    #expect(last == 2 && order.withLock { $0 } == [1, 2])
    await #expect(throws: CocoaError.self) {
      try await coordinator.perform { throw CocoaError(.fileNoSuchFile) }
    }
  }

  @Test("perform returns the block's value and rethrows its error")
  func performReturnsValuesAndRethrowsErrors() async throws {
    let stack = try SharedStack(.memory, TestModels.company())
    let context = stack.context()
    let isEmpty = await context.perform { !context.hasChanges }
    #expect(isEmpty)
    let container = NSPersistentContainer(name: "Company", managedObjectModel: TestModels.company())
    let counts = await container.performBackgroundTask { $0.insertedObjects.count }
    #expect(counts == 0)
    await #expect(throws: CocoaError.self) {
      try await context.perform(schedule: .enqueued) { throw CocoaError(.fileNoSuchFile) }
    }
  }

  @Test(
    "A request executes in the context whose block is running, and nowhere else",
    arguments: StoreKind.allCases)
  func requestExecutesInTheContextOfTheRunningBlock(kind: StoreKind) throws {
    let stack = try SharedStack(kind, TestModels.company())
    let (one, two) = (stack.context(), NSManagedObjectContext(.privateQueue))
    two.persistentStoreCoordinator = stack.coordinator
    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    try one.performAndWait {
      _ = one.make("Employee", ["name": "e"])
      try one.save()
      let mine = try request.execute()
      #expect(mine.first?.managedObjectContext === one)
      let (others, again) = try two.performAndWait {
        (try request.execute(), try one.performAndWait { try request.execute() })
      }
      #expect(others.first?.managedObjectContext === two && again == mine)
      let last = try request.execute()
      #expect(last == mine)
    }
    #expect(thrownError { _ = try request.execute() }?.code == NSCoreDataError)
    let answer = try stack.coordinator.execute(request, with: two) as? [NSManagedObject]
    #expect(answer?.count == 1)
  }

  @Test("The text of an object ID's URI identifies the object", arguments: StoreKind.allCases)
  func textOfAURIIdentifiesTheObject(kind: StoreKind) throws {
    let stack = try SharedStack(kind, TestModels.company())
    let context = stack.context()
    let id = try context.performAndWait {
      let employee = context.make("Employee", ["name": "e"])
      try context.save()
      return employee.objectID
    }
    let text = id.uriRepresentation().absoluteString
    #expect(stack.coordinator.managedObjectID(for: text) == id)
    let nobody = text.replacing("/Employee/", with: "/Nobody/")
    for other in ["", "x-coredata://", "not a URI", nobody] {
      #expect(stack.coordinator.managedObjectID(for: other) == nil, "\(other)")
    }
  }

  /// A request of the type that Core Data passes to custom stores.
  private final class SaveRequest: NSPersistentStoreRequest {
    override var requestType: NSPersistentStoreRequestType { .saveRequestType }
  }

  @Test("A context and a coordinator reject a save request; the error names save()")
  func executingASaveRequestIsAnError() throws {
    let stack = try SharedStack(.memory, TestModels.company())
    let context = stack.context()
    context.performAndWait {
      _ = context.make("Employee", ["name": "e"])
      for error in [
        thrownError { try context.execute(SaveRequest()) },
        thrownError { _ = try stack.coordinator.execute(SaveRequest(), with: context) },
      ] {
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
        #expect(error?.localizedDescription.contains("save()") == true)
      }
      #expect(context.hasChanges)
    }
  }

  @Test("A copied fetch request keeps its properties, independent of the original")
  func copiedFetchRequestIsIndependent() throws {
    let stack = try SharedStack(.memory, TestModels.company())
    let context = stack.context()
    try context.performAndWait {
      for name in ["a", "b", "c"] { _ = context.make("Employee", ["name": name]) }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
      request.predicate = NSPredicate(format: "name != 'a'")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
      request.fetchLimit = 1
      request.includesSubentities = false
      request.relationshipKeyPathsForPrefetching = ["department"]
      let copy = try #require(request.copy() as? NSFetchRequest<NSManagedObject>)
      request.fetchLimit = 0
      #expect(copy.entityName == "Employee" && copy.fetchLimit == 1 && !copy.includesSubentities)
      #expect(copy.relationshipKeyPathsForPrefetching == ["department"])
      let names = try context.fetch(copy).map { $0.value(forKey: "name") as? String }
      #expect(names == ["c"])
      // Executing a request sets its entity.
      let again = try #require(copy.copy() as? NSFetchRequest<NSManagedObject>)
      #expect(again.entity === copy.entity && again.entityName == "Employee")
    }
  }

  @Test("A copy of a request of any type has its type, its stores, and its properties")
  func requestsOfEveryTypeAreCopied() throws {
    let stack = try SharedStack(.memory, TestModels.company())
    let store = try #require(stack.coordinator.persistentStores.first)
    let context = stack.context()
    try context.performAndWait {
      let employee = context.make("Employee")
      let fetch = NSFetchRequest<NSManagedObject>(entityName: "Employee")
      fetch.fetchLimit = 3
      let asynchronous = NSAsynchronousFetchRequest(fetchRequest: fetch)
      asynchronous.estimatedResultCount = 7
      let save = NSSaveChangesRequest(
        inserted: [employee], updated: nil, deleted: [], locked: nil)
      let requests: [NSPersistentStoreRequest] = [
        NSPersistentStoreRequest(), fetch, asynchronous, save,
        NSBatchUpdateRequest(entityName: "Employee"),
        NSBatchInsertRequest(entityName: "Employee", objects: []),
        NSBatchDeleteRequest(fetchRequest: fetch),
        NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast),
      ]
      for request in requests {
        request.affectedStores = [store]
        let copy = try #require(request.copy() as? NSPersistentStoreRequest)
        #expect(copy !== request && type(of: copy) == type(of: request))
        #expect(copy.affectedStores == [store] && copy.requestType == request.requestType)
      }
      let later = asynchronous.copy() as? NSAsynchronousFetchRequest<NSManagedObject>
      #expect(later?.estimatedResultCount == 7 && later?.fetchRequest.fetchLimit == 3)
      #expect(later?.fetchRequest !== fetch)
      let changes = save.copy() as? NSSaveChangesRequest
      #expect(changes?.insertedObjects == [employee] && changes?.updatedObjects == nil)
      #expect(changes?.deletedObjects?.isEmpty == true)
    }
  }

  @Test("Object IDs, history transactions, changes, and query generations are copied as themselves")
  func immutableValuesAreCopiedAsThemselves() throws {
    let stack = try SharedStack(
      .sqlite, TestModels.company(), options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    try context.performAndWait {
      let employee = context.make("Employee")
      try context.save()
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      let result = try context.execute(request) as? NSPersistentHistoryResult
      let transactions = result?.result as? [NSPersistentHistoryTransaction]
      let transaction = try #require(transactions?.first)
      let change = try #require(transaction.changes?.first)
      let values: [any NSObject & NSCopying] = [
        employee.objectID, transaction, change, NSQueryGenerationToken.current,
      ]
      for value in values {
        let copy = value.copy(with: nil) as? NSObject
        #expect(copy === value)
      }
    }
  }

  @Test(
    "The URI of an object of any entity is converted to its ID", arguments: ["Größe", "A B", "A"])
  func uriOfAnyEntityIsConvertedToItsID(entity name: String) throws {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = [TestModels.attribute("name", .stringAttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let context = try TestStack(.memory, model: model).coldContext()
    try context.performAndWait {
      let object = context.make(name)
      try context.save()
      let id = object.objectID
      let found = context.persistentStoreCoordinator?.managedObjectID(
        forURIRepresentation: id.uriRepresentation())
      #expect(found == id)
    }
  }

  @Test(
    "Options are true as Booleans, numbers, and integers",
    arguments: [StoreKind.sqlite, .xml, .binary])
  func optionsAreTrueAsBooleansAndNumbers(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: TestModels.company())
    let writer = try stack.coldContext()
    try writer.performAndWait {
      _ = writer.make("Employee")
      try writer.save()
    }
    let values: [Any] = [true, 1, NSNumber(value: true), NSNumber(value: 1)]
    for value in values {
      let context = try stack.coldContext(options: [NSReadOnlyPersistentStoreOption: value])
      let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
      #expect(store.isReadOnly, "\(type(of: value))")
    }
  }

  @Test("An empty store identifier is a programmer error")
  func emptyIdentifierStopsTheProcess() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let context = try TestStack(.memory, model: TestModels.company()).coldContext()
      context.persistentStoreCoordinator?.persistentStores.first?.identifier = ""
    }
    #expect(result.message.contains("a store's identifier can't be empty"))
  }
}
