import Dispatch
import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("Merging changes from other contexts")
struct MergeTests {
  /// A writer, a reader, and the people p1, p2, and p3.
  private struct Pair {
    let bed: ContextBed
    let ids: [NSManagedObjectID]
    let writer: NSManagedObjectContext
    let reader: NSManagedObjectContext

    init(_ kind: StoreKind) throws {
      bed = try ContextBed(kind)
      ids = try bed.addPeople(3)
      writer = bed.context()
      reader = bed.context()
    }

    /// Changes and saves in the writer; returns its did-save notification.
    func save(_ change: (NSManagedObjectContext) -> Void) throws -> Notification {
      let saved = NoteList(writer, .NSManagedObjectContextDidSave)
      try writer.performAndWait {
        change(writer)
        try writer.save()
      }
      guard let note = saved.notes.last else { throw CocoaError(.featureUnsupported) }
      return note
    }
  }

  @Test(
    "S10-4, S7.23 merged inserts are faults, released if nothing references them",
    arguments: StoreKind.allCases)
  func mergedInsertsAreFaultsReleasedIfUnreferenced(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let note = try pair.save { _ = $0.make("Person", ["name": "new", "number": Int64(9)]) }
    let reader = pair.reader
    reader.performAndWait { reader.mergeChanges(fromContextDidSave: note) }
    reader.performAndWait { #expect(reader.registeredCount == 0) }
    var held: NSManagedObject?
    let changes = NoteList(reader) {
      held = ($0.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.first
    }
    reader.performAndWait { reader.mergeChanges(fromContextDidSave: note) }
    #expect(changes.notes.count == 1)
    reader.performAndWait {
      #expect(held?.isFault == true && reader.registeredCount == 1)
      let before = reader.counters
      #expect(held?.label == "new")
      #expect(reader.counters.hits - before.hits == 1 && reader.counters.selects == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func mergeEmitsOneEventWithItsObjects(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let events = EventList()
    pair.reader.name = "reader"
    let note = try pair.save { writer in
      for id in pair.ids { writer.object(with: id).label = "new" }
    }
    pair.reader.persistentStoreCoordinator?.eventHub.add(events)
    pair.reader.performAndWait { pair.reader.mergeChanges(fromContextDidSave: note) }
    #expect(events.events.isEmpty, "none of the objects is registered")
    try pair.reader.performAndWait {
      let held = try pair.ids.prefix(2).map { try pair.reader.existingObject(with: $0) }
      pair.reader.mergeChanges(fromContextDidSave: note)
      #expect(held.allSatisfy { $0.isFault })
    }
    let merges = events.events.filter { $0.kind == .merge }
    #expect(merges.map(\.rows) == [2])
    #expect(merges.map(\.entity) == ["Person"] && merges.map(\.context) == ["reader"])
    let posted = events.events.filter { $0.kind == .notification }
    #expect(!posted.isEmpty && posted.allSatisfy { $0.parent == merges.first?.id })
  }

  @Test(
    "S10-5, S10-6, S-G07 merged updates refresh only registered objects",
    arguments: StoreKind.allCases)
  func mergedUpdatesRefreshOnlyRegisteredObjects(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let reader = pair.reader
    let held = try reader.performAndWait { try reader.existingObject(with: pair.ids[0]) }
    let note = try pair.save { writer in
      for id in pair.ids { writer.object(with: id).label = "new" }
    }
    let changes = NoteList(reader)
    reader.performAndWait {
      #expect(held.label == "p1")
      let before = reader.counters
      reader.mergeChanges(fromContextDidSave: note)
      #expect(held.isFault)
      #expect(reader.registeredObjects == [held])
      #expect(changes.notes.count == 1)
      #expect(changes.union(NSRefreshedObjectsKey) == [held])
      #expect(changes.union(NSUpdatedObjectsKey).isEmpty)
      #expect(held.label == "new")
      let cost = reader.counters - before
      #expect(cost.selects == 0 && cost.hits == 1 && cost.misses == 0)
    }
  }

  @Test(
    "S10-7 the target's unsaved change wins, property by property",
    arguments: StoreKind.allCases)
  func unsavedChangeWinsAMergePropertyByProperty(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let reader = pair.reader
    let mine = try reader.performAndWait { try reader.existingObject(with: pair.ids[0]) }
    reader.performAndWait { mine.label = "b1" }
    let note = try pair.save { writer in
      writer.object(with: pair.ids[0]).label = "a1"
      writer.object(with: pair.ids[0]).number = 5
    }
    try reader.performAndWait {
      reader.mergeChanges(fromContextDidSave: note)
      #expect(mine.label == "b1" && mine.number == 5)
      #expect(mine.changedValues().keys.sorted() == ["name"])
      // The merge updates the row version, so the save isn't a conflict.
      try reader.save()
    }
    let check = pair.bed.context()
    try check.performAndWait {
      let person = try check.existingObject(with: pair.ids[0])
      #expect(person.label == "b1" && person.number == 5)
    }
  }

  @Test(
    "After a merge, the committed destinations of a relationship are those in the store",
    arguments: StoreKind.allCases)
  func committedDestinationsAreThoseInTheStoreAfterAMerge(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let (reader, ids) = (pair.reader, pair.ids)
    _ = try pair.save { writer in
      writer.object(with: ids[1]).setValue(writer.object(with: ids[0]), forKey: "boss")
    }
    // Both add the third person and remove the second.
    func change(_ context: NSManagedObjectContext) -> NSManagedObject {
      let boss = context.object(with: ids[0])
      context.object(with: ids[1]).setValue(nil, forKey: "boss")
      context.object(with: ids[2]).setValue(boss, forKey: "boss")
      return boss
    }
    func committed(_ boss: NSManagedObject) -> Set<NSManagedObjectID> {
      let value = boss.committedValues(forKeys: ["minions"])["minions"]
      return Set((value as? Set<NSManagedObject> ?? []).map(\.objectID))
    }
    let mine = reader.performAndWait {
      let boss = change(reader)
      #expect(committed(boss) == [ids[1]])
      return boss
    }
    let note = try pair.save { change($0).label = "changed" }
    reader.performAndWait {
      reader.mergeChanges(fromContextDidSave: note)
      #expect(mine.label == "changed" && committed(mine) == [ids[2]])
    }
  }

  @Test(
    "S10-8, S11-25 merged deletions delete registered objects, even with unsaved changes",
    arguments: StoreKind.allCases)
  func mergedDeletionsDeleteObjectsEvenWithUnsavedChanges(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let reader = pair.reader
    let (clean, dirty) = try reader.performAndWait {
      (try reader.existingObject(with: pair.ids[0]), try reader.existingObject(with: pair.ids[1]))
    }
    reader.performAndWait { dirty.label = "lost" }
    let note = try pair.save { writer in
      for id in pair.ids { writer.delete(writer.object(with: id)) }
    }
    let changes = NoteList(reader)
    try reader.performAndWait {
      reader.mergeChanges(fromContextDidSave: note)
      #expect(clean.isDeleted && dirty.isDeleted && !clean.isFault)
      #expect(changes.union(NSDeletedObjectsKey) == [clean, dirty])
      #expect(reader.deletedObjects == [clean, dirty] && reader.updatedObjects.isEmpty)
      reader.processPendingChanges()
      #expect(!reader.hasChanges && reader.deletedObjects.isEmpty)
      #expect(changes.notes.count == 1)
      #expect(dirty.label == "p2")
      let left = try reader.people()
      #expect(left.isEmpty)
      #expect(throws: NSError.self) { try reader.existingObject(with: pair.ids[0]) }
    }
  }

  @Test(
    "S10-9, S10-11, S-G06, S-G08 did-save is posted before save returns and merged later",
    arguments: StoreKind.allCases)
  func didSaveIsPostedBeforeSaveReturnsAndMergedLater(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let reader = pair.reader
    let held = try reader.performAndWait { try reader.existingObject(with: pair.ids[0]) }
    let merged = DispatchSemaphore(value: 0)
    let hold = DispatchSemaphore(value: 0)
    reader.perform { hold.wait() }
    let steps = LineList()
    let observer = NoteList(pair.writer, .NSManagedObjectContextDidSave) { note in
      steps.add("did save")
      nonisolated(unsafe) let note = note
      reader.perform {
        reader.mergeChanges(fromContextDidSave: note)
        steps.add("merged")
        merged.signal()
      }
    }
    try pair.writer.performAndWait {
      pair.writer.object(with: pair.ids[0]).label = "new"
      try pair.writer.save()
      steps.add("saved")
    }
    hold.signal()
    merged.wait()
    #expect(steps.lines == ["did save", "saved", "merged"])
    reader.performAndWait { #expect(held.label == "new") }
    withExtendedLifetime(observer) {}
  }

  @Test(
    "S10-10 a merge posts one notification of its inserts, updates, and deletes",
    arguments: StoreKind.allCases)
  func mergePostsItsInsertsUpdatesAndDeletes(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let reader = pair.reader
    let held = try reader.performAndWait { try reader.people() }
    let note = try pair.save { writer in
      _ = writer.make("Person", ["name": "new"])
      writer.object(with: pair.ids[0]).label = "changed"
      writer.delete(writer.object(with: pair.ids[1]))
    }
    let changes = NoteList(reader)
    let ids = NoteList(reader, .NSManagedObjectContextDidMergeChangesObjectIDs)
    reader.performAndWait {
      reader.mergeChanges(fromContextDidSave: note)
      #expect(changes.union(NSInsertedObjectsKey).compactMap(\.label) == ["new"])
      #expect(changes.union(NSRefreshedObjectsKey).contains(held[0]))
      #expect(changes.union(NSDeletedObjectsKey) == [held[1]])
      #expect(changes.notes.count == 1 && ids.notes.count == 1)
      let posted = ids.notes.last?.userInfo
      #expect(posted?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> == [pair.ids[1]])
      let updated = posted?[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID>
      #expect(updated?.contains(pair.ids[0]) == true)
    }
  }

  @Test(
    "S10-2, S10-3, S-G13, S-G14 another coordinator needs the URI, and reads the row again",
    .ofOwnStores)
  func idOfAnotherCoordinatorIsConvertedThroughItsURI() async throws {
    let pair = try Pair(.sqlite)
    // With the same model, only the coordinator differs.
    let second = try pair.bed.secondCoordinator(sharingModel: true)
    let other = pair.bed.context(second)
    let held = try pair.reader.performAndWait {
      try pair.reader.existingObject(with: pair.ids[0])
    }
    pair.reader.performAndWait { #expect(held.label == "p1") }
    try other.performAndWait {
      let error = #expect(throws: NSError.self) { try other.existingObject(with: pair.ids[0]) }
      #expect(error?.code == NSManagedObjectReferentialIntegrityError)
      let id = second.managedObjectID(forURIRepresentation: pair.ids[0].uriRepresentation())
      let person = other.object(with: try #require(id))
      #expect(person.label == "p1")
      #expect(other.counters.misses == 1 && other.counters.hits == 0)
      #expect(other.counters.selects == 1)
    }
    let foreign = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let pair = try Pair(.sqlite)
      let other = pair.bed.context(try pair.bed.secondCoordinator(sharingModel: true))
      other.performAndWait { _ = other.object(with: pair.ids[0]) }
    }
    #expect(foreign.message.contains("is of another coordinator's store"))
  }

  @Test(
    "S10-13 IDs of another coordinator's save are converted, its rows read again", .ofOwnStores)
  func saveOfAnotherCoordinatorIsMergedWithConvertedIDs() throws {
    let pair = try Pair(.sqlite)
    let other = pair.bed.context(try pair.bed.secondCoordinator())
    let coordinator = try #require(other.persistentStoreCoordinator)
    let held = try other.performAndWait { try other.people() }
    other.performAndWait {
      #expect(held.map(\.label) == ["p1", "p2", "p3"])
      // The URI identifies the same row; the other coordinator's ID belongs to another model.
      let id = coordinator.managedObjectID(
        forURIRepresentation: pair.ids[0].uriRepresentation())
      #expect(id.map { other.object(with: $0) } === held[0])
      #expect(id != pair.ids[0])
    }
    let note = try pair.save { writer in
      writer.object(with: pair.ids[0]).label = "new"
      writer.delete(writer.object(with: pair.ids[2]))
    }
    other.performAndWait {
      let before = other.counters
      other.mergeChanges(fromContextDidSave: note)
      #expect(held[0].label == "new" && held[1].label == "p2" && held[2].isDeleted)
      let cost = other.counters - before
      #expect(cost.selects == 1 && cost.misses == 1)
    }
  }

  @Test(
    "A remote save refreshes registered objects, with one SELECT per entity",
    arguments: StoreKind.allCases)
  func remoteSaveRefreshesRegisteredObjectsWithOneSelectPerEntity(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let reader = pair.reader
    let held = try reader.performAndWait { try reader.people() }
    reader.performAndWait { for person in held { _ = person.label } }
    _ = try pair.save { writer in
      for id in pair.ids { writer.object(with: id).label = "new" }
    }
    let before = reader.performAndWait { reader.counters }
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [
        NSUpdatedObjectIDsKey: pair.ids.prefix(2).map { $0 },
        NSUpdatedObjectsKey: [pair.ids[2].uriRepresentation()],
      ], into: [reader])
    reader.performAndWait {
      #expect(held.map(\.label) == ["new", "new", "new"])
      let cost = reader.counters - before
      #expect(cost.selects == pair.bed.selects(1) && cost.hits == 3 && cost.misses == 0)
    }
  }

  @Test("Changes are merged automatically only if that's enabled", arguments: StoreKind.allCases)
  func changesAreMergedAutomaticallyOnlyIfEnabled(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let reader = pair.reader
    let held = try reader.performAndWait {
      reader.automaticallyMergesChangesFromParent = true
      return try reader.existingObject(with: pair.ids[0])
    }
    _ = try pair.save { $0.object(with: pair.ids[0]).label = "new" }
    // Runs after the merge on the reader's queue.
    reader.performAndWait { #expect(held.label == "new") }
    reader.performAndWait { reader.automaticallyMergesChangesFromParent = false }
    _ = try pair.save { $0.object(with: pair.ids[0]).label = "newer" }
    reader.performAndWait { #expect(held.label == "new") }
  }

  @Test(
    "A child merges what its siblings save to their parent only if that's enabled",
    arguments: StoreKind.allCases)
  func childMergesSavesOfItsSiblingsOnlyIfEnabled(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let parent = bed.context()
    let (writer, reader, other) = (
      bed.child(of: parent), bed.child(of: parent), bed.child(of: parent)
    )
    reader.performAndWait { reader.automaticallyMergesChangesFromParent = true }
    let held = try [reader, other].map { context in
      try context.performAndWait { try ids.map { try context.existingObject(with: $0) } }
    }
    let notes = NoteList(reader)
    try writer.performAndWait {
      writer.object(with: ids[0]).label = "sibling"
      writer.delete(writer.object(with: ids[1]))
      _ = writer.make("Person", ["name": "new", "number": Int64(9)])
      try writer.save()
    }
    reader.performAndWait {
      #expect(held[0][0].label == "sibling" && held[0][1].isDeleted)
      #expect(notes.union(NSInsertedObjectsKey).map(\.label) == ["new"])
    }
    other.performAndWait { #expect(held[1].map(\.label) == ["p1", "p2"]) }
    parent.performAndWait { #expect(parent.hasChanges) }
  }

  @Test(
    "A child merges what its parent merges, even if the parent has released the objects",
    arguments: StoreKind.allCases)
  func childMergesWhatItsParentMerges(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let parent = pair.bed.context()
    let child = pair.bed.child(of: parent)
    parent.performAndWait { parent.automaticallyMergesChangesFromParent = true }
    let held = try child.performAndWait {
      child.automaticallyMergesChangesFromParent = true
      return try child.existingObject(with: pair.ids[0])
    }
    parent.performAndWait { #expect(parent.registeredCount == 0) }
    _ = try pair.save { $0.object(with: pair.ids[0]).label = "new" }
    // The parent's merge runs first, and schedules the child's.
    parent.performAndWait {}
    child.performAndWait { #expect(held.label == "new") }
  }

  @Test(
    "S10-1, S10-12, S6.15, S-G16 objects of a context keep their rows cached for another",
    arguments: StoreKind.allCases)
  func objectsKeepTheirRowsCachedForAnotherContext(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let (writer, reader) = (pair.writer, pair.reader)
    var held: [NSManagedObject] = try writer.performAndWait {
      let new = writer.make("Person", ["name": "new", "number": Int64(4)])
      try writer.save()
      return try [new] + writer.people().prefix(3)
    }
    let ids = writer.performAndWait { held.map(\.objectID) }
    reader.performAndWait {
      #expect(ids.compactMap { reader.object(with: $0).label } == ["new", "p1", "p2", "p3"])
      #expect(reader.counters.selects == 0 && reader.counters.hits == 4)
    }
    // When both contexts have released them, the rows leave the cache.
    writer.performAndWait { held = [] }
    reader.performAndWait {
      #expect(reader.registeredCount == 0)
      let before = reader.counters
      #expect(reader.object(with: ids[0]).label == "new")
      let cost = reader.counters - before
      #expect(cost.misses == 1 && cost.selects == pair.bed.selects(1))
    }
  }

  @Test("A context merges automatically if that was set before its coordinator or parent")
  func automaticMergingCanBeSetBeforeTheCoordinator() throws {
    let pair = try Pair(.memory)
    let parent = pair.bed.context()
    let contexts = (0..<2).map { _ in
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.performAndWait { context.automaticallyMergesChangesFromParent = true }
      return context
    }
    contexts[0].persistentStoreCoordinator = pair.bed.coordinator
    contexts[1].parent = parent
    let people = try contexts.map { context in
      try context.performAndWait {
        let person = try context.existingObject(with: pair.ids[0])
        #expect(person.label == "p1")
        return person
      }
    }
    _ = try pair.save { $0.object(with: pair.ids[0]).label = "new" }
    contexts[0].performAndWait { #expect(people[0].label == "new") }
    try parent.performAndWait {
      parent.object(with: pair.ids[0]).label = "newest"
      parent.mergePolicy = NSMergePolicy.overwrite
      try parent.save()
    }
    contexts[1].performAndWait { #expect(people[1].label == "newest") }
  }
}
