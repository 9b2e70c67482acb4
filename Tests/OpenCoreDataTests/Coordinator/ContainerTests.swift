import OpenCoreData
import Synchronization
import Testing

/// A context that can't save, as in a program's own tests.
private final class FailingContext: NSManagedObjectContext, @unchecked Sendable {
  // used only on the context's queue
  private(set) var calls: [String] = []

  override func save(file: String = #fileID, line: Int = #line) throws {
    calls.append("save")
    throw CocoaError(.persistentStoreSave)
  }

  @discardableResult
  override func execute(
    _ request: NSPersistentStoreRequest, file: String = #fileID, line: Int = #line
  ) throws -> NSPersistentStoreResult {
    calls.append("execute")
    return try super.execute(request, file: file, line: line)
  }

  override func delete(_ object: NSManagedObject) {
    calls.append("delete")
    super.delete(object)
  }

  override func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
    calls.append("refresh")
    super.refresh(object, mergeChanges: mergeChanges)
  }

  override func refreshAllObjects() {
    calls.append("refreshAllObjects")
    super.refreshAllObjects()
  }

  override func reset() {
    calls.append("reset")
    super.reset()
  }

  override func rollback() {
    calls.append("rollback")
    super.rollback()
  }
}

/// A container whose contexts can't save.
private final class FailingContainer: NSPersistentContainer, @unchecked Sendable {
  private let failing = FailingContext(concurrencyType: .privateQueueConcurrencyType)

  override var viewContext: NSManagedObjectContext { failing }

  override func newBackgroundContext() -> NSManagedObjectContext {
    let context = FailingContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }
}

