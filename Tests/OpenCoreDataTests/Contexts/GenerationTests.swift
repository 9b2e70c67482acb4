import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Synchronization
import Testing

@testable import OpenCoreData

@Suite("Query generations")
struct GenerationTests {
  /// Three people, a context that can be pinned, and a writer.
  private struct Pair {
    let bed: ContextBed
    let ids: [NSManagedObjectID]
    let pinned: NSManagedObjectContext
    let writer: NSManagedObjectContext

    init(_ kind: StoreKind, pins: Bool = true) throws {
      bed = try ContextBed(kind)
      ids = try bed.addPeople(3)
      pinned = bed.context()
      writer = bed.context()
      if pins { try pinned.performAndWait { try pinned.setQueryGenerationFrom(.current) } }
    }

    func write(_ change: (NSManagedObjectContext) -> Void) throws -> Notification? {
      let saved = NoteList(writer, .NSManagedObjectContextDidSave)
      try writer.performAndWait {
        change(writer)
        try writer.save()
      }
      return saved.notes.last
    }

    func insert() throws -> Notification? {
      try write { _ = $0.make("Person", ["name": "new", "number": Int64(99)]) }
    }

    func count() throws -> Int {
      try pinned.performAndWait { try pinned.people().count }
    }
  }

  @Test(
    "S11-15, S11-16, S11-17 a pinned context sees other saves only after a merge",
    arguments: StoreKind.allCases)
  func pinnedContextSeesOtherSavesOnlyAfterAMerge(_ kind: StoreKind) throws {
    for pins in [false, true] {
      let pair = try Pair(kind, pins: pins)
      #expect(try pair.count() == 3)
      let note = try #require(try pair.insert())
      #expect(try pair.count() == (pins ? 3 : 4))
      pair.pinned.performAndWait { pair.pinned.mergeChanges(fromContextDidSave: note) }
      #expect(try pair.count() == 4)
      _ = try pair.insert()
      #expect(try pair.count() == (pins ? 4 : 5))
    }
  }

