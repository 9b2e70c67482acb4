import CoreDataCosts
import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("Incremental stores: reported statements and round trips")
struct StatementReportTests {
  @Test(
    "Each call of a store that reports nothing is a round trip, except those about registration")
  func callsAreRoundTrips() throws {
    let stack = try ShelfStack()
    let context = stack.context()
    try context.performAndWait {
      var employees: [NSManagedObject] = []
      let fetch = try costs(of: context) { employees = try ShelfStack.employees(context) }
      #expect((fetch.fetches, fetch.selects, fetch.roundTrips) == (1, 0, 1))
      let fault = costs(of: context) { _ = employees[0].value(forKey: "name") }
      #expect((fault.misses, fault.roundTrips) == (1, 1))
      let hit = costs(of: context) { _ = employees[0].value(forKey: "name") }
      #expect(hit.roundTrips == 0)
      let save = try costs(of: context) {
        let new = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
        new.setValue("Dan", forKey: "name")
        try context.save()
      }
      // The IDs of new objects, and the request.
      #expect((save.saves, save.roundTrips) == (1, 2))
    }
  }

  @Test(
    "Reported statements and prefetches are counted for the context, without and with an observer")
  func reportsAreCounted() throws {
    let coordinator = try ReportingStore.coordinator()
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    var own: Costs?
    let observed = try costs(of: coordinator) {
      own = try costs(of: context) {
        try ReportingStore.work(in: context)
      }
    }
    let counted = try #require(own)
    #expect(counted == observed)
    #expect((counted.fetches, counted.prefetches, counted.saves) == (1, 1, 1))
    #expect((counted.selects, counted.rows, counted.inserts) == (3, 4, 1))
    #expect((counted.transactions, counted.misses) == (1, 1))
    // Two for the fetch, one each for the prefetch and the fault, three for the save, five without
    // a statement.
    #expect(counted.roundTrips == 12)
  }

  @Test(
    "The log has reported statements with their fetch or fault, and values only on request",
    arguments: [false, true])
  func reportsAreLogged(showsBinds: Bool) throws {
    let lines = LineList()
    let coordinator = try ReportingStore.coordinator {
      $0.eventHub.add(SQLDebugLog(level: 2, showsBinds: showsBinds) { lines.add($0) })
    }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try ReportingStore.work(in: context)
    let sql = lines.lines.compactMap { line in
      line.hasPrefix("CoreData: sql: ") ? String(line.dropFirst(15)) : nil
    }
    #expect(
      sql == [
        "SELECT version", "SELECT * FROM employee WHERE age > ?",
        "SELECT * FROM department", "SELECT * FROM employee WHERE id = ?", "BEGIN",
        "INSERT INTO employee", "COMMIT",
      ])
    let value = showsBinds ? "7" : "<private>"
    #expect(lines.lines.contains("CoreData: details: SQLite bind[0] = \(value)"))
    #expect(lines.lines.contains { $0.contains("fault fulfilled from database for") })
    #expect(lines.lines.contains { $0.contains("Prefetching with key 'department'") })
  }

  @Test("A transaction that is rolled back isn't counted")
  func rolledBackTransactionsAreNotCounted() throws {
    let coordinator = try ReportingStore.coordinator()
    let store = try #require(coordinator.persistentStores.first as? ReportingStore)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    store.rollsBack = true
    let saved = costs(of: context) {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
      #expect(throws: (any Error).self) { try context.save() }
    }
    #expect((saved.transactions, saved.inserts, saved.roundTrips) == (0, 1, 3))
  }
}

/// A store of two employees, e1 and e2, that reports statements it doesn't run.
private final class ReportingStore: NSIncrementalStore, @unchecked Sendable {
  // used by one thread
  var rollsBack = false

  override class var reportsStatements: Bool { true }

  static func coordinator(
    _ prepare: (NSPersistentStoreCoordinator) -> Void = { _ in }
  ) throws -> NSPersistentStoreCoordinator {
    let type = NSPersistentStore.StoreType(rawValue: "ReportingStore")
    NSPersistentStoreCoordinator.registerStoreClass(ReportingStore.self, type: type)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModels.company())
    prepare(coordinator)
    try coordinator.addPersistentStore(type: type, at: URL(fileURLWithPath: "/reporting"))
    return coordinator
  }

  /// Fetches, fires a fault, and saves a new object.
  static func work(in context: NSManagedObjectContext) throws {
    try context.performAndWait {
      let employees = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee"))
      _ = employees[0].value(forKey: "name")
      _ = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
      try context.save()
    }
  }

  override func loadMetadata() throws {
    metadata = [NSStoreUUIDKey: "reporting", NSStoreTypeKey: type]
    report(ReportedStatement(.other, sql: "SELECT version"))
  }

  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>,
      let entity = fetch.entity, let context
    else { return try save() }
    var statement = ReportedStatement(.select, sql: "SELECT * FROM employee WHERE age > ?")
    statement.values = ["7"]
    statement.rows = 2
    statement.roundTrips = 2
    report(statement)
    if let department = entity.relationshipsByName["department"] {
      reportPrefetch(of: department) {
        var statement = ReportedStatement(.select, sql: "SELECT * FROM department")
        statement.rows = 1
        report(statement)
        return []
      }
      reportPrefetch(of: department) { nil }
    }
    return ["e1", "e2"].map {
      context.object(with: newObjectID(for: entity, referenceObject: $0))
    }
  }

  private func save() throws -> Any {
    report(ReportedStatement(.begin, sql: "BEGIN"))
    report(ReportedStatement(.insert, sql: "INSERT INTO employee"))
    report(
      ReportedStatement(rollsBack ? .rollBack : .commit, sql: rollsBack ? "ROLLBACK" : "COMMIT"))
    if rollsBack { throw CocoaError(.fileWriteUnknown) }
    reportRoundTrips(5)
    return [Any]()
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    var statement = ReportedStatement(.select, sql: "SELECT * FROM employee WHERE id = ?")
    statement.rows = 1
    report(statement)
    return NSIncrementalStoreNode(
      objectID: objectID, withValues: ["name": "Ada", "department": NSNull()], version: 1)
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
  }
}
