import FailingFiles
import Testing

@testable import OpenCoreData

/// Work on an open store that can fail at any point.
struct StoreWork: Sendable, CustomTestStringConvertible {
  let testDescription: String
  var type = NSPersistentStore.StoreType.sqlite
  var policy = NSMergePolicyType.errorMergePolicyType
  /// Makes changes in a context, which the work saves.
  var change: @Sendable (NSManagedObjectContext) throws -> Void = { _ in }
  /// What can fail.
  var run: @Sendable (NSManagedObjectContext) throws -> Void = { try $0.save() }

  // MARK: Stores

  /// Persons with unique names and external data, in cities with derived counts.
  static func model() -> NSManagedObjectModel {
    let model = MigrationScenario.version(1)
    model.entitiesByName["Person"]?.uniquenessConstraints = [["name"]]
    return model
  }

  var fileName: String { type == .sqlite ? "Store.sqlite" : "Store.document" }

  /// Creates the store that the work begins with: three persons with external data, and two cities.
  func create(in folder: URL) throws {
    let context = try open(folder)
    try context.performAndWait {
      let cities = ["London", "Paris"].map { context.make("City", ["name": $0]) }
      for (index, name) in ["Ada", "Bo", "Cy"].enumerated() {
        let person = context.make("Person", ["name": name, "age": 30 + index, "home": cities[0]])
        person.setValue(NSOrderedSet(array: Array(cities.prefix(index))), forKey: "visited")
        for key in ["photo", "scan"] {
          person.setValue(Data(repeating: UInt8(index), count: 110_000), forKey: key)
        }
      }
      try context.save()
    }
    Self.close(context)
  }

  /// Opens the store, in a context of its own.
  func open(_ folder: URL) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    var options: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 0.1]
    if type == .sqlite { options[NSPersistentHistoryTrackingKey] = true }
    try coordinator.addPersistentStore(
      type: type, at: folder.appendingPathComponent(fileName), options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = NSMergePolicy(merge: policy)
    return context
  }

  /// Returns a sweep in which only the work fails, not opening the store and making the changes.
  func sweep(in fixture: FailureFixture) -> FailureSweep<NSManagedObjectContext> {
    FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
      let context = try open(folder)
      try context.performAndWait { try change(context) }
      return context
    } _: { context in
      try context.performAndWait { try run(context) }
    }
  }

  static func close(_ context: NSManagedObjectContext) {
    context.performAndWait { context.reset() }
    guard let coordinator = context.persistentStoreCoordinator else { return }
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
  }

  /// The content of the store, as another process would read it.
  func content(_ folder: URL) throws -> [String: [String]] {
    let context = try open(folder)
    defer { Self.close(context) }
    // Documents don't have derived values.
    return try OpenCoreDataTests.content(
      of: context, leavingOut: type == .sqlite ? [] : ["residentCount"])
  }

  // MARK: Changes

  private static func named(
    _ name: String, _ context: NSManagedObjectContext, entity: String = "Person"
  ) throws -> NSManagedObject {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = NSPredicate(format: "name == %@", name)
    return try #require(try context.fetch(request).first)
  }

  /// Inserts, updates, and deletes, with external data and both kinds of relationships.
  private static let everyChange: @Sendable (NSManagedObjectContext) throws -> Void = { context in
    let paris = try named("Paris", context, entity: "City")
    let new = context.make("Person", ["name": "Di", "age": 40, "home": paris])
    new.setValue(Data(repeating: 9, count: 120_000), forKey: "photo")
    new.setValue(NSOrderedSet(array: [paris]), forKey: "visited")
    let ada = try named("Ada", context)
    ada.setValue(Data(repeating: 8, count: 130_000), forKey: "photo")
    ada.setValue(nil, forKey: "scan")
    ada.setValue("a note", forKey: "note")
    let cy = try named("Cy", context)
    cy.setValue(paris, forKey: "home")
    let visited = try #require(cy.value(forKey: "visited") as? NSOrderedSet).array
    cy.setValue(NSOrderedSet(array: visited.reversed()), forKey: "visited")
    context.delete(try named("Bo", context))
  }

  static let saves: [StoreWork] = [
    StoreWork(testDescription: "save", change: everyChange),
    StoreWork(testDescription: "save to XML", type: .xml, change: everyChange),
    StoreWork(testDescription: "save to a binary document", type: .binary, change: everyChange),
    StoreWork(
      testDescription: "save of a duplicate that wins",
      policy: .mergeByPropertyObjectTrumpMergePolicyType,
      change: { context in
        let duplicate = context.make("Person", ["name": "Ada", "age": 77])
        duplicate.setValue(Data(repeating: 7, count: 110_000), forKey: "photo")
      }),
    StoreWork(
      testDescription: "save of a duplicate that replaces the stored object",
      policy: .overwriteMergePolicyType,
      change: { context in _ = context.make("Person", ["name": "Ada", "age": 78]) }),
    StoreWork(
      testDescription: "save of exchanged unique values",
      change: { context in
        let (ada, bo) = (try named("Ada", context), try named("Bo", context))
        ada.setValue("Bo", forKey: "name")
        bo.setValue("Ada", forKey: "name")
      }),
    StoreWork(
      testDescription: "save of metadata",
      change: { context in
        let coordinator = try #require(context.persistentStoreCoordinator)
        let store = try #require(coordinator.persistentStores.first)
        coordinator.setMetadata(
          coordinator.metadata(for: store).merging(["key": "value"]) { $1 }, for: store)
        try named("Ada", context).setValue("with metadata", forKey: "note")
      }),
    StoreWork(
      testDescription: "save in a query generation",
      change: { context in
        try context.setQueryGenerationFrom(.current)
        try named("Ada", context).setValue("pinned", forKey: "note")
      }),
  ]

  static let requests: [StoreWork] = [
    StoreWork(testDescription: "batch insert") { context in
      let rows = (1...20).map { ["name": "new \($0)", "age": $0] as [String: Any] }
      _ = try context.execute(NSBatchInsertRequest(entityName: "Person", objects: rows))
    },
    StoreWork(testDescription: "batch update") { context in
      let request = NSBatchUpdateRequest(entityName: "Person")
      request.propertiesToUpdate = ["note": "updated", "age": 1]
      _ = try context.execute(request)
    },
    StoreWork(testDescription: "batch delete") { context in
      let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
      fetch.predicate = NSPredicate(format: "name IN {'Ada', 'Cy'}")
      _ = try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
    },
    StoreWork(testDescription: "deletion of history") { context in
      _ = try context.execute(
        NSPersistentHistoryChangeRequest.deleteHistory(before: .distantFuture))
    },
    StoreWork(testDescription: "reads in query generations") { context in
      defer { context.reset() }
      for _ in 0..<2 {
        try context.setQueryGenerationFrom(.current)
        let persons = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        // The first read pins the context.
        #expect(persons.count == 3 && context.queryGenerationToken != nil)
        for person in persons { _ = try context.existingObject(with: person.objectID) }
      }
      try context.setQueryGenerationFrom(nil)
    },
  ]
}

extension StoreWork {
  /// Creates work that runs a request.
  private init(
    testDescription: String, request: @escaping @Sendable (NSManagedObjectContext) throws -> Void
  ) {
    self.init(testDescription: testDescription, run: request)
  }
}
