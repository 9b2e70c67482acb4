import OpenCoreData
import Testing

@Suite("Objects whose rows exist again")
struct RevivedObjectTests {
  /// How a context finds out that a row exists again.
  enum Way: CaseIterable {
    case lookup, fetch, refreshingFetch, merge
  }

  private static func find(
    _ id: NSManagedObjectID, _ way: Way, in context: NSManagedObjectContext, saved: Notification?
  ) throws -> NSManagedObject? {
    switch way {
    case .lookup: return try context.existingObject(with: id)
    case .fetch: return try context.people().first { $0.objectID == id }
    case .refreshingFetch:
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.shouldRefreshRefetchedObjects = true
      return try context.fetch(request).first { $0.objectID == id }
    case .merge:
      if let saved { context.mergeChanges(fromContextDidSave: saved) }
      return context.registeredObject(for: id)
    }
  }

  @Test(
    "An object that had lost its row has it again after another context has re-created it",
    arguments: StoreKind.allCases, Way.allCases)
  func recreatedRowIsFound(kind: StoreKind, way: Way) throws {
    let bed = try ContextBed(kind)
    let id = try bed.addPeople(2)[0]
    let (keeper, deleter, reader) = (bed.context(), bed.context(), bed.context())
    keeper.mergePolicy = NSMergePolicy.overwrite
    let saves = NoteList(keeper, .NSManagedObjectContextDidSave)
    try keeper.performAndWait { try keeper.existingObject(with: id).label = "kept" }
    let lost = reader.performAndWait { reader.object(with: id) }
    try deleter.performAndWait {
      deleter.delete(deleter.object(with: id))
      try deleter.save()
    }
    reader.performAndWait {
      #expect(lost.label == nil && lost.isDeleted)
      let error = thrownError { _ = try reader.existingObject(with: id) }
      #expect(error?.code == NSManagedObjectReferentialIntegrityError && lost.isDeleted)
    }
    try keeper.performAndWait { try keeper.save() }
    try reader.performAndWait {
      let changes = NoteList(reader)
      let found = try Self.find(id, way, in: reader, saved: saves.notes.last)
      #expect(found === lost && !lost.isDeleted && lost.label == "kept")
      reader.processPendingChanges()
      #expect(changes.union(NSRefreshedObjectsKey).contains(lost))
      lost.label = "changed"
      try reader.save()
    }
    let check = bed.context()
    let labels = try check.performAndWait { try check.people().map(\.label) }
    #expect(labels == ["changed", "p2"])
  }

  @Test(
    "An object that a child had lost exists again after its parent has discarded the deletion",
    arguments: StoreKind.allCases, [Way.lookup, .fetch])
  func discardedDeletionIsFound(kind: StoreKind, way: Way) throws {
    let bed = try ContextBed(kind)
    let id = try bed.addPeople(2)[0]
    let parent = bed.context()
    let child = bed.child(of: parent)
    let lost = child.performAndWait { child.object(with: id) }
    parent.performAndWait { parent.delete(parent.object(with: id)) }
    child.performAndWait {
      #expect(lost.label == nil && lost.isDeleted)
      #expect(throws: NSError.self) { try child.existingObject(with: id) }
    }
    parent.performAndWait { parent.rollback() }
    try child.performAndWait {
      let found = try Self.find(id, way, in: child, saved: nil)
      #expect(found === lost && !lost.isDeleted && lost.label == "p1")
    }
  }

  @Test("An object that was deleted after it had lost its row stays deleted until that's discarded")
  func changedObjectIsNotRevived() throws {
    let bed = try ContextBed(.sqlite)
    let id = try bed.addPeople(1)[0]
    let parent = bed.context()
    let child = bed.child(of: parent)
    let person = child.performAndWait { child.object(with: id) }
    parent.performAndWait { parent.delete(parent.object(with: id)) }
    child.performAndWait {
      child.delete(person)
      child.processPendingChanges()
      #expect(person.isDeleted && person.label == nil)
    }
    parent.performAndWait { parent.rollback() }
    try child.performAndWait {
      #expect(throws: NSError.self) { try child.existingObject(with: id) }
      #expect(person.isDeleted)
      child.rollback()
      let found = try child.existingObject(with: id)
      #expect(found === person && person.label == "p1" && !person.isDeleted)
    }
  }
}
