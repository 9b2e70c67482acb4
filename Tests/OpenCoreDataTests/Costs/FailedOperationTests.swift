import CoreDataCosts
import OpenCoreData
import SQLiteDriver
import Testing

@Suite("Operations that fail")
struct FailedOperationTests {
  private func execute(_ sql: String, _ stack: TestStack) throws {
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    defer { connection.close() }
    try connection.execute(sql)
  }

  @Test func aFetchFails() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(3, countries: 1)
    let context = try stack.coldContext()
    context.name = "list"
    let (list, observation) = try OperationList.observing(context)
    defer { observation.cancel() }
    try execute("ALTER TABLE ZMOOD RENAME TO ZFEELING", stack)
    #expect(throws: NSError.self) {
      try context.performAndWait { _ = try Mood.fetch(in: context) }
    }
    let failed = try #require(list.take().first)
    #expect(
      failed.outline == "fetch Mood 0 !\(NSSQLiteError) [statement Mood 0 !\(NSSQLiteError)]")
    #expect(failed.failure?.domain == NSCocoaErrorDomain && failed.failure?.resultCode == 1)
    #expect(failed.costs.selects == 1 && failed.costs.fetches == 0 && failed.context == "list")
    try execute("ALTER TABLE ZFEELING RENAME TO ZMOOD", stack)
    #expect(throws: NSError.self) {
      try context.performAndWait {
        _ = try Mood.fetch(in: context) { $0.predicate = NSPredicate { _, _ in true } }
      }
    }
    #expect(list.take().map(\.outline) == ["fetch 0 !\(NSCoreDataError)"])
    // What follows succeeds, and isn't mixed up with what failed.
    try context.performAndWait { _ = try Mood.fetch(in: context) }
    #expect(list.take().map(\.outline) == ["fetch Mood 3 [statement Mood 3]"])
  }

  @Test func aFetchFailsInItsPrefetch() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(3, countries: 1)
    let context = try stack.coldContext()
    let (list, observation) = try OperationList.observing(context)
    defer { observation.cancel() }
    try execute("UPDATE ZREGION SET Z_ENT = 99", stack)
    #expect(throws: NSError.self) {
      try context.performAndWait {
        _ = try Mood.fetch(in: context) { $0.relationshipKeyPathsForPrefetching = ["country"] }
      }
    }
    let failed = try #require(list.take().first)
    #expect(failed.kind == .fetch && failed.entity == "Mood" && failed.failure != nil)
    #expect(failed.operations.map(\.entity) == ["Mood", "Country"])
    #expect(failed.operations.allSatisfy { $0.kind == .statement })
    #expect(failed.costs.selects == 2 && failed.costs.fetches == 0)
  }

  @Test func faultsFail() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(2, countries: 1)
    let context = try stack.coldContext()
    let (list, observation) = try OperationList.observing(context)
    defer { observation.cancel() }
    let mood = try context.performAndWait {
      try #require(try Mood.fetch(in: context).first)
    }
    let country = context.performAndWait { mood.country }
    _ = list.take()
    try execute("ALTER TABLE ZREGION RENAME TO ZPLACE", stack)
    context.performAndWait {
      _ = country?.updatedAt
    }
    #expect(
      list.take().map(\.outline) == [
        "fault Country 0 !\(NSSQLiteError) [statement Country 0 !\(NSSQLiteError)]"
      ])
    try execute("ALTER TABLE ZPLACE RENAME TO ZREGION", stack)
    try execute("ALTER TABLE ZMOOD RENAME TO ZFEELING", stack)
    context.performAndWait { _ = country?.moods.count }
    let operations = list.take()
    #expect(operations.map(\.kind) == [.fault, .relationshipFault])
    #expect(operations.map { $0.failure?.code } == [nil, NSSQLiteError])
  }

  @Test func aSaveFailsInItsValidation() throws {
    let stack = try TestStack.moody()
    let context = try stack.coldContext()
    let (list, observation) = try OperationList.observing(context)
    defer { observation.cancel() }
    #expect(throws: NSError.self) {
      try context.performAndWait {
        _ = Mood(context: context)
        try context.save()
      }
    }
    let failed = try #require(list.take().first)
    #expect(failed.kind == .save && failed.operations.isEmpty && failed.duration > 0)
    #expect(failed.failure?.domain == NSCocoaErrorDomain && failed.failure?.resultCode == nil)
    #expect(failed.costs.saves == 0 && failed.costs.statements == 0)
  }

  @Test func aSaveFailsInAStatementOrBecauseOfAConflict() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(1, countries: 1)
    let context = try stack.coldContext()
    let (list, observation) = try OperationList.observing(context)
    defer { observation.cancel() }
    try execute(
      "CREATE TRIGGER refuse BEFORE UPDATE ON ZMOOD BEGIN SELECT RAISE(ABORT, 'private'); END",
      stack)
    let mood = try context.performAndWait {
      let mood = try #require(try Mood.fetch(in: context).first)
      mood.latitude = 1
      return mood
    }
    _ = list.take()
    func save() {
      #expect(throws: NSError.self) { try context.performAndWait { try context.save() } }
    }
    save()
    let failed = try #require(list.take().first)
    #expect(
      failed.outline
        == "save 0 !\(NSSQLiteError) [transaction 0 !1811 [statement Mood 0 !1811]]")
    #expect(failed.costs.updates == 1 && failed.costs.saves == 0)
    #expect(!"\(failed)".contains("private") && !"\(failed)".contains(stack.folder.path))
    try execute("DROP TRIGGER refuse", stack)
    try execute("UPDATE ZMOOD SET Z_OPT = 7", stack)
    save()
    #expect(
      list.take().map(\.outline) == [
        "save 0 !\(NSManagedObjectMergeError) "
          + "[transaction 0 !\(NSManagedObjectMergeError) [statement Mood 0], statement Mood 1]"
      ])
    try context.performAndWait {
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try context.save()
      #expect(mood.latitude == 1)
    }
    let resolved = try #require(list.take().first)
    #expect(resolved.kind == .save && resolved.failure == nil && resolved.costs.saves == 1)
  }

  @Test func failuresOutsideOfBlocksDoNotPileUp() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(1, countries: 1)
    let context = try stack.coldContext()
    let (list, observation) = try OperationList.observing(context)
    defer { observation.cancel() }
    try execute("ALTER TABLE ZMOOD RENAME TO ZFEELING", stack)
    // As on the main queue, where a context can be used without a block.
    for _ in 0..<1_100 { #expect(throws: NSError.self) { _ = try Mood.fetch(in: context) } }
    try execute("ALTER TABLE ZFEELING RENAME TO ZMOOD", stack)
    _ = list.take()
    for _ in 0..<2 { _ = try Mood.fetch(in: context) }
    let operations = list.take()
    #expect(operations.map(\.costs.selects) == [0, 1] && operations.map(\.rows) == [1, 1])
    #expect(operations.last?.outline == "fetch Mood 1 [statement Mood 1]")
  }

  @Test func aChildFailsWithItsParent() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(1, countries: 1)
    let context = try stack.coldContext()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = context
    let (list, observation) = try OperationList.observing(context)
    defer { observation.cancel() }
    try execute("ALTER TABLE ZMOOD RENAME TO ZFEELING", stack)
    #expect(throws: NSError.self) {
      try child.performAndWait { _ = try Mood.fetch(in: child) }
    }
    #expect(
      list.take().map(\.outline) == [
        "fetch Mood 0 !\(NSSQLiteError) [statement Mood 0 !\(NSSQLiteError)]"
      ])
  }
}