  @Test(
    "S11-18, S11-19 a pinned fault reads the row as of the generation",
    arguments: StoreKind.allCases, [true, false])
  func pinnedFaultReadsTheRowOfItsGeneration(_ kind: StoreKind, isCached: Bool) throws {
    let pair = try Pair(kind)
    let pinned = pair.pinned
    let people = try pinned.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.includesPropertyValues = isCached
      request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
      return try pinned.fetch(request)
    }
    _ = try pair.write { writer in
      writer.object(with: pair.ids[0]).label = "changed"
      writer.delete(writer.object(with: pair.ids[1]))
    }
    try pinned.performAndWait {
      let before = pinned.counters
      #expect(people.map(\.label) == ["p1", "p2", "p3"])
      let cost = pinned.counters - before
      // Cached rows are kept for the generation; others are read from its snapshot.
      #expect(cost.selects == (isCached ? 0 : pair.bed.selects(3)))
      let team = people[0].value(forKey: "team") as? NSManagedObject
      #expect((team?.value(forKey: "members") as? Set<NSManagedObject>)?.count == 3)
      for person in people { pinned.refresh(person, mergeChanges: false) }
      #expect(people.map(\.label) == ["p1", "p2", "p3"])
      try pinned.setQueryGenerationFrom(nil)
      for person in people { pinned.refresh(person, mergeChanges: false) }
      #expect(people.map(\.label) == ["changed", nil, "p3"])
    }
  }

  @Test(
    "S11-20, S11-21 a save advances a pinned context to the latest generation",
    arguments: StoreKind.allCases)
  func saveAdvancesAPinnedContext(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let pinned = pair.pinned
    let gone = try pinned.performAndWait {
      _ = try pinned.people()
      return pinned.object(with: pair.ids[1])
    }
    _ = try pair.write { writer in
      writer.delete(writer.object(with: pair.ids[1]))
      _ = writer.make("Person", ["name": "theirs", "number": Int64(50)])
    }
    try pinned.performAndWait {
      _ = pinned.make("Person", ["name": "mine", "number": Int64(60)])
      try pinned.save()
      #expect(gone.isFault && gone.label == nil && gone.isDeleted)
      let names = try pinned.people().map(\.label)
      #expect(names == ["p1", "p3", "theirs", "mine"])
    }
  }

  @Test("Tokens share their snapshot, which is released with the last one")
  func tokensShareASnapshotReleasedWithTheLastOne() throws {
    let pair = try Pair(.sqlite)
    let (pinned, other) = (pair.pinned, pair.bed.context())
    #expect(try pair.count() == 3)
    let store = try #require(pair.bed.store)
    try pinned.performAndWait {
      let token = try #require(pinned.queryGenerationToken)
      #expect(token != .current && !token.generations.isEmpty)
      try other.performAndWait {
        try other.setQueryGenerationFrom(token)
        #expect(other.queryGenerationToken == token)
      }
    }
    _ = try pair.insert()
    let seen = try other.performAndWait { try other.people().count }
    #expect(seen == 3 && store.liveGenerationCount == 1)
    let third = pair.bed.context()
    try third.performAndWait {
      try third.setQueryGenerationFrom(.current)
      #expect(third.queryGenerationToken == .current)
      let count = try third.people().count
      #expect(count == 4)
    }
    #expect(store.liveGenerationCount == 2)
    try pinned.performAndWait { try pinned.setQueryGenerationFrom(.unpinned) }
    #expect(store.liveGenerationCount == 2)
    try other.performAndWait { try other.setQueryGenerationFrom(nil) }
    third.performAndWait { third.reset() }
    #expect(store.liveGenerationCount == 0)
    // No snapshot blocks a checkpoint of the WAL.
    let sqlite = try #require(store as? SQLiteStore)
    let result = try sqlite.pool.withWriter {
      try $0.values("PRAGMA wal_checkpoint(TRUNCATE)", [])
    }
    #expect(result.first?.first == .integer(0))
  }

  @Test(
    "A child reads its parent's generation and can't be pinned itself",
    arguments: StoreKind.allCases)
  func childReadsItsParentsGenerationAndCannotBePinned(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let child = pair.bed.child(of: pair.pinned)
    #expect(try pair.count() == 3)
    _ = try pair.insert()
    try child.performAndWait {
      let count = try child.people().count
      #expect(count == 3 && child.queryGenerationToken == nil)
      let names = NSFetchRequest<NSDictionary>(entityName: "Person")
      names.resultType = .dictionaryResultType
      names.propertiesToFetch = ["name"]
      let dictionaries = try child.fetch(names)
      #expect(dictionaries.count == 3)
      #expect(throws: NSError.self) { try child.setQueryGenerationFrom(.current) }
    }
    let stranger = try ContextBed(kind).context()
    pair.pinned.performAndWait {
      let token = pair.pinned.queryGenerationToken
      #expect(throws: NSError.self) { try stranger.setQueryGenerationFrom(token) }
    }
  }

  @Test(
    "S11-22, S11-23, S11-24 a fault of a deleted row has nil values or stops the process",
    arguments: StoreKind.allCases)
  func faultOfADeletedRowHasNilValuesOrStopsTheProcess(_ kind: StoreKind) async throws {
    let pair = try Pair(kind, pins: false)
    let reader = pair.pinned
    let fault = reader.performAndWait { reader.object(with: pair.ids[0]) }
    _ = try pair.write { $0.delete($0.object(with: pair.ids[0])) }
    try reader.performAndWait {
      #expect(fault.label == nil && fault.number == nil && fault.isDeleted)
      #expect(fault.value(forKey: "team") == nil)
      #expect((fault.value(forKey: "minions") as? Set<NSManagedObject>)?.isEmpty == true)
      reader.object(with: pair.ids[1]).label = "changed"
      // The deleted object isn't validated or written.
      try reader.save()
    }
    let refused = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let pair = try Pair(.memory, pins: false)
      let reader = pair.pinned
      let fault = reader.performAndWait { reader.object(with: pair.ids[0]) }
      _ = try pair.write { $0.delete($0.object(with: pair.ids[0])) }
      reader.performAndWait {
        reader.shouldDeleteInaccessibleFaults = false
        _ = fault.label
      }
    }
    #expect(refused.message.contains("its row no longer exists"))
  }

  @Test("A failed fetch doesn't advance a pinned context", arguments: StoreKind.allCases)
  func failedFetchDoesNotAdvanceAPinnedContext(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    #expect(try pair.count() == 3)
    _ = try pair.write { writer in
      writer.object(with: pair.ids[0]).label = "changed"
      _ = writer.make("Person", ["name": "new"])
    }
    pair.pinned.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: "nothing == 1")
      #expect(throws: NSError.self) { try pair.pinned.fetch(request) }
    }
    let names = try pair.pinned.performAndWait { try pair.pinned.people().map(\.label) }
    #expect(names == ["p1", "p2", "p3"])
    try pair.pinned.performAndWait { try pair.pinned.setQueryGenerationFrom(nil) }
    #expect(try pair.count() == 4)
  }

  @Test("Rows of a generation are released with their objects", arguments: StoreKind.allCases)
  func rowsOfAGenerationAreReleasedWithTheirObjects(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    #expect(try pair.count() == 3)
    _ = try pair.write { writer in
      for id in pair.ids { writer.object(with: id).label = "changed" }
    }
    let (pinned, writer) = (pair.pinned, pair.writer)
    let found = try pinned.performAndWait { try pinned.people().map(\.label) }
    #expect(found == ["p1", "p2", "p3"])
    pinned.performAndWait { #expect(pinned.registeredCount == 0) }
    writer.performAndWait { #expect(writer.registeredCount == 0) }
    let store = try #require(pair.bed.store)
    #expect(store.withShared { $0.rows.ownerCount } == 0)
    let token = pinned.performAndWait { pinned.queryGenerationToken }
    let kept = try #require(token?.generations.first?.rows)
    #expect(kept.rows.isEmpty && kept.links.isEmpty)
  }

  @Test("A context that is pinned to the newest generation sees what another coordinator has saved")
  func newestGenerationIncludesCommitsOfOtherCoordinators() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(1)
    let other = bed.context(try bed.secondCoordinator())
    let (pinned, later) = (bed.context(), bed.context())
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    try pinned.performAndWait {
      try pinned.setQueryGenerationFrom(.current)
      let count = try pinned.count(for: request)
      #expect(count == 1)
    }
    try other.performAndWait {
      _ = other.make("Person", ["name": "new", "number": Int64(2)])
      try other.save()
    }
    try later.performAndWait {
      try later.setQueryGenerationFrom(.current)
      let count = try later.count(for: request)
      #expect(count == 2)
    }
    try pinned.performAndWait {
      let count = try pinned.count(for: request)
      #expect(count == 1)
    }
    #expect(pinned.queryGenerationToken != later.queryGenerationToken)
  }

  @Test("A fetch of a pinned context replaces cached rows that are older than its generation")
  func fetchReplacesRowsOlderThanTheGeneration() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(1)
    let (pinned, foreign) = (bed.context(), bed.context(try bed.secondCoordinator()))
    try pinned.performAndWait {
      try pinned.setQueryGenerationFrom(.current)
      let person = try #require(try pinned.people().first)
      #expect(person.label == "p1")
      try foreign.performAndWait {
        let theirs = try #require(try foreign.people().first)
        theirs.label = "theirs"
        try foreign.save()
      }
      let old = try pinned.people()
      #expect(old.map(\.label) == ["p1"])
      pinned.refreshAllObjects()
      let changed = try pinned.people()
      #expect(changed.map(\.label) == ["theirs"])
      let update = NSBatchUpdateRequest(entityName: "Person")
      update.propertiesToUpdate = ["name": "updated"]
      try pinned.execute(update)
      pinned.refreshAllObjects()
      let updated = try pinned.people()
      #expect(updated.map(\.label) == ["updated"])
      update.propertiesToUpdate = ["name": "again"]
      try pinned.execute(update)
      pinned.refreshAllObjects()
      _ = try pinned.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
      // A save after the generation doesn't make its rows older than the cached ones.
      let writer = bed.context()
      try writer.performAndWait {
        _ = writer.make("Team", ["name": "u", "serial": Int64(9)])
        try writer.save()
      }
      let again = try pinned.people()
      #expect(again.map(\.label) == ["again"])
      person.label = "mine"
      try pinned.save()
    }
  }

  @Test("A pinned context doesn't read a newer row that another context has cached")
  func newerCachedRowsAreNotRead() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(1)
    let (pinned, reader) = (bed.context(), bed.context())
    let foreign = bed.context(try bed.secondCoordinator())
    try pinned.performAndWait {
      try pinned.setQueryGenerationFrom(.current)
      let count = try pinned.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
      #expect(count == 1)
    }
    try foreign.performAndWait {
      let theirs = try #require(try foreign.people().first)
      theirs.label = "theirs"
      try foreign.save()
    }
    try reader.performAndWait {
      let newest = try reader.people()
      #expect(newest.map(\.label) == ["theirs"])
      try pinned.performAndWait {
        let person = try #require(try pinned.people().first)
        #expect(person.label == "p1")
        pinned.refresh(person, mergeChanges: false)
        let before = pinned.counters
        #expect(person.label == "p1")
        #expect((pinned.counters - before).selects == 0)
      }
      reader.refresh(newest[0], mergeChanges: false)
      #expect(newest[0].label == "theirs")
    }
  }

  @Test("The file of a replaced value is removed after the generations that refer to it")
  func filesOfAGenerationRemain() throws {
    let photo = SchemaModels.entity(
      "Photo", [SchemaModels.attribute("data", .binaryDataAttributeType)])
    photo.attributesByName["data"]?.allowsExternalBinaryDataStorage = true
    let model = NSManagedObjectModel()
    model.entities = [photo]
    let bed = try ContextBed(.sqlite, model: model)
    let (pinned, writer) = (bed.context(), bed.context())
    let files = ExternalStorage(storeURL: try #require(bed.store?.url))
    let values = (1...3 as ClosedRange<UInt8>).map { Data(repeating: $0, count: 100_001) }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Photo")
    let photos = try writer.performAndWait {
      let photos = [writer.make("Photo", ["data": values[0]])]
      try writer.save()
      return photos
    }
    let old = try pinned.performAndWait {
      try pinned.setQueryGenerationFrom(.current)
      return try pinned.fetch(request)
    }
    try writer.performAndWait {
      for value in values.dropFirst() {
        photos[0].setValue(value, forKey: "data")
        try writer.save()
      }
      #expect(try files.fileNames().count == 3)
    }
    try pinned.performAndWait {
      #expect(old.map { $0.value(forKey: "data") as? Data } == [values[0]])
      try pinned.setQueryGenerationFrom(nil)
    }
    try writer.performAndWait {
      writer.delete(photos[0])
      try writer.save()
      #expect(try files.fileNames().isEmpty)
    }
  }

  @Test(
    "A merge policy resolves conflicts with rows that are newer than the pinned generation",
    arguments: StoreKind.allCases)
  func policyReadsRowsNewerThanTheGeneration(_ kind: StoreKind) throws {
    let stack = try SharedStack(kind, SavingModels.regions())
    let (pinned, writer) = (stack.context(.mergeByPropertyObjectTrump), stack.context())
    let deleted = try writer.performAndWait {
      let deleted = writer.make("Country", ["code": "ES", "name": "theirs"])
      try writer.save()
      return deleted
    }
    try pinned.performAndWait {
      try pinned.setQueryGenerationFrom(.current)
      pinned.twin(of: deleted).setValue("mine", forKey: "name")
    }
    try writer.performAndWait {
      writer.delete(deleted)
      _ = writer.make("Country", ["code": "FR", "name": "theirs", "size": Int32(5)])
      try writer.save()
    }
    try pinned.performAndWait {
      _ = pinned.make("Country", ["code": "FR", "name": "mine"])
      try pinned.save()
    }
    let check = stack.context()
    let saved = try check.performAndWait {
      try check.everyObject(of: "Country").map { country in
        ["code", "name", "size"].map { key in
          country.value(forKey: key).map { "\($0)" } ?? "nil"
        }
      }
    }
    #expect(saved == [["ES", "mine", "nil"], ["FR", "mine", "5"]])
  }

  @Test("A generation isn't older than what its context has read while a save was ending")
  func generationIsNotOlderThanAReadDuringASave() throws {
    let pair = try Pair(.sqlite)
    #expect(try pair.count() == 3)
    let reader = pair.bed.context()
    let counts = Mutex<[Int?]>([])
    let listener = FirstEventListener(of: { $0.statement?.sql == "COMMIT" }) {
      let hasRead = DispatchSemaphore(value: 0)
      @Sendable func count() {
        let count = try? reader.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
        counts.withLock { $0.append(count) }
      }
      reader.perform {
        count()
        hasRead.signal()
        try? reader.setQueryGenerationFrom(.current)
        count()
      }
      hasRead.wait()
      // The other thread asks for the newest generation before the save is counted.
      usleep(50_000)
    }
    pair.bed.coordinator.eventHub.add(listener)
    _ = try pair.write { $0.delete($0.object(with: pair.ids[0])) }
    reader.performAndWait {}
    #expect(counts.withLock { $0 } == [2, 2])
    #expect(try pair.count() == 3)
  }
}
