import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// Corrupt data is an error, `nil`, or empty, and never stops the program.
@Suite("Corrupt rows")
struct DamagedRowTests {
  /// A store with team 1, person 1, robot 2, and gadget 1, corrupted by statements.
  private func corrupt(_ sql: String...) throws -> NSManagedObjectContext {
    let stack = try TestStack(model: WorkshopModel.make())
    let writer = try stack.coldContext()
    try writer.performAndWait {
      let team = writer.make("Team", ["name": "T"])
      let person = writer.make("Person", ["name": "P", "number": Int64(7), "team": team])
      _ = writer.make("Robot", ["name": "R", "boss": person, "team": team])
      _ = writer.make("Gadget", ["name": "G", "owner": person])
      try writer.save()
    }
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    for statement in sql { try connection.execute(statement) }
    connection.close()
    let context = try stack.coldContext()
    context.userInfo["stack"] = stack
    return context
  }

  private func first(_ entity: String, in context: NSManagedObjectContext) throws -> NSManagedObject
  {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    return try #require(try context.fetch(request).first)
  }

  @Test("Values of the wrong type are read as zero, and invalid UTF-8 as replacement characters")
  func valuesOfWrongTypesAreReadAsDefaults() throws {
    let context = try corrupt(
      "UPDATE ZWORKER SET ZNUMBER = 'seven', ZNAME = CAST(X'41FF42' AS TEXT), ZBIRTHDAY = 'x',"
        + " Z_OPT = NULL WHERE Z_PK = 1")
    try context.performAndWait {
      let person = try first("Person", in: context)
      #expect(person.value(forKey: "number") as? Int64 == 0)
      #expect(person.value(forKey: "name") as? String == "A\u{FFFD}B")
      #expect(person.value(forKey: "birthday") as? Date == Date(timeIntervalSinceReferenceDate: 0))
      #expect(!person.description.isEmpty)
      person.setValue("new", forKey: "name")
      try expectError(NSManagedObjectMergeError) { try context.save() }
    }
  }

  @Test("An unmappable row is an error of a fetch, and an empty to-many relationship")
  func unmappableRowFailsFetchesAndEmptiesRelationships() throws {
    let code = CocoaError.Code.fileReadCorruptFile.rawValue
    for damage in ["SET Z_ENT = 99", "SET Z_PK = -5", "SET Z_PK = -9223372036854775808"] {
      let context = try corrupt("UPDATE ZWORKER \(damage) WHERE Z_PK = 2")
      try context.performAndWait {
        try expectError(code) { _ = try first("Worker", in: context) }
        let team = try first("Team", in: context)
        #expect((team.value(forKey: "members") as? Set<NSManagedObject>) == [])
        #expect(context.faultError?.code == code)
      }
    }
  }

  @Test(
    "A dangling reference is nil or a deleted object",
    arguments: [
      (key: "77", isNil: false), (key: "-3", isNil: true), (key: "0", isNil: true),
      (key: "-9223372036854775808", isNil: true), (key: "'x'", isNil: true),
    ])
  func danglingReferenceIsNilOrADeletedObject(key: String, isNil: Bool) throws {
    let context = try corrupt("UPDATE ZGADGET SET ZOWNER = \(key)")
    try context.performAndWait {
      let owner = try first("Gadget", in: context).value(forKey: "owner") as? NSManagedObject
      #expect((owner == nil) == isNil)
      if let owner {
        #expect(owner.value(forKey: "name") == nil && owner.isDeleted)
        #expect(!context.hasChanges)
        owner.setValue("x", forKey: "name")
        try context.save()
        #expect(!context.hasChanges)
      }
    }
  }

  @Test("A fault of another entity than its row's reads no values and is deleted")
  func faultOfAnotherEntityReadsNoValues() throws {
    // The reference's entity ID is Person's, but its destination is a robot.
    let context = try corrupt(
      "UPDATE ZWORKER SET ZBOSS = 2, Z\(try number("Worker"))_BOSS = \(try number("Person"))"
        + " WHERE Z_PK = 1")
    try context.performAndWait {
      let person = try first("Person", in: context)
      let boss = try #require(person.value(forKey: "boss") as? NSManagedObject)
      #expect(boss.entity.name == "Person" && boss.value(forKey: "birthday") == nil)
      #expect(boss.isDeleted)
      let robot = try first("Robot", in: context)
      #expect(robot !== boss && robot.value(forKey: "name") as? String == "R")
      #expect(boss.managedObjectContext == nil)
    }
  }

