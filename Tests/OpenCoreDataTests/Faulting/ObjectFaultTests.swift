import CoreDataCosts
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Object faults")
struct ObjectFaultTests {
  @Test("S6.01 a plain fetch is one SELECT of whole rows and returns faults", .ofOwnStores)
  func plainFetchIsOneSelectAndReturnsFaults() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(12, countries: 3)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      var moods: [Mood] = []
      let cost = try costs(of: context) { moods = try Mood.fetch(in: context) }
      #expect(cost.selects == 1)
      #expect(cost.rows == 12)
      #expect(cost.faults == 0)
      #expect(moods.count == 12 && moods.allSatisfy(\.isFault))
      #expect(try stack.cachedRows(context) == 12)
      // The staleness interval applies to the time at which a row was read.
      context.stalenessInterval = 60
      #expect(costs(of: context) { _ = moods[0].date }.hits == 1)
      context.stalenessInterval = 0
      #expect(costs(of: context) { _ = moods[1].date }.misses == 1)
      let trace = events.events.prefix(3).sorted { $0.id < $1.id }.map(\.kind)
      #expect(trace == [.storeOpening, .fetch, .statement])
      let sql = try #require(events.statements(.select).first)
      #expect(sql.hasPrefix("SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZCOLORS, t0.ZDATE"))
    }
  }

  @Test(
    "S6.02 firing all after a plain fetch hits the row cache; a second property costs nothing",
    arguments: StoreKind.allCases)
  func faultsHitTheRowCacheAfterAPlainFetch(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(12, countries: 3)
    let context = try stack.coldContext()
    try context.performAndWait {
      let moods = try Mood.fetch(in: context)
      let first = costs(of: context) { for mood in moods { _ = mood.date } }
      #expect(first.faults == 12 && first.hits == 12 && first.misses == 0 && first.selects == 0)
      let second = costs(of: context) { for mood in moods { _ = mood.latitude } }
      #expect(second.faults == 0 && second.selects == 0)
    }
  }

  @Test(
    "S-C42 ten thousand reads miss the row cache, then hit it, then cost nothing",
    arguments: StoreKind.allCases)
  func readsMissThenHitTheRowCacheThenCostNothing(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(10_000, countries: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let moods = try Mood.fetch(in: context) { $0.includesPropertyValues = false }
      func read() -> Costs { costs(of: context) { for mood in moods { _ = mood.date } } }
      let cold = read()
      #expect(cold.misses == 10_000 && cold.hits == 0)
      #expect(cold.selects == stack.statements(10_000) && cold.rows == stack.statements(10_000))
      for mood in moods { context.refresh(mood, mergeChanges: false) }
      let cached = read()
      #expect(cached.hits == 10_000 && cached.misses == 0 && cached.selects == 0)
      let realized = read()
      #expect(realized.faults == 0 && realized.selects == 0 && realized.rows == 0)
    }
  }

  @Test("S6.03 a fetch of realized objects leaves nothing to fire", arguments: StoreKind.allCases)
  func fetchOfRealizedObjectsLeavesNothingToFire(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(12, countries: 3)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let moods = try Mood.fetch(in: context) { $0.returnsObjectsAsFaults = false }
      #expect(moods.count == 12 && moods.allSatisfy { !$0.isFault })
      let cost = costs(of: context) { for mood in moods { _ = mood.date } }
      #expect(cost.selects == 0 && cost.faults == 0)
      #expect(!events.events.contains { $0.kind == .rowCacheHit || $0.kind == .rowCacheMiss })
    }
  }

  @Test(
    "S6.04 after a fetch of object IDs only, each fault takes its own SELECT", .ofOwnStores,
    arguments: StoreKind.allCases)
  func eachFaultTakesASelectAfterAFetchOfObjectIDsOnly(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(12, countries: 3)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      var moods: [Mood] = []
      let fetch = try costs(of: context) {
        moods = try Mood.fetch(in: context) { $0.includesPropertyValues = false }
      }
      #expect(fetch.selects == stack.statements(1) && fetch.rows == stack.statements(12))
      #expect(try stack.cachedRows(context) == 0)
      let read = costs(of: context) { for mood in moods { _ = mood.date } }
      #expect(
        read.selects == stack.statements(12) && read.rows == stack.statements(12)
          && read.misses == 12 && read.hits == 0)
      guard kind.runsSQL else { return }
      #expect(events.statements(.select).first == "SELECT 0, t0.Z_PK FROM ZMOOD t0")
      #expect(try #require(events.statements(.select).last).hasSuffix("WHERE  t0.Z_PK = ?"))
    }
  }

  @Test(
    "S6.05 faults hit the row cache while the IDs fetched with their rows are retained",
    .ofOwnStores,
    arguments: StoreKind.allCases)
  func faultsHitTheRowCacheWhileFetchedIDsAreRetained(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(12, countries: 3)
    let context = try stack.coldContext()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Mood")
      request.resultType = .managedObjectIDResultType
      let ids = try context.fetch(request)
      let moods = try Mood.fetch(in: context) { $0.includesPropertyValues = false }
      let read = costs(of: context) { for mood in moods { _ = mood.date } }
      #expect(ids.count == 12)
      #expect(read.hits == 12 && read.misses == 0 && read.selects == 0)
    }
  }

  @Test("S6.06 faults with cached rows hit, and the others miss", arguments: StoreKind.allCases)
  func onlyFaultsWithCachedRowsHitTheRowCache(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(12, countries: 3)
    let context = try stack.coldContext()
    try context.performAndWait {
      let known = try Mood.fetch(in: context) { request in
        request.predicate = NSPredicate(
          format: "date < %@", Date(timeIntervalSinceReferenceDate: 5 * 60))
      }
      let moods = try Mood.fetch(in: context) { $0.includesPropertyValues = false }
      let read = costs(of: context) { for mood in moods { _ = mood.date } }
      #expect(known.count == 5)
      #expect(read.hits == 5 && read.misses == 7 && read.selects == stack.statements(7))
    }
  }

  @Test(
    "S6.11 a fault reads the row cache first and the database second",
    arguments: [true, false], StoreKind.allCases)
  func faultReadsTheRowCacheFirstAndTheDatabaseSecond(isCached: Bool, kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(1, countries: 1)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let moods = try Mood.fetch(in: context) { $0.includesPropertyValues = isCached }
      let before = events.events.count
      _ = moods[0].date
      let trace = events.events.dropFirst(before).sorted { $0.id < $1.id }
      let expected: [EventKind] =
        isCached ? [.objectFault, .rowCacheHit] : [.objectFault, .rowCacheMiss, .statement]
      // An in-memory store runs no statement.
      #expect(trace.map(\.kind) == expected.filter { kind.runsSQL || $0 != .statement })
      let fault = try #require(trace.first)
      #expect(fault.source == (isCached ? .rowCache : .database))
      #expect(trace.dropFirst().allSatisfy { $0.parent == fault.id })
      #expect(fault.object?.uri == moods[0].objectID.uriRepresentation().absoluteString)
      #expect(try stack.cachedRows(context) == 1)
    }
  }

  @Test(
    "S6.12 a realized object is read without the coordinator",
    arguments: StoreKind.allCases)
  func realizedObjectIsReadWithoutTheCoordinator(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(1, countries: 1)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let mood = try #require(
        try Mood.fetch(in: context) { $0.returnsObjectsAsFaults = false }.first)
      let before = events.events.count
      let cost = costs(of: context) {
        var sum = 0.0
        for _ in 0..<1_000_000 { sum += mood.date.timeIntervalSinceReferenceDate }
        #expect(sum == 0)
      }
      #expect(cost.selects == 0 && cost.faults == 0)
      #expect(events.events.count == before)
    }
  }

  @Test(
    "S6.14 rows stay cached for retained objects and are released with the last",
    arguments: StoreKind.allCases)
  func rowsStayCachedOnlyForRetainedObjects(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(12, countries: 3)
    let context = try stack.coldContext()
    try context.performAndWait {
      var moods = try Mood.fetch(in: context)
      let dropped = moods[11].objectID
      moods.removeLast(8)
      #expect(context.registeredObjects.count == 4)
      #expect(try stack.cachedRows(context) == 4)
      let read = costs(of: context) {
        let mood = context.object(with: dropped)
        _ = mood.value(forKey: "date")
      }
      #expect(read.misses == 1 && read.selects == stack.statements(1))
      moods = []
      #expect(context.registeredObjects.isEmpty)
      #expect(try stack.cachedRows(context) == 0)
    }
  }

  @Test(
    "S6.17 a refreshed object that is retained fires from the row cache",
    arguments: StoreKind.allCases)
  func refreshedObjectFiresFromTheRowCache(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(1, countries: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let mood = try #require(
        try Mood.fetch(in: context) { $0.returnsObjectsAsFaults = false }.first)
      context.refresh(mood, mergeChanges: true)
      #expect(mood.isFault)
      let cost = costs(of: context) { _ = mood.date }
      #expect(cost.hits == 1 && cost.selects == 0)
    }
  }

  @Test("A fault of a deleted row becomes deleted with nil values", arguments: StoreKind.ofRows)
  func faultOfADeletedRowBecomesDeletedWithNilValues(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(1, countries: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let moods = try Mood.fetch(in: context) { $0.includesPropertyValues = false }
      let other = try stack.coldContext()
      try other.performAndWait {
        for mood in try Mood.fetch(in: other) { other.delete(mood) }
        try other.save()
      }
      #expect(moods[0].value(forKey: "date") == nil)
      #expect(moods[0].isDeleted)
    }
  }

  @Test("After a store was removed and added again, faults read it", .ofOwnStores)
  func faultsReadAStoreThatWasAddedAgain() throws {
    let bed = try ContextBed(.sqlite)
    let ids = try bed.addPeople(1)
    let context = bed.context()
    context.performAndWait { #expect(context.object(with: ids[0]).label == "p1") }
    let store = try #require(bed.coordinator.persistentStores.first)
    let url = try #require(store.url)
    try bed.coordinator.remove(store)
    try bed.coordinator.addPersistentStore(type: .sqlite, at: url)
    let uri = ids[0].uriRepresentation()
    let id = try #require(bed.coordinator.managedObjectID(forURIRepresentation: uri))
    context.performAndWait {
      context.reset()
      let person = context.object(with: id)
      #expect(person.label == "p1")
      #expect((person.value(forKey: "team") as? NSManagedObject)?.label == "t")
      #expect(context.faultError == nil)
    }
  }
}

extension TestStack {
  /// The rows in the row cache, after the context has released its unused objects.
  func cachedRows(_ context: NSManagedObjectContext) throws -> Int {
    _ = context.counters
    return try #require(context.coordinator?.firstStore).cachedRowCount
  }
}