@Suite("The container")
struct ContainerTests {
  /// A container with a file that doesn't exist yet.
  private func container(_ stack: TestStack) -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Company", managedObjectModel: stack.model)
    let file = stack.folder.appendingPathComponent("made/here/Company.sqlite")
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
    return container
  }

  @Test("S3.01 the file and its folders are created, and reopened the second time")
  func fileAndFoldersAreCreatedThenReopened() throws {
    let stack = try TestStack(model: TestModels.company())
    for savedCount in 0..<2 {
      let container = container(stack)
      var loaded: [String] = []
      container.loadPersistentStores { description, error in
        loaded.append("\(description.url?.lastPathComponent ?? "") \(error == nil)")
      }
      #expect(loaded == ["Company.sqlite true"])
      let context = container.newBackgroundContext()
      try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        #expect(try context.count(for: request) == savedCount)
        let employee = NSEntityDescription.insertNewObject(
          forEntityName: "Employee", into: context)
        employee.setValue("e", forKey: "name")
        try context.save()
      }
    }
  }

  @Test("S3.02 the completion handler runs once for each described store, with its error")
  func completionHandlerRunsForEachStore() throws {
    let stack = try TestStack(model: TestModels.company())
    let container = container(stack)
    let second = NSPersistentStoreDescription(
      url: stack.folder.appendingPathComponent("second.sqlite"))
    container.persistentStoreDescriptions.append(second)
    let missing = NSPersistentStoreDescription(
      url: stack.folder.appendingPathComponent("none.sqlite"))
    missing.isReadOnly = true
    container.persistentStoreDescriptions.insert(missing, at: 0)
    var results: [(String, Int?)] = []
    container.loadPersistentStores { description, error in
      results.append((description.url?.lastPathComponent ?? "", (error as NSError?)?.code))
    }
    #expect(results.map(\.0) == ["none.sqlite", "Company.sqlite", "second.sqlite"])
    #expect(results.map(\.1) == [CocoaError.Code.fileReadNoSuchFile.rawValue, nil, nil])
    #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
  }

  @Test("Adding a store asynchronously calls back off the main thread")
  func asynchronousAddCallsBackOffTheMainThread() async throws {
    let stack = try TestStack(model: TestModels.company())
    let container = container(stack)
    container.persistentStoreDescriptions[0].shouldAddStoreAsynchronously = true
    let isMain = await withCheckedContinuation { continuation in
      container.loadPersistentStores { _, _ in continuation.resume(returning: Thread.isMainThread) }
    }
    #expect(!isMain)
    let count = try await container.performBackgroundTask { context in
      try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Employee"))
    }
    #expect(count == 0)
  }

  @Test("An in-memory store creates no file")
  func inMemoryStoreCreatesNoFile() throws {
    let stack = try TestStack(model: TestModels.company())
    let container = container(stack)
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    #expect(failure == nil)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
      try context.save()
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: stack.folder.path).isEmpty)
  }

  @Test("An option that a description has as a property sets the property")
  func optionsSetTheirProperties() throws {
    let stack = try TestStack(model: TestModels.company())
    let container = container(stack)
    container.loadPersistentStores { #expect($1 == nil) }
    let description = container.persistentStoreDescriptions[0]
    description.setOption(true as NSNumber, forKey: NSReadOnlyPersistentStoreOption)
    description.setOption(false, forKey: NSMigratePersistentStoresAutomaticallyOption)
    description.setOption(false, forKey: NSInferMappingModelAutomaticallyOption)
    description.setOption(3, forKey: NSPersistentStoreTimeoutOption)
    description.setOption(["cache_size": "100"], forKey: NSSQLitePragmasOption)
    #expect(description.isReadOnly && description.timeout == 3)
    #expect(!description.shouldMigrateStoreAutomatically)
    #expect(!description.shouldInferMappingModelAutomatically)
    #expect(description.sqlitePragmas["cache_size"] as? String == "100")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    coordinator.addPersistentStore(with: description) { #expect($1 == nil) }
    #expect(coordinator.persistentStores.map(\.isReadOnly) == [true])
    description.setOption(nil, forKey: NSReadOnlyPersistentStoreOption)
    description.setOption(nil, forKey: NSMigratePersistentStoresAutomaticallyOption)
    #expect(!description.isReadOnly && description.shouldMigrateStoreAutomatically)
    #expect(description.options[NSReadOnlyPersistentStoreOption] == nil)
  }

  @Test("The options of a description have the values of its properties")
  func optionsHaveTheValuesOfProperties() {
    let description = NSPersistentStoreDescription()
    #expect(
      Set(description.options.keys) == [
        NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
      ])
    #expect(description.timeout == 10)
    description.isReadOnly = true
    description.timeout = 2.5
    description.shouldMigrateStoreAutomatically = false
    description.setValue("100", forPragmaNamed: "cache_size")
    description.setOption(true, forKey: NSInferMappingModelAutomaticallyOption)
    description.shouldInferMappingModelAutomatically = false
    let options = description.options
    #expect(options[NSReadOnlyPersistentStoreOption] as? Bool == true)
    #expect(options[NSPersistentStoreTimeoutOption] as? Double == 2.5)
    #expect(options[NSMigratePersistentStoresAutomaticallyOption] as? Bool == false)
    #expect(options[NSInferMappingModelAutomaticallyOption] as? Bool == false)
    #expect(options[NSSQLitePragmasOption] as? [String: String] == ["cache_size": "100"])
  }

  @Test("A pragma that's removed isn't used, however it was set")
  func removedPragmasAreNotUsed() throws {
    let stack = try TestStack(model: TestModels.company())
    let container = container(stack)
    let description = container.persistentStoreDescriptions[0]
    description.setOption(["cache_size": "100"], forKey: NSSQLitePragmasOption)
    description.setValue(nil, forPragmaNamed: "cache_size")
    container.loadPersistentStores { #expect($1 == nil) }
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    #expect(store.options?[NSSQLitePragmasOption] == nil)
  }

  @Test("A copied description has the properties of the original, and is independent of it")
  func copiedDescriptionIsIndependent() throws {
    let original = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/a/b.sqlite"))
    original.configuration = "Local"
    original.shouldMigrateStoreAutomatically = false
    original.shouldAddStoreAsynchronously = true
    original.setOption(true, forKey: NSPersistentHistoryTrackingKey)
    original.setValue("OFF", forPragmaNamed: "synchronous")
    let copy = try #require(original.copy() as? NSPersistentStoreDescription)
    original.isReadOnly = true
    original.setOption(nil, forKey: NSPersistentHistoryTrackingKey)
    original.setValue("FULL", forPragmaNamed: "synchronous")
    #expect(copy.url == original.url && copy.configuration == "Local" && !copy.isReadOnly)
    #expect(copy.shouldAddStoreAsynchronously && !copy.shouldMigrateStoreAutomatically)
    #expect(copy.options[NSPersistentHistoryTrackingKey] as? Bool == true)
    #expect(copy.sqlitePragmas["synchronous"] as? String == "OFF")
  }

  @Test("Loading again opens only the stores that failed or were removed")
  func loadingAgainOpensTheOtherStores() throws {
    let stack = try TestStack(model: TestModels.company())
    let container = container(stack)
    let memory = NSPersistentStoreDescription()
    memory.type = NSInMemoryStoreType
    let missing = NSPersistentStoreDescription(
      url: stack.folder.appendingPathComponent("second.sqlite"))
    missing.isReadOnly = true
    container.persistentStoreDescriptions += [memory, missing]
    func load() -> [Int?] {
      var codes: [Int?] = []
      container.loadPersistentStores { codes.append(($1 as NSError?)?.code) }
      return codes
    }
    #expect(load() == [nil, nil, CocoaError.Code.fileReadNoSuchFile.rawValue])
    missing.isReadOnly = false
    #expect(load() == [nil])
    #expect(load() == [])
    let coordinator = container.persistentStoreCoordinator
    #expect(coordinator.persistentStores.count == 3)
    try coordinator.remove(#require(coordinator.persistentStores.first))
    #expect(load() == [nil])
    #expect(coordinator.persistentStores.count == 3)
  }

  @Test("Subclasses override the contexts of a container, and a context's saves and requests")
  func contextsOverrideSavesAndRequests() throws {
    let model = TestModels.company()
    let staff = model.entitiesByName["Department"]?.relationshipsByName["employees"]
    staff?.deleteRule = .cascadeDeleteRule
    let container = FailingContainer(name: "Company", managedObjectModel: model)
    let memory = NSPersistentStoreDescription()
    memory.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [memory]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    #expect(container.viewContext is FailingContext)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let employee = context.make("Employee")
      #expect(throws: CocoaError.self) { try context.save() }
      try context.execute(NSFetchRequest<NSManagedObject>(entityName: "Employee"))
      context.refresh(employee, mergeChanges: true)
      context.refreshAllObjects()
      #expect(context.hasChanges)
      let department = context.make("Department")
      let cascaded = context.make("Employee", ["department": department])
      context.delete(department)
      context.processPendingChanges()
      #expect(cascaded.managedObjectContext == nil)
      try deleteInChild(employee)
      #expect(employee.managedObjectContext == nil)
      context.rollback()
      context.reset()
      #expect(!context.hasChanges)
    }
    let calls = (context as? FailingContext)?.calls
    #expect(
      calls == [
        "save", "execute", "refresh", "refreshAllObjects", "delete", "rollback", "reset",
      ])
  }

  /// Deletes an object in a child of its context, and saves the child.
  private func deleteInChild(_ object: NSManagedObject) throws {
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = object.managedObjectContext
    try child.performAndWait {
      child.delete(child.object(with: object.objectID))
      try child.save()
    }
  }

  @Test("A missing model is reported with the searched locations")
  func missingModelIsReportedWithSearchedLocations() async {
    let missing = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = NSPersistentContainer(name: "NoSuchModel")
    }
    #expect(
      missing.message.contains(
        "there's no model 'NoSuchModel' (momd, mom, xcdatamodeld, xcdatamodel) in "))
  }
}
