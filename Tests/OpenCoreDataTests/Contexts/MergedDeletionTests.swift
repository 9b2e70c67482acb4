import OpenCoreData
import ProfileEvents
import Testing

@Suite("Merged deletions and relationships")
struct MergedDeletionTests {
  /// Saves the changes of a block in a context; returns the did-save notification.
  private static func save(
    in context: NSManagedObjectContext, _ change: () throws -> Void
  ) throws -> Notification {
    let saved = NoteList(context, .NSManagedObjectContextDidSave)
    try context.performAndWait {
      try change()
      try context.save()
    }
    guard let note = saved.notes.last else { throw CocoaError(.featureUnsupported) }
    return note
  }

  @Test(
    "The rules of an unsaved deletion apply to rows that refer to the object after a merge or refresh",
    arguments: StoreKind.allCases, [false, true])
  func unsavedDeletionsApplyToMergedRows(kind: StoreKind, isRefreshed: Bool) throws {
    let bed = try ContextBed(kind, model: KinshipModel.make())
    let (writer, reader) = (bed.context(), bed.context())
    let id = try writer.performAndWait {
      let person = writer.make("Person", ["name": "gone"])
      try writer.save()
      return person.objectID
    }
    try reader.performAndWait {
      reader.delete(reader.object(with: id))
      reader.processPendingChanges()
      let note = try Self.save(in: writer) {
        let person = writer.object(with: id)
        let child = writer.make("Person", ["name": "child", "parent": person])
        _ = writer.make("FriendInfo", ["source": person, "friend": child])
      }
      if isRefreshed {
        reader.refresh(reader.object(with: id), mergeChanges: true)
      } else {
        reader.mergeChanges(fromContextDidSave: note)
      }
      try reader.save()
      #expect(!reader.hasChanges)
    }
    let check = bed.context()
    try check.performAndWait {
      let infos = NSFetchRequest<NSManagedObject>(entityName: "FriendInfo")
      #expect(try check.count(for: infos) == 0)
      let people = try check.all("Person")
      #expect(people.map(\.nameValue) == ["child"])
      #expect(people.allSatisfy { $0.one("parent") == nil })
    }
  }

  @Test(
    "Unsaved references to an object whose deletion is merged become nil, and the rest is saved",
    arguments: StoreKind.allCases)
  func unsavedReferencesBecomeNil(kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let id = try bed.addPeople(2)[0]
    let (writer, reader) = (bed.context(), bed.context())
    let ids = try writer.performAndWait {
      let objects = [writer.make("Team", ["name": "gone"]), writer.make("Tag", ["name": "gone"])]
      try writer.save()
      return objects.map(\.objectID)
    }
    try reader.performAndWait {
      let (person, new) = (reader.object(with: id), reader.make("Person", ["name": "new"]))
      let (team, tag) = (reader.object(with: ids[0]), reader.object(with: ids[1]))
      for object in [person, new] {
        object.setValue(team, forKey: "team")
        object.setValue(Set([tag]), forKey: "tags")
        object.number = 7
      }
      reader.processPendingChanges()
      let note = try Self.save(in: writer) {
        for id in ids { writer.delete(writer.object(with: id)) }
      }
      let (changes, before) = (NoteList(reader), reader.counters)
      reader.mergeChanges(fromContextDidSave: note)
      let cost = reader.counters - before
      #expect(cost.selects == 0 && cost.faults == 0)
      #expect(team.isDeleted && tag.isDeleted)
      #expect(changes.union(NSUpdatedObjectsKey) == [person, new])
      for object in [person, new] {
        #expect(object.one("team") == nil && object.set("tags").isEmpty && object.number == 7)
      }
      try reader.save()
      #expect(!reader.hasChanges)
    }
    let check = bed.context()
    try check.performAndWait {
      let saved = try check.people().filter { $0.number == 7 }
      #expect(Set(saved.map(\.label)) == ["p1", "new"])
      #expect(saved.allSatisfy { $0.one("team") == nil && $0.set("tags").isEmpty })
    }
  }