  @Test("A child's fault of another entity than its row's is replaced by the fetched object")
  func childFaultOfAnotherEntityIsReplaced() throws {
    let parent = try corrupt()
    let robotID = try parent.performAndWait { try first("Robot", in: parent).objectID }
    let uri = robotID.uriRepresentation().absoluteString
      .replacingOccurrences(of: "/Robot/", with: "/Person/")
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    try child.performAndWait {
      let coordinator = try #require(parent.persistentStoreCoordinator)
      let url = try #require(URL(string: uri))
      let id = try #require(coordinator.managedObjectID(forURIRepresentation: url))
      let fault = child.object(with: id)
      #expect(fault.entity.name == "Person")
      let request = NSFetchRequest<NSManagedObject>(entityName: "Robot")
      request.returnsObjectsAsFaults = false
      let robot = try #require(try child.fetch(request).first)
      #expect(robot !== fault && robot.entity.name == "Robot")
      #expect(robot.value(forKey: "name") as? String == "R")
      #expect(fault.managedObjectContext == nil && fault.value(forKey: "birthday") == nil)
    }
  }

  @Test("A cached row of another entity than the object's is the conflict of a missing row")
  func cachedRowOfAnotherEntityIsAConflict() throws {
    let context = try corrupt()
    let stack = try #require(context.userInfo["stack"] as? TestStack)
    let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    other.persistentStoreCoordinator = context.persistentStoreCoordinator
    try context.performAndWait {
      let person = try first("Person", in: context)
      person.setValue("new", forKey: "name")
      let connection = try Connection(path: stack.storeURL.path, access: .writing)
      try connection.execute(
        "UPDATE ZWORKER SET Z_ENT = \(try number("Robot")), Z_OPT = 9 WHERE Z_PK = 1")
      connection.close()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Robot")
      let robots = try other.performAndWait { try other.fetch(request) }
      #expect(robots.count == 2)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectMergeError)
      let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
      let conflict = try #require(conflicts?.first)
      #expect(conflict.newVersionNumber == 0 && conflict.persistedSnapshot == nil)
      #expect(conflict.cachedSnapshot?["name"] as? String == "P")
      #expect(person.value(forKey: "name") as? String == "new")
    }
  }

  @Test("The row cache doesn't replace a row that was read by a newer one of another entity")
  func rowCacheReturnsNoRowOfAnotherEntity() throws {
    let context = try corrupt()
    try context.performAndWait {
      let person = try first("Person", in: context).layout
      let robot = try first("Robot", in: context).layout
      var people = RowBuilder(layout: person)
      var robots = RowBuilder(layout: robot)
      let root = person.rootIndex
      let cache = RowCache(rootCount: root + 1)
      let newer = cache.addOwner(
        robots.finish(version: 2), rootIndex: root, key: 1, commit: 9, timestamp: 0)
      let read = cache.install(
        people.finish(version: 1), rootIndex: root, key: 1, commit: 5, timestamp: 0)
      #expect(newer.layoutIndex == robot.index && read.layoutIndex == person.index)
      newer.release()
      read.release()
    }
  }

  @Test("A corrupt model cache and a file that isn't a database are open errors")
  func corruptFilesAreOpenErrors() throws {
    let stack = try TestStack(model: WorkshopModel.make())
    _ = try stack.coldContext()
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    try connection.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = X'00112233'")
    var metadata = try StoreMetadata(reading: connection)
    metadata.values[StoreMetadata.digestFormulaKey] = nil
    let plist = try PropertyListSerialization.data(
      fromPropertyList: metadata.values, format: .binary, options: 0)
    _ = try connection.values("UPDATE Z_METADATA SET Z_PLIST = ?", [.blob([UInt8](plist))])
    connection.close()
    try expectError(NSPersistentStoreOpenError) { _ = try stack.coldContext() }
    try Data("nothing of the kind".utf8).write(to: stack.storeURL)
    try expectError(CocoaError.Code.fileReadCorruptFile.rawValue) { _ = try stack.coldContext() }
  }

  private func number(_ entity: String) throws -> Int {
    let mapping = SQLModel(model: WorkshopModel.make())
    return try #require(mapping.entities.first { $0.name == entity }).number
  }

  private func expectError(_ code: Int, _ body: () throws -> Void) throws {
    do {
      try body()
      Issue.record("nothing was thrown")
    } catch let error as NSError {
      #expect(error.code == code, "\(error)")
    }
  }
}
