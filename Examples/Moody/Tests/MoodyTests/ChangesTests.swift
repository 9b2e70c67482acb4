import CoreDataCosts
import Moody
import OpenCoreData
import Synchronization
import Testing

@Suite("The sample's ways to change, to watch and to find")
struct ChangesTests {
  @Test("S3.05, S-B03 a failed save is rolled back and says so", arguments: StoreKind.allCases)
  func saveOrRollback(kind: StoreKind) throws {
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

  @Test("S3.06 changes run on the context's queue, then are saved", arguments: StoreKind.allCases)
  func performChanges(kind: StoreKind) throws {
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

  @Test("S3.12, S3.13 an observer hears of its object alone", arguments: StoreKind.allCases)
  func observer(kind: StoreKind) throws {
    let stack = try MoodyStack(kind)
    let context = stack.context()
    try context.performAndWait {
      let moods = (1...3).map { context.mood($0, in: nil) }
      try context.save()
      var heard: [ManagedObjectObserver.ChangeType] = []
      func changes(_ body: () throws -> Void) rethrows -> [ManagedObjectObserver.ChangeType] {
        heard = []
        try body()
        context.processPendingChanges()
        return heard
      }
      var observer = ManagedObjectObserver(object: moods[0]) { heard.append($0) }
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
      let again = try #require(try Mood.fetch(in: context).first)
      observer = ManagedObjectObserver(object: again) { heard.append($0) }
      observer = nil
      #expect(changes { again.latitude = 3 }.isEmpty)
      #expect(ManagedObjectObserver(object: moods[0]) { _ in } == nil)
    }
  }

  @Test(
    "S8.08 one object kept at hand: one SELECT, then none, and its danger",
    arguments: StoreKind.allCases)
  func singleObject(kind: StoreKind) throws {
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
      #expect(try home() === country, "the deleted object is what is at hand")
      reader.set(nil, forSingleObjectCacheKey: "home")
      let absent = try costs(of: reader) {
        for _ in 0..<2 {
          let found = try home()
          #expect(found == nil)
        }
      }
      #expect(absent.fetches == 2, "what doesn't exist is fetched each time")
    }
  }

  @Test(
    "S8.12, S8.13, S-C34 faults are filled by one fetch, in place", arguments: StoreKind.allCases)
  func fetchFaults(kind: StoreKind) throws {
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
      #expect(realized.fetches == 0, "nothing is a fault")
      // Faults with a cached row cost no statement one by one, and one with the fetch.
      context.refreshAllObjects()
      let warm = costs(of: context) { for mood in cold { _ = mood.date } }
      #expect(warm.hits == 10 && warm.selects == 0)
      context.refreshAllObjects()
      let again = try costs(of: context) { try cold.fetchFaults() }
      #expect(again.selects == stack.selects(1))
    }
  }

  @Test(
    "S8.07 what is registered and filled is found without a fetch", arguments: StoreKind.allCases)
  func findOrFetch(kind: StoreKind) throws {
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
      var held: Mood?
      let present = try costs(of: context) {
        held = try find("a")
        for _ in 0..<5 { #expect(try find("a") === held && held != nil) }
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
