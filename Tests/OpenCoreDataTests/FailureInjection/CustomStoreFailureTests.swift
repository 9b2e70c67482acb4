import FailingFiles
import OpenCoreData
import Testing

@testable import OpenCoreData

/// An incremental store of employees without departments: a file has their names by reference,
/// which each request reads, and each save replaces.
final class NameFileStore: NSIncrementalStore, @unchecked Sendable {
  static let nameFileType = NSPersistentStore.StoreType(rawValue: "NameFileStore")

  override var type: String { NameFileStore.nameFileType.rawValue }

  override func loadMetadata() throws {
    metadata = [NSStoreUUIDKey: "names", NSStoreTypeKey: type]
  }

  private func readNames() throws -> [String: String] {
    guard let url else { return [:] }
    return try JSONDecoder().decode([String: String].self, from: Data(contentsOf: url))
  }

  private func reference(_ objectID: NSManagedObjectID) -> String {
    "\(referenceObject(for: objectID))"
  }

  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    var names = try readNames()
    switch request {
    case let save as NSSaveChangesRequest:
      for object in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) {
        names[reference(object.objectID)] = object.value(forKey: "name") as? String
      }
      for object in save.deletedObjects ?? [] { names[reference(object.objectID)] = nil }
      guard let url else { return [Any]() }
      try JSONEncoder().encode(names).replaceFile(at: url)
      return [Any]()
    case let fetch as NSFetchRequest<any NSFetchRequestResult>:
      guard let entity = fetch.entity, entity.name == "Employee", let context else {
        return [Any]()
      }
      let ids = names.sorted { $0.value < $1.value }
        .map { newObjectID(for: entity, referenceObject: $0.key) }
      switch fetch.resultType {
      case .countResultType: return [NSNumber(value: ids.count)]
      case .managedObjectIDResultType: return ids
      default: return ids.map { context.object(with: $0) }
      }
    default:
      throw CocoaError(CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError))
    }
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    guard let name = try readNames()[reference(objectID)] else {
      throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
    }
    return NSIncrementalStoreNode(objectID: objectID, withValues: ["name": name], version: 1)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription,
    forObjectWith objectID: NSManagedObjectID, with context: NSManagedObjectContext?
  ) throws -> Any {
    if relationship.isToMany { return [NSManagedObjectID]() }
    return NSNull()
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
  }
}

@Suite(
  "Failures in a program's own stores",
  .enabled(if: FailingFiles.isAvailable, "The sanitizers replace the functions."))
struct CustomStoreFailureTests {
  enum Kind: CaseIterable, Sendable {
    case atomic, incremental
  }

  /// The causes of failures of stores that don't use SQLite.
  private static let causes = FailingFiles.Cause.allCases.filter {
    $0.kinds.isDisjoint(with: [.statement, .allocation])
  }

  private static let before: [String?] = ["Ada", "Ben", "Cleo"]
  private static let after: [String?] = ["Adele", "Cleo", "Dan"]

  private static func open(_ kind: Kind, _ folder: URL) throws -> NSManagedObjectContext {
    NSPersistentStoreCoordinator.registerStoreClass(JSONStore.self, type: JSONStore.jsonType)
    NSPersistentStoreCoordinator.registerStoreClass(
      NameFileStore.self, type: NameFileStore.nameFileType)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModels.company())
    try coordinator.addPersistentStore(
      type: kind == .atomic ? JSONStore.jsonType : NameFileStore.nameFileType,
      at: folder.appendingPathComponent("Store.json"))
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func create(_ kind: Kind, _ folder: URL) throws {
    if kind == .incremental {
      try Data("{}".utf8).write(to: folder.appendingPathComponent("Store.json"))
    }
    let context = try open(kind, folder)
    defer { StoreWork.close(context) }
    try context.performAndWait {
      for name in before { _ = context.make("Employee", ["name": name ?? ""]) }
      try context.save()
    }
  }

