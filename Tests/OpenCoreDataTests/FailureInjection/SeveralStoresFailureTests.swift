import FailingFiles
import OpenCoreData
import Testing

@testable import OpenCoreData

@Suite(
  "Failures while several stores are saved, and while faults are read",
  .enabled(if: FailingFiles.isAvailable, "The sanitizers replace the functions."))
struct SeveralStoresFailureTests {
  private static let names = ["First.sqlite", "Second.sqlite"]

  private static func open(_ folder: URL) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModels.company())
    for name in names {
      try coordinator.addPersistentStore(
        type: .sqlite, at: folder.appendingPathComponent(name),
        options: [NSPersistentStoreTimeoutOption: 0.1])
    }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// The names of the employees in each store, as another process would read them.
  private static func content(_ folder: URL) throws -> [[String?]] {
    let context = try open(folder)
    defer { StoreWork.close(context) }
    return try context.performAndWait {
      let stores = try #require(context.persistentStoreCoordinator).persistentStores
      return try stores.map { store in
        try context.fetch(TwoStores.request { $0.affectedStores = [store] }).map(\.nameValue)
      }
    }
  }

  /// Each store has the employees `old` and `gone`.
  private static func create(_ folder: URL) throws {
    let context = try open(folder)
    defer { StoreWork.close(context) }
    try context.performAndWait {
      let stores = try #require(context.persistentStoreCoordinator).persistentStores
      for store in stores {
        for name in ["gone", "old"] {
          context.assign(context.make("Employee", ["name": name]), to: store)
        }
      }
      try context.save()
    }
  }

  /// Inserts, updates, and deletes an employee in each store.
  private static func change(_ context: NSManagedObjectContext) throws {
    let stores = try #require(context.persistentStoreCoordinator).persistentStores
    for store in stores {
      let found = try context.fetch(TwoStores.request { $0.affectedStores = [store] })
      context.delete(found[0])
      found[1].setValue("changed", forKey: "name")
      context.assign(context.make("Employee", ["name": "new"]), to: store)
    }
  }

  private static func sweep(_ fixture: FailureFixture) throws -> FailureSweep<
    NSManagedObjectContext
  > {
    try create(fixture.template)
    return FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
      let context = try open(folder)
      try context.performAndWait { try change(context) }
      return context
    } _: { context in
      try context.performAndWait { try context.save() }
    }
  }

  private static let before: [String?] = ["gone", "old"]
  private static let after: [String?] = ["changed", "new"]

  @Test("A failed save leaves each store old or new, and the next save completes it")
  func failedSaveLeavesEachStoreOldOrNew() throws {
    let fixture = try FailureFixture()
    let sweep = try Self.sweep(fixture)
    let names = try FailureFixture.names(in: sweep.withoutFailure().folder)
    var attempts = 0
    for cause in FailingFiles.Cause.allCases {
      attempts += try sweep.run(cause) { attempt in
        let (name, context) = (attempt.description, attempt.prepared)
        defer { StoreWork.close(context) }
        do {
          if let error = attempt.error {
            FailureFixture.check(error, name)
            let content = try Self.content(attempt.folder)
            #expect(content.allSatisfy { $0 == Self.before || $0 == Self.after }, "\(name)")
            #expect(context.performAndWait { context.hasChanges }, "\(name)")
            try context.performAndWait { try context.save() }
          }
          #expect(!context.hasChanges, "\(name)")
          StoreWork.close(context)
          #expect(try Self.content(attempt.folder) == [Self.after, Self.after], "\(name)")
          #expect(try FailureFixture.names(in: attempt.folder) == names, "\(name)")
          for store in Self.names {
            let findings = try FailureFixture.findings(attempt.folder.appendingPathComponent(store))
            #expect(findings == [], "\(name)")
          }
        } catch {
          Issue.record("\(name): \(error)")
        }
      }
    }
    #expect(attempts >= 2)
  }

  @Test("A statement that fails before a COMMIT succeeds changes no store")
  func failedStatementChangesNoStore() throws {
    let fixture = try FailureFixture()
    let sweep = try Self.sweep(fixture)
    let total = try #require(try sweep.withoutFailure().report.counts[.statement])
    try sweep.run(.statement, limit: .max) { attempt in
      defer { StoreWork.close(attempt.prepared) }
      guard attempt.error != nil else { return }
      let expected = attempt.failure.first < total ? Self.before : Self.after
      let content = try Self.content(attempt.folder)
      #expect(content == [Self.before, expected], "\(attempt.description)")
    }
    withExtendedLifetime(fixture) {}
  }

  @Test("A COMMIT that fails after another has succeeded keeps the changes of its own store")
  func failedCommitKeepsTheChangesOfItsStore() throws {
    let fixture = try FailureFixture()
    let sweep = try Self.sweep(fixture)
    let report = try sweep.withoutFailure().report
    let folder = fixture.scratch.appendingPathComponent("last")
    try FileManager.default.copyItem(at: fixture.template, to: folder)
    let context = try Self.open(folder)
    defer { StoreWork.close(context) }
    let observer = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    observer.persistentStoreCoordinator = context.persistentStoreCoordinator
    observer.automaticallyMergesChangesFromParent = true
    let seen = try observer.performAndWait {
      let seen = try observer.fetch(TwoStores.request())
      for employee in seen { _ = employee.nameValue }
      return seen
    }
    try context.performAndWait {
      try Self.change(context)
      let stores = try #require(context.persistentStoreCoordinator).persistentStores
      func isInFirst(_ object: NSManagedObject) -> Bool {
        object.objectID.persistentStore === stores[0]
      }
      let last = try #require(report.counts[.statement])
      let (result, _) = FailingFiles.run(
        below: FileManager.default.temporaryDirectory, failure: .init(.statement, at: last)
      ) { try context.save() }
      let error = #expect(throws: NSError.self) { try result.get() }
      #expect(error?.userInfo[NSFilePathErrorKey] as? String == stores[0].url?.path)
      let unsaved = (context.insertedObjects, context.updatedObjects, context.deletedObjects)
      #expect(unsaved.0.count == 1 && unsaved.0.allSatisfy { $0.objectID.isTemporaryID })
      #expect(unsaved.1.count == 1 && unsaved.1.allSatisfy(isInFirst))
      #expect(unsaved.2.count == 1 && unsaved.2.allSatisfy(isInFirst))
      #expect(try Self.content(folder) == [Self.before, Self.after])
    }
    observer.performAndWait {
      #expect(seen.map(\.isDeleted) == [false, true, false, false])
      #expect(seen[2...].map(\.nameValue) == ["old", "changed"])
    }
    try context.performAndWait {
      try context.save()
      #expect(!context.hasChanges)
      #expect(try Self.content(folder) == [Self.after, Self.after])
    }
  }

  @Test("A COMMIT that fails after a program's own store was saved keeps the changes of the file")
  func failedCommitKeepsWhatAProgramsStoreHasSaved() throws {
    let fixture = try FailureFixture()
    NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, type: ShelfStore.shelfType)
    func prepare(_ folder: URL) throws -> (context: NSManagedObjectContext, shelf: Shelf) {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModels.company())
      let shelf = Shelf()
      let stores = [
        try coordinator.addPersistentStore(
          type: .sqlite, at: folder.appendingPathComponent("Store.sqlite")),
        try coordinator.addPersistentStore(
          type: ShelfStore.shelfType, at: URL(fileURLWithPath: "/shelf"),
          options: ["shelf": shelf]),
      ]
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      context.performAndWait {
        for store in stores { context.assign(context.make("Employee", ["name": "new"]), to: store) }
      }
      return (context, shelf)
    }
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch, preparing: prepare) {
      made in
      try made.context.performAndWait { try made.context.save() }
    }
    let last = try #require(try sweep.withoutFailure().report.counts[.statement])
    var partial = 0
    try sweep.run(.statement, limit: .max) { attempt in
      let (context, shelf) = attempt.prepared
      defer { StoreWork.close(context) }
      guard attempt.error != nil else { return }
      // Only the COMMIT is after the save of the program's own store.
      let isCommit = attempt.failure.first == last
      partial += isCommit ? 1 : 0
      #expect(shelf.items.count == (isCommit ? 1 : 0), "\(attempt.description)")
      try context.performAndWait {
        #expect(context.insertedObjects.count == (isCommit ? 1 : 2), "\(attempt.description)")
        _ = shelf.takeCalls()
        try context.save()
        let saves = shelf.takeCalls().count { $0.hasPrefix("save") }
        #expect(saves == (isCommit ? 0 : 1), "\(attempt.description)")
        context.reset()
        #expect(try context.count(for: TwoStores.request()) == 2, "\(attempt.description)")
        #expect(shelf.items.count == 1, "\(attempt.description)")
      }
    }
    // Once, and permanently.
    #expect(partial == 2)
  }

  @Test("A fault that can't be read stays a fault, and is read at the next access")
  func unreadableFaultStaysAFault() throws {
    let fixture = try FailureFixture()
    try Self.create(fixture.template)
    let context = try Self.open(fixture.template)
    defer { StoreWork.close(context) }
    try context.performAndWait {
      // The last one in the order of the store, without its row.
      func fault(_ entity: String = "Employee") throws -> NSManagedObject {
        context.reset()
        context.faultError = nil
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.includesPropertyValues = false
        return try #require(try context.fetch(request).last)
      }
      func failing<Value>(_ body: () throws -> Value) -> Result<Value, any Error> {
        FailingFiles.run(
          below: FileManager.default.temporaryDirectory,
          failure: .init(.statement, at: 1, isPermanent: true), body
        ).result
      }
      var employee = try fault()
      #expect(try failing { employee.nameValue }.get() == nil)
      #expect(employee.isFault && !employee.isDeleted && context.faultError != nil)
      #expect(!context.hasChanges)
      #expect(employee.nameValue == "old" && !employee.isFault)

      // What is set while the row can't be read is kept, and saved once it can be.
      employee = try fault()
      let saved = failing {
        employee.setValue("set", forKey: "name")
        try context.save()
      }
      #expect(throws: NSError.self) { try saved.get() }
      #expect(employee.isFault && context.updatedObjects == [employee])
      try context.save()
      #expect(try Self.content(fixture.template).flatMap(\.self).contains("set"))

      // A rollback discards it.
      employee = try fault()
      _ = try failing { employee.setValue("other", forKey: "name") }.get()
      #expect(employee.isFault && context.hasChanges)
      context.rollback()
      #expect(employee.nameValue == "set" && !context.hasChanges)

      // The delete rules of an object that couldn't be read are applied once it can be.
      let new = context.make("Department", ["name": "d"])
      context.assign(new, to: try #require(employee.objectID.persistentStore))
      employee.setValue(new, forKey: "department")
      try context.save()
      let department = try fault("Department")
      let deleted = failing {
        context.delete(department)
        try context.save()
      }
      #expect(throws: NSError.self) { try deleted.get() }
      #expect(context.deletedObjects == [department])
      try context.save()
      #expect(!context.hasChanges)
      employee = try fault()
      #expect(employee.nameValue == "set" && employee.value(forKey: "department") == nil)
    }
  }

  @Test("Delete rules of a relationship that can't be read are applied once it can be")
  func unreadableRelationshipKeepsTheDeleteRule() throws {
    let fixture = try FailureFixture()
    try Self.create(fixture.template)
    let context = try Self.open(fixture.template)
    defer { StoreWork.close(context) }
    try context.performAndWait {
      let employee = try #require(try context.fetch(TwoStores.request()).last)
      let new = context.make("Department", ["name": "d"])
      context.assign(new, to: try #require(employee.objectID.persistentStore))
      employee.setValue(new, forKey: "department")
      try context.save()
      context.reset()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
      request.returnsObjectsAsFaults = false
      let department = try #require(try context.fetch(request).first)
      #expect(!department.isFault)
      let deleted = FailingFiles.run(
        below: FileManager.default.temporaryDirectory,
        failure: .init(.statement, at: 1, isPermanent: true)
      ) {
        context.delete(department)
        try context.save()
      }
      #expect(throws: NSError.self) { try deleted.result.get() }
      #expect(context.deletedObjects == [department])
      try context.save()
      #expect(!context.hasChanges)
      context.reset()
      #expect(
        try context.fetch(TwoStores.request()).allSatisfy {
          $0.value(forKey: "department") == nil
        })
      #expect(try context.count(for: request) == 0)
    }
  }

  @Test("A deny rule whose relationship can't be read fails the save")
  func unreadableRelationshipKeepsTheDenyRule() throws {
    let fixture = try FailureFixture()
    let model = TestModels.company()
    let staff = model.entitiesByName["Department"]?.relationshipsByName["employees"]
    staff?.deleteRule = .denyDeleteRule
    func open() throws -> NSManagedObjectContext {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      try coordinator.addPersistentStore(
        type: .sqlite, at: fixture.template.appendingPathComponent(Self.names[0]))
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    let writer = try open()
    try writer.performAndWait {
      let department = writer.make("Department", ["name": "d"])
      _ = writer.make("Employee", ["name": "e", "department": department])
      try writer.save()
    }
    StoreWork.close(writer)
    let context = try open()
    defer { StoreWork.close(context) }
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
      request.returnsObjectsAsFaults = false
      let department = try #require(try context.fetch(request).first)
      context.delete(department)
      // Only the first statement fails: the row could be deleted.
      let failed = FailingFiles.run(
        below: FileManager.default.temporaryDirectory, failure: .init(.statement, at: 1)
      ) {
        try context.save()
      }
      let unread = #expect(throws: NSError.self) { try failed.result.get() }
      #expect(unread?.code != NSValidationRelationshipDeniedDeleteError)
      let denied = #expect(throws: NSError.self) { try context.save() }
      #expect(denied?.code == NSValidationRelationshipDeniedDeleteError)
      context.rollback()
      #expect(try context.count(for: request) == 1)
    }
  }
}