  @Test(
    "A new object is deleted with its owner, whose deletion is merged and cascades",
    arguments: StoreKind.allCases)
  func newObjectsAreDeletedByCascades(kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let (writer, reader) = (bed.context(), bed.context())
    try reader.performAndWait {
      let people = ids.map { reader.object(with: $0) }
      let gadgets = people.map { reader.make("Gadget", ["name": "new", "owner": $0]) }
      reader.processPendingChanges()
      let note = try Self.save(in: writer) { writer.delete(writer.object(with: ids[0])) }
      let changes = NoteList(reader)
      reader.mergeChanges(fromContextDidSave: note)
      #expect(changes.union(NSDeletedObjectsKey) == [people[0], gadgets[0]])
      #expect(gadgets[0].managedObjectContext == nil)
      #expect(reader.insertedObjects == [gadgets[1]] && gadgets[1].one("owner") === people[1])
      try reader.save()
    }
    let check = bed.context()
    try check.performAndWait {
      let found = try check.fetch(NSFetchRequest<NSManagedObject>(entityName: "Gadget"))
      #expect(found.map { $0.one("owner")?.objectID } == [ids[1]])
    }
  }

  @Test("Objects that refer to a row deleted by a batch request are read again, with their changes")
  func referencesToBatchDeletionsAreReadAgain() throws {
    let bed = try ContextBed(.sqlite)
    let ids = try bed.addPeople(3)
    let (writer, reader) = (bed.context(), bed.context())
    let (people, team) = try reader.performAndWait {
      let people = try reader.people()
      let team = try #require(people[0].one("team"))
      #expect(team.set("members") == Set(people) && people.map(\.label) == ["p1", "p2", "p3"])
      people[2].label = "changed"
      return (people, team)
    }
    func deleteAndMerge(_ id: NSManagedObjectID) throws {
      try writer.performAndWait { try writer.execute(NSBatchDeleteRequest(objectIDs: [id])) }
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectsKey: [id]], into: [reader])
    }
    try deleteAndMerge(ids[0])
    reader.performAndWait {
      #expect(people[0].isDeleted && team.set("members") == Set(people[1...]))
    }
    let teamID = reader.performAndWait { team.objectID }
    let before = reader.performAndWait { reader.counters }
    try deleteAndMerge(teamID)
    try reader.performAndWait {
      #expect(people[1].one("team") == nil && people[2].one("team") == nil)
      let cost = reader.counters - before
      #expect(cost.selects == 1, "both people are read by one SELECT")
      #expect(people[1].label == "p2" && people[2].label == "changed")
      #expect(reader.updatedObjects == [people[2]])
      // Their versions have changed.
      try reader.save()
    }
    let check = bed.context()
    try check.performAndWait {
      let saved = try check.people()
      #expect(saved.map(\.label) == ["p2", "changed"])
      #expect(saved.allSatisfy { $0.one("team") == nil })
    }
  }

  @Test("So are those that a deleted fault doesn't know, in a child, too")
  func referencesToDeletedFaultsAreReadAgain() throws {
    let bed = try ContextBed(.sqlite)
    let ids = try bed.addPeople(2)
    let (writer, reader) = (bed.context(), bed.context())
    let child = bed.child(of: reader)
    func read(_ context: NSManagedObjectContext) throws -> (NSManagedObject, [NSManagedObject]) {
      try context.performAndWait {
        let people = try context.people()
        let team = try #require(people[0].one("team"))
        #expect(team.set("members") == Set(people))
        return (team, people)
      }
    }
    let contexts = [reader, child]
    let known = try contexts.map(read)
    func deleteAndMerge(_ id: NSManagedObjectID) throws {
      try writer.performAndWait { try writer.execute(NSBatchDeleteRequest(objectIDs: [id])) }
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectsKey: [id]], into: contexts)
    }
    for (context, (_, people)) in zip(contexts, known) {
      context.performAndWait { context.refresh(people[0], mergeChanges: false) }
    }
    try deleteAndMerge(ids[0])
    for (context, (team, people)) in zip(contexts, known) {
      context.performAndWait {
        #expect(people[0].isDeleted && team.set("members") == [people[1]])
        #expect(people[1].label == "p2")
        context.refresh(team, mergeChanges: false)
      }
    }
    try deleteAndMerge(reader.performAndWait { known[0].0.objectID })
    try reader.performAndWait {
      let (team, people) = known[0]
      #expect(team.isDeleted && people[1].one("team") == nil)
      people[1].label = "changed"
      // Its version has changed.
      try reader.save()
    }
    child.performAndWait { #expect(known[1].1[1].one("team") == nil) }
  }

  @Test(
    "A new reference stays, and fails validation, if no delete rule applies to it",
    arguments: [("Kept", "looseList", "List"), ("Person", "idol", "Person")])
  func referencesWithoutARuleFailTheSave(entity: String, key: String, other: String) throws {
    let stack = try SharedStack(.sqlite, KinshipModel.make())
    let (writer, reader) = (stack.context(), stack.context())
    let id = try writer.performAndWait {
      let object = writer.make(other, ["name": "gone"])
      try writer.save()
      return object.objectID
    }
    try reader.performAndWait {
      let gone = reader.object(with: id)
      let object = reader.make(entity, [key: gone])
      let note = try Self.save(in: writer) { writer.delete(writer.object(with: id)) }
      reader.mergeChanges(fromContextDidSave: note)
      #expect(object.one(key) === gone && gone.isDeleted)
      #expect(thrownError { try reader.save() }?.code == NSManagedObjectValidationError)
      object.setValue(nil, forKey: key)
      try reader.save()
    }
  }

  @Test("Undo doesn't restore a reference to an object whose deletion was merged")
  func undoRestoresNoReference() throws {
    let bed = try ContextBed(.sqlite)
    let id = try bed.addPeople(1)[0]
    let (writer, reader) = (bed.context(), bed.context())
    let teamID = try writer.performAndWait {
      let team = writer.make("Team", ["name": "gone"])
      try writer.save()
      return team.objectID
    }
    try reader.performAndWait {
      reader.undoManager = UndoManager()
      let (person, team) = (reader.object(with: id), reader.object(with: teamID))
      let old = try #require(person.one("team"))
      person.setValue(team, forKey: "team")
      reader.processPendingChanges()
      person.label = "changed"
      reader.processPendingChanges()
      let note = try Self.save(in: writer) { writer.delete(writer.object(with: teamID)) }
      reader.mergeChanges(fromContextDidSave: note)
      reader.undo()
      #expect(person.label == "p1" && person.one("team") == nil)
      reader.undo()
      #expect(person.one("team") === old)
      try reader.save()
    }
  }

  @Test(
    "Merging a child's save keeps its deletions unsaved in the contexts above",
    arguments: StoreKind.allCases)
  func deletionsOfChildrenStayUnsavedAbove(kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(3)
    let root = bed.context()
    let middle = bed.child(of: root)
    let child = bed.child(of: middle)
    let sibling = bed.child(of: middle)
    let held = try root.performAndWait { try root.existingObject(with: ids[0]) }
    let seen = try sibling.performAndWait { try sibling.existingObject(with: ids[0]) }
    let note = try Self.save(in: child) { child.delete(child.object(with: ids[0])) }
    try middle.performAndWait {
      middle.mergeChanges(fromContextDidSave: note)
      middle.processPendingChanges()
      #expect(middle.deletedObjects.map(\.objectID) == [ids[0]])
      try middle.save()
      #expect(!middle.hasChanges)
    }
    sibling.performAndWait {
      // It reads from the context that the child has saved to.
      sibling.mergeChanges(fromContextDidSave: note)
      sibling.processPendingChanges()
      #expect(seen.isDeleted && sibling.deletedObjects.isEmpty)
    }
    try root.performAndWait {
      root.mergeChanges(fromContextDidSave: note)
      root.processPendingChanges()
      #expect(root.deletedObjects == [held])
      try root.save()
      #expect(!root.hasChanges)
    }
    let check = bed.context()
    let left = try check.performAndWait { try check.people().map(\.label) }
    #expect(left == ["p2", "p3"])
  }

  @Test("A context above that merges a child's deletion first deletes the object itself")
  func deletionOfAGrandchildIsMerged() throws {
    let bed = try ContextBed(.memory)
    let ids = try bed.addPeople(2)
    let root = bed.context()
    let child = bed.child(of: bed.child(of: root))
    let held = try root.performAndWait { try root.existingObject(with: ids[0]) }
    let note = try Self.save(in: child) { child.delete(child.object(with: ids[0])) }
    try root.performAndWait {
      let changes = NoteList(root)
      root.mergeChanges(fromContextDidSave: note)
      #expect(changes.union(NSDeletedObjectsKey) == [held])
      root.processPendingChanges()
      #expect(root.deletedObjects == [held])
      try root.save()
      let left = try root.people()
      #expect(left.map(\.label) == ["p2"])
    }
  }
}
