import CoreDataCosts
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Fetching")
struct FetchTests {
  @Test("A fetch of a class throws for an object that was inserted as one of another class")
  func fetchOfAClassChecksTheClassesOfInsertedObjects() throws {
    let stack = try TestStack.moody()
    let context = try stack.coldContext()
    try context.performAndWait {
      let entity = try #require(stack.model.entitiesByName["Mood"])
      let object = NSManagedObject(entity: entity, insertInto: context)
      #expect(throws: NSError.self) { _ = try Mood.fetch(in: context) }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
      #expect(try context.fetch(request) == [object])
      context.delete(object)
      context.processPendingChanges()
      let mood = Mood(context: context)
      #expect(try Mood.fetch(in: context) == [mood])
    }
  }

  @Test(
    "S6.24 an ID fetch caches whole rows and creates no objects", .ofOwnStores,
    arguments: StoreKind.allCases)
  func idFetchCachesRowsAndCreatesNoObjects(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(12, countries: 3)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Mood")
      request.resultType = .managedObjectIDResultType
      var ids: [NSManagedObjectID] = []
      let cost = try costs(of: context) { ids = try context.fetch(request) }
      #expect(cost.selects == stack.statements(1) && cost.rows == stack.statements(12))
      #expect(ids.count == 12)
      #expect(context.registeredObjects.isEmpty)
      #expect(try stack.cachedRows(context) == 12)
      let texts = events.statements(.select).filter { $0.contains("t0.ZDATE") }
      #expect(texts.count == stack.statements(1))
      ids = []
      #expect(try stack.cachedRows(context) == 0)
    }
  }

  @Test(
    "S6.25 an ID fetch without values loads only IDs and caches nothing", .ofOwnStores,
    arguments: StoreKind.allCases)
  func idFetchWithoutValuesCachesNothing(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(12, countries: 3)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Mood")
      request.resultType = .managedObjectIDResultType
      request.includesPropertyValues = false
      var ids: [NSManagedObjectID] = []
      let cost = try costs(of: context) { ids = try context.fetch(request) }
      #expect(cost.selects == stack.statements(1) && ids.count == 12)
      #expect(events.statements(.select) == stack.texts("SELECT 0, t0.Z_PK FROM ZMOOD t0"))
      #expect(try stack.cachedRows(context) == 0)
    }
  }

  @Test(
    "S6.27 a count is one SELECT COUNT; counting a fetch loads everything", .ofOwnStores,
    arguments: StoreKind.allCases)
  func countIsOneSelectAndCreatesNoObjects(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(12, countries: 3)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      var count = 0
      let one = stack.statements(1)
      let counting = try costs(of: context) { count = try Mood.count(in: context) }
      #expect(count == 12 && counting.selects == one && counting.rows == one)
      let request = NSFetchRequest<NSNumber>(entityName: "Mood")
      request.resultType = .countResultType
      let fetching = try costs(of: context) { count = try context.fetch(request)[0].intValue }
      #expect(count == 12 && fetching.selects == one && fetching.rows == one)
      #expect(
        events.statements(.select)
          == stack.texts("SELECT COUNT(*) FROM ZMOOD", "SELECT COUNT(*) FROM ZMOOD"))
      #expect(context.registeredObjects.isEmpty)
      #expect(try stack.cachedRows(context) == 0)
      let fetched = try Mood.fetch(in: context)
      #expect(fetched.count == 12 && context.registeredObjects.count == 12)
      #expect(try stack.cachedRows(context) == 12)
    }
  }

  @Test(
    "S-C45 without a sort descriptor, the plan determines the order", .ofOwnStores,
    arguments: StoreKind.allCases)
  func queryPlanDeterminesTheOrderOfUnsortedFetches(kind: StoreKind) throws {
    let model = SavingModels.items()
    let item = try #require(model.entitiesByName["Item"])
    let key = try #require(item.attributesByName["a"])
    item.indexes = [
      NSFetchIndexDescription(
        name: "byA",
        elements: [NSFetchIndexElementDescription(property: key, collationType: .binary)])
    ]
    let stack = try GraphStack(kind, model: model)
    /// The values that a new context fetches.
    func values(_ format: String?, sorted: Bool = false) throws -> [Int32] {
      let context = try stack.context()
      return try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = format.map { NSPredicate(format: $0) }
        if sorted { request.sortDescriptors = [NSSortDescriptor(key: "a", ascending: true)] }
        var found: [NSManagedObject] = []
        let cost = try costs(of: context) { found = try context.fetch(request) }
        #expect(cost.selects == stack.statements(1) && cost.faults == 0)
        return found.compactMap { $0.value(forKey: "a") as? Int32 }
      }
    }
    let writer = try stack.context()
    try writer.performAndWait {
      for value in [3, 1, 2] { _ = writer.make("Item", ["a": Int32(value)]) }
      try writer.save()
    }
    #expect(try values(nil) == [3, 1, 2])
    #expect(try values("a > 0") == (kind.runsSQL ? [1, 2, 3] : [3, 1, 2]))
    try writer.performAndWait {
      let first = try #require(try writer.all("Item", by: "a").first)
      writer.delete(first)
      _ = writer.make("Item", ["a": Int32(0)])
      try writer.save()
    }
    if kind == .sqlite {
      let connection = try Connection(path: stack.storeURL.path, access: .writing)
      try connection.execute("VACUUM")
      connection.close()
    }
    for format in [nil, "a >= 0", "a < 9"] {
      #expect(try values(format, sorted: true) == [0, 2, 3])
    }
  }

  @Test(
    "S6.30 S6.32 S6.33 a batched fetch loads object IDs, then one batch at a time", .ofOwnStores,
    arguments: StoreKind.allCases)
  func batchedFetchLoadsObjectIDsThenBatches(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(110, countries: 3)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let request = Mood.sortedFetchRequest
      request.fetchBatchSize = 20
      request.returnsObjectsAsFaults = false
      request.predicate = NSPredicate(
        format: "date >= %@", Date(timeIntervalSinceReferenceDate: 0))
      var moods: BatchedFetchResult<Mood>?
      let execute = try costs(of: context) { moods = try context.fetchBatched(request) }
      let result = try #require(moods)
      #expect(execute.selects == stack.statements(1) && result.count == 110)
      #expect(context.registeredObjects.isEmpty)
      #expect(try stack.cachedRows(context) == 0)
      #expect(
        events.statements(.select)
          == stack.texts(
            "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZDATE >= ? ORDER BY t0.ZDATE DESC"))

      let first = costs(of: context) { for index in 0..<20 { _ = result[index].date } }
      #expect(first.faults == 0)
      #expect(first.selects == stack.statements(1) && first.rows == stack.statements(20))
      let page = "WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)   LIMIT 20"
      #expect(
        events.statements(.select).filter { $0.hasSuffix(page) }.count == stack.statements(1))
      #expect(costs(of: context) { _ = result[20].date }.selects == stack.statements(1))

      let whole = costs(of: context) { for mood in result { _ = mood.date } }
      #expect(whole.selects == stack.statements(4) && whole.rows == stack.statements(20 * 3 + 10))
      #expect(context.peakRegisteredCount(ofEntity: "Mood") == 100)
      let dates = result.map(\.date)
      #expect(dates == dates.sorted(by: >))
    }
  }

  @Test(
    "S6.33 iterating over all batches costs 1 + ceil(N / B) SELECTs",
    arguments: [(100, 20), (101, 20)],
    StoreKind.allCases)
  func iteratingOverBatchesCostsOneSelectEach(
    batch: (count: Int, size: Int), kind: StoreKind
  ) throws {
    let (count, size) = batch
    let stack = try TestStack.moody(kind)
    try stack.addMoods(count, countries: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let cost = try costs(of: context) {
        let request = Mood.sortedFetchRequest
        request.fetchBatchSize = size
        for mood in try context.fetchBatched(request) { _ = mood.objectID }
      }
      #expect(cost.selects == stack.statements(1 + (count + size - 1) / size))
    }
  }

  @Test(
    "S6.44 registeredObject(for:) never runs a statement",
    arguments: StoreKind.allCases)
  func registeredObjectRunsNoStatement(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(2, countries: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Mood")
      request.resultType = .managedObjectIDResultType
      let ids = try context.fetch(request)
      let cost = costs(of: context) {
        #expect(context.registeredObject(for: ids[0]) == nil)
        let object = context.object(with: ids[0])
        #expect(context.registeredObject(for: ids[0]) === object)
      }
      #expect(cost.selects == 0 && cost.faults == 0)
    }
  }

  @Test(
    "S6.46 existingObject(with:) costs nothing, one SELECT, or one SELECT and an error",
    .ofOwnStores,
    arguments: StoreKind.ofRows)
  func existingObjectReadsTheStoreOnlyIfNeeded(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(2, countries: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let moods = try Mood.fetch(in: context) {
        $0.returnsObjectsAsFaults = false
        $0.fetchLimit = 1
      }
      let registered = costs(of: context) {
        #expect((try? context.existingObject(with: moods[0].objectID)) === moods[0])
      }
      #expect(registered.selects == 0)
      let store = try #require(context.persistentStoreCoordinator)
      let uuid = try #require(moods[0].objectID.persistentStore?.identifier)
      func id(_ key: Int) throws -> NSManagedObjectID {
        let url = try #require(URL(string: "x-coredata://\(uuid)/Mood/p\(key)"))
        return try #require(store.managedObjectID(forURIRepresentation: url))
      }
      let other = try id(moods[0].objectID == id(1) ? 2 : 1)
      #expect(
        try costs(of: context) { _ = try context.existingObject(with: other) }.selects
          == stack.statements(1))
      let bogus = try id(999)
      let missing = costs(of: context) {
        do {
          _ = try context.existingObject(with: bogus)
          Issue.record("an object without a row was found")
        } catch let error as NSError {
          #expect(error.domain == NSCocoaErrorDomain)
          #expect(error.code == NSManagedObjectReferentialIntegrityError)
        }
      }
      #expect(missing.selects == stack.statements(1))
    }
  }

  @Test(
    "S6.47 the context retains only changed objects",
    arguments: StoreKind.allCases)
  func contextRetainsOnlyChangedObjects(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(12, countries: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      _ = try Mood.fetch(in: context)
      #expect(context.registeredObjects.isEmpty)
      var moods = try Mood.fetch(in: context)
      for mood in moods.prefix(3) { mood.latitude = 1 }
      moods = []
      #expect(context.registeredObjects.count == 3)
      try context.save()
      #expect(context.registeredObjects.isEmpty)
      for mood in try Mood.fetch(in: context).prefix(4) { mood.latitude = 2 }
      #expect(context.registeredObjects.count == 4)
      context.rollback()
      #expect(context.registeredObjects.isEmpty)
    }
  }

  @Test(
    "S6.30 S6.33 100,000 objects in batches of 20 cost 1 SELECT, and 5,001 to iterate", .ofOwnStores
  )
  func iteratingOverAHundredThousandObjectsCosts5001Selects() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(1, countries: 1)
    try stack.multiplyMoods(to: 100_000)
    let context = try stack.coldContext()
    try context.performAndWait {
      let request = Mood.sortedFetchRequest
      request.fetchBatchSize = 20
      var moods: BatchedFetchResult<Mood>?
      let execute = try costs(of: context) { moods = try context.fetchBatched(request) }
      #expect(execute.selects == 1 && execute.rows == 100_000 && execute.faults == 0)
      var count = 0
      let counting = costs(of: context) { count = moods?.count ?? 0 }
      #expect(count == 100_000 && counting.selects == 0)
      #expect(context.registeredObjects.isEmpty)
      #expect(try stack.cachedRows(context) == 0)
      let result = try #require(moods)
      let walk = costs(of: context) { for mood in result { _ = mood.objectID } }
      #expect(execute.selects + walk.selects == 5_001 && walk.rows == 100_000)
      #expect(context.peakRegisteredCount(ofEntity: "Mood") == 100)
    }
  }

  @Test(
    "S6.07, S-C09, S-C10 unsaved changes are merged into a fetch, in order, unless excluded",
    arguments: StoreKind.allCases)
  func unsavedChangesAreMergedInOrder(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(3, countries: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let early = NSPredicate(format: "date < %@", Date(timeIntervalSinceReferenceDate: 100))
      let all = try context.fetch(Mood.sortedFetchRequest)
      context.delete(all[2])
      all[1].date = Date(timeIntervalSinceReferenceDate: 500)
      all[0].date = Date(timeIntervalSinceReferenceDate: 50)
      let new = Mood(context: context)
      new.date = Date(timeIntervalSinceReferenceDate: 70)
      func fetch(_ pending: Bool) throws -> [Mood] {
        try Mood.fetch(in: context) { request in
          request.predicate = early
          request.sortDescriptors = Mood.order
          request.includesPendingChanges = pending
        }
      }
      var merged: [Mood] = []
      let cost = try costs(of: context) { merged = try fetch(true) }
      #expect(cost.selects == stack.statements(1) && merged == [new, all[0]])
      #expect(try fetch(false) == [all[1], all[2]])
      #expect(try Mood.count(in: context) { $0.predicate = early } == 2)
    }
  }

  @Test(
    "An invalid request throws an NSError with the next step",
    arguments: [
      ("Moods", nil, "no entity 'Moods'"), ("Mood", "country.iso3166Code == 1", "iso3166Code"),
    ], StoreKind.allCases)
  func invalidRequestsThrowDescriptiveErrors(
    request: (entity: String, predicate: String?, message: String), kind: StoreKind
  ) throws {
    let (entity, predicate, message) = request
    let stack = try TestStack.moody(kind)
    let context = try stack.coldContext()
    context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.predicate = predicate.map { NSPredicate(format: $0) }
      do {
        _ = try context.fetch(request)
        Issue.record("the fetch succeeded")
      } catch let error as NSError {
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.localizedDescription.contains(message))
      }
    }
  }
}