  /// The names of all employees, as another process would read them.
  private static func names(_ kind: Kind, _ folder: URL) throws -> [String?] {
    let context = try open(kind, folder)
    defer { StoreWork.close(context) }
    return try context.performAndWait {
      try context.fetch(ShelfStack.request("Employee")).map { employee in
        try context.existingObject(with: employee.objectID).value(forKey: "name") as? String
      }
    }
  }

  private static func check(_ error: any Error, _ attempt: String) {
    let error = error as NSError
    let message = error.localizedDescription
    #expect(error.code > 0 && !error.domain.isEmpty && !message.isEmpty, "\(attempt): \(error)")
  }

  @Test(
    "A failed save of a program's own store keeps the changes, which the next save writes",
    arguments: Kind.allCases)
  func failedSaveKeepsItsChanges(kind: Kind) throws {
    let fixture = try FailureFixture()
    try Self.create(kind, fixture.template)
    #expect(try Self.names(kind, fixture.template) == Self.before)
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) {
      (folder: URL) throws -> NSManagedObjectContext in
      let context = try Self.open(kind, folder)
      try context.performAndWait {
        let employees = try context.fetch(ShelfStack.request("Employee"))
        employees[0].setValue("Adele", forKey: "name")
        context.delete(employees[1])
        _ = context.make("Employee", ["name": "Dan"])
        context.processPendingChanges()
      }
      return context
    } _: { (context: NSManagedObjectContext) in
      try context.performAndWait { try context.save() }
    }
    var attempts = 0
    for cause in Self.causes {
      attempts += try sweep.run(cause) { attempt in
        let (name, context) = ("\(kind), \(attempt.description)", attempt.prepared)
        defer { StoreWork.close(context) }
        do {
          if let error = attempt.error {
            Self.check(error, name)
            #expect(context.performAndWait { context.hasChanges }, "\(name)")
            let found = try Self.names(kind, attempt.folder)
            #expect(found == Self.before || found == Self.after, "\(name)")
            // The store has replaced the file, and threw afterward.
            if found == Self.after { return }
            try context.performAndWait { try context.save() }
          }
          #expect(context.performAndWait { !context.hasChanges }, "\(name)")
          #expect(try Self.names(kind, attempt.folder) == Self.after, "\(name)")
        } catch {
          Issue.record("\(name): \(error)")
        }
      }
    }
    #expect(attempts >= 2)
  }

  @Test(
    "A program's own store that can't be read isn't added, or a fetch or a fault fails",
    arguments: Kind.allCases)
  func failedReadsAreErrors(kind: Kind) throws {
    let fixture = try FailureFixture()
    try Self.create(kind, fixture.template)
    var names: [String?] = []
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
      names = try Self.names(kind, folder)
    }
    // Each one, because there are few.
    for cause in Self.causes {
      try sweep.run(cause, limit: .max) { attempt in
        let name = "\(kind), \(attempt.description)"
        if let error = attempt.error {
          Self.check(error, name)
        } else {
          #expect(names == Self.before, "\(name)")
        }
        let found = try Self.names(kind, attempt.folder)
        #expect(found == Self.before, "\(name)")
      }
    }
  }

  @Test("An atomic store whose file can't be examined keeps its UUID, or isn't added")
  func unreadableStoreKeepsItsUUIDOrIsNotAdded() throws {
    let fixture = try FailureFixture()
    try Self.create(.atomic, fixture.template)
    func identifier(_ folder: URL) throws -> String? {
      let context = try Self.open(.atomic, folder)
      defer { StoreWork.close(context) }
      return context.persistentStoreCoordinator?.persistentStores.first?.identifier
    }
    let known = try identifier(fixture.template)
    var found: String?
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
      found = try identifier(folder)
    }
    let attempts = try sweep.run(.inputOutput, failing: [.status], limit: .max) { attempt in
      #expect(attempt.error != nil || found == known, "\(attempt.description)")
    }
    #expect(attempts > 2)
  }
}
