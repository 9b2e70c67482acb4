import CoreDataCosts
import Moody
import OpenCoreData
import Synchronization
import Testing

@Suite("Saving, observing, and finding objects")
struct ChangesTests {
  @Test(
    "S3.05, S-B03 saveOrRollback() rolls back a failed save and returns false",
    arguments: StoreKind.allCases)
  func failedSaveIsRolledBack(kind: StoreKind) throws {
    let stack = try MoodyStack(kind)
    let context = stack.context()
    try context.performAndWait {
      let mood: Mood = context.insertObject()
      mood.date = Date()
      mood.setValue(nil, forKey: "colors")
      #expect(!context.saveOrRollback())
      #expect(!context.hasChanges && mood.managedObjectContext == nil)
      let before = try Mood.count(in: context)
      context.mood(1, in: nil)
      #expect(context.saveOrRollback())
      let after = try Mood.count(in: context)
      #expect(before == 0 && after == 1)
    }
  }

  @Test(
    "S3.06 performChanges(_:) runs the block on the context's queue, then saves",
    arguments: StoreKind.allCases)
  func changesRunOnTheQueueAndAreSaved(kind: StoreKind) throws {
    let stack = try MoodyStack(kind)
    let context = stack.context()
    let steps = Mutex<[String]>([])
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { _ in steps.withLock { $0.append("saved") } }
    defer { NotificationCenter.default.removeObserver(observer) }
    context.performChanges {
      steps.withLock { $0.append("changed on the main thread: \(Thread.isMainThread)") }
      context.mood(1, in: nil)
    }
    context.performAndWait { #expect(!context.hasChanges) }
    #expect(steps.withLock { $0 } == ["changed on the main thread: false", "saved"])
    let other = stack.context()
    let saved = try other.performAndWait { try Mood.count(in: other) }
    #expect(saved == 1)
  }

  @Test(
    "S3.12, S3.13 an observer reports only changes of its object", arguments: StoreKind.allCases)
  func observerReportsOnlyChangesOfItsObject(kind: StoreKind) throws {
    let stack = try MoodyStack(kind)
    let context = stack.context()
    try context.performAndWait {
      let moods = (1...3).map { context.mood($0, in: nil) }
      try context.save()
      var received: [ManagedObjectObserver.ChangeType] = []
      func changes(_ body: () throws -> Void) rethrows -> [ManagedObjectObserver.ChangeType] {
        received = []
        try body()
        context.processPendingChanges()
        return received
      }
      var observer = ManagedObjectObserver(object: moods[0]) { received.append($0) }
      #expect(observer != nil)
      #expect(changes { moods[1].latitude = 1 }.isEmpty)
      #expect(changes { moods[0].latitude = 1 } == [.update])
      #expect(changes { context.refresh(moods[0], mergeChanges: false) } == [.update])
      #expect(
        changes {
          moods[0].latitude = 2
          context.delete(moods[0])
        } == [.delete])
      context.rollback()
      #expect(changes { context.reset() } == [.delete])
      let refetched = try #require(try Mood.fetch(in: context).first)
      observer = ManagedObjectObserver(object: refetched) { received.append($0) }
      observer = nil
      #expect(changes { refetched.latitude = 3 }.isEmpty)
      #expect(ManagedObjectObserver(object: moods[0]) { _ in } == nil)
    }
  }

  @Test(
    "S8.08 a cached single object takes one SELECT, and may be stale",
    arguments: StoreKind.allCases)
  func cachedSingleObjectIsFetchedOnce(kind: StoreKind) throws {
    let stack = try MoodyStack(kind)
    let context = stack.context()
    try context.performAndWait {
      _ = try context.country(250)
      try context.save()
    }
    let reader = stack.context()
    try reader.performAndWait {
      func home() throws -> Country? {
        try Country.fetchSingleObject(in: reader, cacheKey: "home") {
          $0.predicate = NSPredicate(format: "numericISO3166Code == 250")
        }
      }
      let cost = try costs(of: reader) {
        for _ in 0..<1_000 {
          let found = try home()
          #expect(found?.numericISO3166Code == 250)
        }
      }
      #expect(cost.fetches == 1 && cost.selects == stack.selects(1))
      let country = try #require(try home())
      let continent = country.continent
      reader.delete(country)
      continent.map(reader.delete)
      try reader.save()
      #expect(try home() === country, "the cache still contains the deleted object")
      reader.set(nil, forSingleObjectCacheKey: "home")
      let absent = try costs(of: reader) {
        for _ in 0..<2 {
          let found = try home()
          #expect(found == nil)
        }
      }
      #expect(absent.fetches == 2, "a missing object is fetched each time")
    }
  }

  @Test(
    "S8.12, S8.13, S-C34 fetchFaults() fulfills all faults with one fetch",
    arguments: StoreKind.allCases)
  func oneFetchFulfillsAllFaults(kind: StoreKind) throws {
    let stack = try MoodyStack(kind)
    let writer = stack.context()
    try writer.performAndWait {
      let country = try writer.country(250)
      for minute in 1...10 { writer.mood(minute, in: country) }
      try writer.save()
      writer.reset()
    }
    let context = stack.context()
    try context.performAndWait {
      func moods() throws -> [Mood] {
        try Mood.fetch(in: context) { $0.includesPropertyValues = false }
      }
      let cold = try moods()
      let first = try costs(of: context) {
        try cold.fetchFaults()
        #expect(cold.allSatisfy { !$0.isFault })
        for mood in cold { _ = mood.date }
      }
      #expect(first.fetches == 1 && first.selects == stack.selects(1) && first.faults == 0)
      let realized = try costs(of: context) {
        try cold.fetchFaults()
        try [Mood]().fetchFaults()
      }
      #expect(realized.fetches == 0, "no object is a fault")
      // Faults with cached rows run no statement when they fire, but the fetch runs one.
      context.refreshAllObjects()
      let warm = costs(of: context) { for mood in cold { _ = mood.date } }
      #expect(warm.hits == 10 && warm.selects == 0)
      context.refreshAllObjects()
      let refetched = try costs(of: context) { try cold.fetchFaults() }
      #expect(refetched.selects == stack.selects(1))
    }
  }

  @Test(
    "S8.07 registered, realized objects are found without a fetch", arguments: StoreKind.allCases)
  func registeredObjectIsFoundWithoutAFetch(kind: StoreKind) throws {
    let stack = try MoodyStack(kind)
    let writer = stack.context()
    try writer.performAndWait {
      writer.mood(1, in: nil).remoteIdentifier = "a"
      try writer.save()
    }
    let context = stack.context()
    try context.performAndWait {
      func find(_ identifier: String) throws -> Mood? {
        try Mood.findOrFetch(
          in: context, matching: NSPredicate(format: "remoteIdentifier == %@", identifier))
      }
      var mood: Mood?
      let present = try costs(of: context) {
        mood = try find("a")
        for _ in 0..<5 { #expect(try find("a") === mood && mood != nil) }
      }
      #expect(present.fetches == 1 && present.selects == stack.selects(1))
      let absent = try costs(of: context) {
        for _ in 0..<3 {
          let found = try find("b")
          #expect(found == nil)
        }
      }
      #expect(absent.fetches == 3 && absent.selects == stack.selects(3))
    }
  }
}
