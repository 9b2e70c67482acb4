import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("Saves of child contexts")
struct ChildSaveTests {
  @Test(
    "S10-14, S-G09, S10-20 a save overwrites changes one level up and runs no SQL", .ofOwnStores,
    arguments: StoreKind.allCases)
  func saveOverwritesTheParentsChangesAndRunsNoSQL(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(3)
    let parent = bed.context()
    let child = bed.child(of: parent)
    parent.performAndWait {
      parent.object(with: ids[0]).label = "parent"
      parent.object(with: ids[0]).number = 77
    }
    try child.performAndWait {
      child.object(with: ids[0]).label = "child"
      child.delete(child.object(with: ids[1]))
      let team = child.object(with: ids[2]).value(forKey: "team")
      _ = child.make("Person", ["name": "new", "number": Int64(9), "team": team as Any])
      // Delete rules read relationships; the save itself doesn't.
      child.processPendingChanges()
      bed.coordinator.eventHub.add(bed.events)
      try child.save()
      #expect(bed.events.statements().isEmpty)
      #expect(!child.hasChanges && child.counters.saves == 1)
    }
    try parent.performAndWait {
      let first = parent.object(with: ids[0])
      #expect(first.label == "child" && first.number == 77)
      #expect(parent.updatedObjects.contains(first))
      #expect(parent.insertedObjects.map(\.label) == ["new"])
      #expect(parent.deletedObjects.map(\.objectID) == [ids[1]])
      let before = parent.counters
      try parent.save()
      let cost = parent.counters - before
      // The person, and the team whose members have changed.
      #expect(!kind.runsSQL || (cost.inserts == 1 && cost.updates == 2))
    }
    let check = bed.context()
    try check.performAndWait {
      let people = try check.people()
      #expect(people.map(\.label) == ["p3", "new", "child"])
      let team = people[0].value(forKey: "team") as? NSManagedObject
      #expect(team?.value(forKey: "members") as? Set<NSManagedObject> == Set(people))
    }
  }

  @Test(
    "S10-15, S-G18 a child keeps its temporary IDs, the root gets permanent ones",
    arguments: StoreKind.allCases)
  func childKeepsTemporaryIDsAndTheRootGetsPermanentOnes(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let root = bed.context()
    let child = bed.child(of: root)
    let grandchild = bed.child(of: child)
    let sibling = bed.child(of: root)
    let mine = try grandchild.performAndWait {
      let mine = grandchild.make("Person", ["name": "new", "number": Int64(1)])
      try grandchild.save()
      return mine
    }
    let temporary = grandchild.performAndWait { mine.objectID }
    let middle = try child.performAndWait {
      let middle = try #require(child.insertedObjects.first)
      try child.save()
      return middle
    }
    let top = try root.performAndWait {
      let top = try #require(root.insertedObjects.first)
      #expect(top.objectID == temporary)
      try root.save()
      #expect(!top.objectID.isTemporaryID)
      #expect(root.object(with: temporary) === top)
      return top
    }
    child.performAndWait { #expect(middle.objectID == temporary && middle.label == "new") }
    grandchild.performAndWait { #expect(mine.objectID == temporary && mine.label == "new") }
    sibling.performAndWait {
      let found = sibling.object(with: temporary)
      #expect(found.isFault && found.label == "new")
    }
    // A later change still reaches the root.
    try grandchild.performAndWait {
      mine.label = "newer"
      try grandchild.save()
    }
    try child.performAndWait { try child.save() }
    root.performAndWait { #expect(top.label == "newer" && root.updatedObjects == [top]) }
  }

  @Test(
    "S10-16, S-G17 the temporary ID of an unsaved object is valid only in its context",
    arguments: StoreKind.allCases)
  func temporaryIDOfAnUnsavedObjectIsValidOnlyInItsContext(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let root = bed.context()
    let (left, right) = (bed.child(of: root), bed.child(of: root))
    let below = bed.child(of: left)
    let id = below.performAndWait { below.make("Person", ["name": "new"]).objectID }
    for context in [right, bed.child(of: right), left, root, bed.context()] {
      context.performAndWait {
        #expect(throws: NSError.self) { try context.existingObject(with: id) }
        let stranger = context.object(with: id)
        #expect(stranger.label == nil && stranger.isDeleted)
      }
    }
  }

  @Test(
    "S10-17, S7.18 obtaining a permanent ID before the save reserves a primary key", .ofOwnStores,
    arguments: StoreKind.allCases)
  func obtainingAPermanentIDReservesAPrimaryKey(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    try bed.addPeople(2)
    let root = bed.context()
    let child = bed.child(of: root)
    bed.coordinator.eventHub.add(bed.events)
    try child.performAndWait {
      let made = child.make("Person", ["name": "new", "number": Int64(9)])
      let tag = child.make("Tag", ["name": "x"])
      made.setValue(Set([tag]), forKey: "tags")
      try child.obtainPermanentIDs(for: [made])
      let id = made.objectID
      #expect(!id.isTemporaryID && made.isInserted && child.object(with: id) === made)
      #expect(bed.events.events.filter { $0.kind == .transaction }.count == bed.selects(1))
      #expect(bed.events.statements(.insert).isEmpty)
      #expect(made.value(forKey: "minions") as? Set<NSManagedObject> == [])
      #expect(child.counters.selects == 0)
      try child.save()
      try root.performAndWait {
        #expect(root.object(with: id).isInserted && root.object(with: id).label == "new")
        try root.save()
        #expect(root.object(with: id).objectID == id)
      }
      // An object that was saved to the parent gets the parent's ID.
      try child.obtainPermanentIDs(for: [tag])
      #expect(!tag.objectID.isTemporaryID)
    }
    let check = bed.context()
    try check.performAndWait {
      let found = try #require(try check.people().last)
      #expect(found.label == "new")
      #expect((found.value(forKey: "tags") as? Set<NSManagedObject>)?.first?.label == "x")
    }
    root.performAndWait { root.reset() }
    child.performAndWait { child.reset() }
    check.performAndWait { check.reset() }
    #expect(bed.store?.withShared { $0.rows.ownerCount } == 0)
  }

  @Test(
    "S10-18 in a child of the originating context, an object's two IDs are two objects",
    arguments: StoreKind.allCases)
  func temporaryAndPermanentIDsAreTwoObjectsInAChild(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let origin = bed.context()
    let child = bed.child(of: origin)
    let (temporary, permanent) = try origin.performAndWait {
      let made = origin.make("Person", ["name": "new"])
      let temporary = made.objectID
      try origin.save()
      return (temporary, made.objectID)
    }
    child.performAndWait {
      let (first, second) = (child.object(with: temporary), child.object(with: permanent))
      #expect(first !== second && first.label == "new" && second.label == "new")
    }
  }

  @Test(
    "A child finds its own instance of a new object that its parent has saved",
    arguments: StoreKind.allCases)
  func childFindsItsOwnInstanceOfASavedObject(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let root = bed.context()
    let child = bed.child(of: root)
    let (team, tag, person) = try child.performAndWait {
      let team = child.make("Team", ["name": "t"])
      let tag = child.make("Tag", ["name": "x"])
      let person = child.make(
        "Person", ["name": "new", "number": Int64(1), "team": team, "tags": Set([tag])])
      try child.save()
      return (team, tag, person)
    }
    let permanent = try root.performAndWait {
      try root.save()
      return try #require(try root.people().first).objectID
    }
    try child.performAndWait {
      let temporary = person.objectID
      #expect(temporary.isTemporaryID)
      #expect(try child.people() == [person])
      #expect(person.objectID == permanent)
      for id in [temporary, permanent] {
        #expect(child.object(with: id) === person && child.registeredObject(for: id) === person)
        #expect(try child.existingObject(with: id) === person)
      }
      person.label = "changed"
      #expect(try child.people() == [person])
      #expect(try child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")) == [tag])
      // The relationship was saved with the temporary ID.
      person.setValue(Set<NSManagedObject>(), forKey: "tags")
      try child.save()
      // The parent's rows have permanent keys.
      child.refresh(person, mergeChanges: false)
      child.refresh(team, mergeChanges: false)
      #expect(person.value(forKey: "team") as? NSManagedObject === team)
      #expect(team.value(forKey: "members") as? Set<NSManagedObject> == [person])
    }
    try root.performAndWait { try root.save() }
    let check = bed.context()
    try check.performAndWait {
      let people = try check.people()
      #expect(people.map(\.label) == ["changed"])
      #expect(people.first?.value(forKey: "tags") as? Set<NSManagedObject> == [])
    }
  }

  @Test(
    "A child that merges its parent's saves refreshes its own objects",
    arguments: StoreKind.allCases)
  func mergeRefreshesTheChildsOwnObjects(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let root = bed.context()
    let child = bed.child(of: root)
    let person = try child.performAndWait {
      child.automaticallyMergesChangesFromParent = true
      let person = child.make("Person", ["name": "new"])
      try child.save()
      return person
    }
    let notes = NoteList(child)
    try root.performAndWait { try root.save() }
    // Runs after the merge on the child's queue.
    child.performAndWait {
      #expect(notes.union(NSRefreshedObjectsKey) == [person])
      #expect(notes.union(NSInsertedObjectsKey).isEmpty)
      #expect(!person.objectID.isTemporaryID && person.label == "new")
      #expect(child.registeredCount(ofEntity: "Person") == 1)
    }
  }

  @Test(
    "S10-21 a child's save registers all inserted objects in the parent",
    arguments: StoreKind.allCases)
  func childSaveRegistersAllInsertedObjectsInItsParent(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let parent = bed.context()
    let child = bed.child(of: parent)
    try child.performAndWait {
      for index in 0..<100 { _ = child.make("Person", ["number": Int64(index)]) }
      try child.save()
    }
    parent.performAndWait { #expect(parent.registeredCount == 100) }
  }

  @Test(
    "S10-26 a conflict in the parent doesn't change the child's value",
    arguments: StoreKind.allCases)
  func conflictInTheParentDoesNotChangeTheChildsValue(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(1)
    let (parent, other) = (bed.context(), bed.context())
    let child = bed.child(of: parent)
    let held = try child.performAndWait {
      let held = try child.existingObject(with: ids[0])
      held.label = "child"
      try child.save()
      return held
    }
    try other.performAndWait {
      other.object(with: ids[0]).label = "other"
      try other.save()
    }
    parent.performAndWait {
      let error = #expect(throws: NSError.self) { try parent.save() }
      #expect(error?.code == NSManagedObjectMergeError)
    }
    child.performAndWait { #expect(held.label == "child" && !child.hasChanges) }
  }

  @Test(
    "A child's save sets both sides of relationships in the parent",
    arguments: StoreKind.allCases)
  func childSaveSetsBothSidesOfRelationshipsInTheParent(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let parent = bed.context()
    let child = bed.child(of: parent)
    let (first, second) = parent.performAndWait {
      (parent.object(with: ids[0]), parent.object(with: ids[1]))
    }
    let held = parent.performAndWait {
      let held = parent.make("Team", ["name": "parent's"])
      first.setValue(held, forKey: "team")
      return held
    }
    try child.performAndWait {
      let team = child.make("Team", ["name": "child's"])
      let tag = child.make("Tag", ["name": "x"])
      let people = try child.people()
      for person in people { person.setValue(team, forKey: "team") }
      people[0].setValue(Set([tag]), forKey: "tags")
      people[1].setValue(people[0], forKey: "boss")
      try child.save()
    }
    try parent.performAndWait {
      #expect(held.value(forKey: "members") as? Set<NSManagedObject> == [])
      let team = first.value(forKey: "team") as? NSManagedObject
      #expect(team?.label == "child's")
      #expect(team?.value(forKey: "members") as? Set<NSManagedObject> == [first, second])
      #expect(second.value(forKey: "boss") as? NSManagedObject === first)
      #expect(first.value(forKey: "minions") as? Set<NSManagedObject> == [second])
      let tags = first.value(forKey: "tags") as? Set<NSManagedObject>
      #expect(tags?.first?.value(forKey: "workers") as? Set<NSManagedObject> == [first])
      try parent.save()
    }
    let check = bed.context()
    try check.performAndWait {
      let people = try check.people()
      #expect((people[0].value(forKey: "tags") as? Set<NSManagedObject>)?.count == 1)
      #expect(people[1].value(forKey: "boss") as? NSManagedObject === people[0])
    }
  }

  @Test(
    "A child's order of a list keeps what its parent has added to it and removed from it",
    arguments: StoreKind.allCases)
  func orderOfAChildKeepsTheParentsDestinations(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind, model: KinshipModel.make())
    let parent = bed.context()
    let child = bed.child(of: parent)
    let (list, songs) = try parent.performAndWait {
      let list = parent.make("List", ["name": "l"])
      let songs = ["a", "b", "c"].map { parent.make("Song", ["name": $0, "list": list]) }
      try parent.save()
      return (list, songs)
    }
    try child.performAndWait {
      let theirs = child.object(with: list.objectID)
      let read = (theirs.value(forKey: "songs") as? NSOrderedSet)?.array ?? []
      #expect(theirs.names("songs") == "abc")
      let added = parent.performAndWait {
        songs[2].setValue(nil, forKey: "list")
        return parent.make("Song", ["name": "p", "list": list])
      }
      theirs.setValue(NSOrderedSet(array: read.reversed()), forKey: "songs")
      theirs.mutableOrderedSetValue(forKey: "songs").add(child.make("Song", ["name": "n"]))
      try child.save()
      try parent.performAndWait {
        #expect(list.names("songs") == "banp")
        #expect(added.one("list") === list && songs[2].one("list") == nil)
        try parent.save()
      }
    }
    let check = bed.context()
    try check.performAndWait {
      let lists = try check.everyObject(of: "List")
      #expect(lists.map { $0.names("songs") } == ["banp"])
    }
  }

  @Test("Saving a change of an object that the parent has deleted fails")
  func changeOfAnObjectThatTheParentDeletedFailsTheSave() throws {
    let bed = try ContextBed(.sqlite)
    let ids = try bed.addPeople(1)
    let parent = bed.context()
    let child = bed.child(of: parent)
    let held = try child.performAndWait { try child.existingObject(with: ids[0]) }
    parent.performAndWait { parent.delete(parent.object(with: ids[0])) }
    child.performAndWait {
      held.label = "late"
      let error = #expect(throws: NSError.self) { try child.save() }
      #expect(error?.code == NSManagedObjectReferentialIntegrityError)
      #expect(child.hasChanges)
    }
  }

  @Test("A fault of the parent for an object that a child saves later becomes that object")
  func earlyFaultBecomesTheSavedObject() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(1)
    for isFired in [false, true] {
      let parent = bed.context()
      let child = bed.child(of: parent)
      let (object, id) = try child.performAndWait {
        let object = child.make("Person", ["name": "new", "number": Int64(9)])
        try child.obtainPermanentIDs(for: [object])
        return (object, object.objectID)
      }
      let early = parent.performAndWait {
        let early = parent.object(with: id)
        if isFired { #expect(early.label == nil) }
        return early
      }
      try child.performAndWait { try child.save() }
      try parent.performAndWait {
        #expect(parent.insertedObjects == [early] && parent.object(with: id) === early)
        #expect(early.label == "new" && !early.isDeleted)
        #expect(parent.registeredObjects.contains(early))
        try parent.save()
        #expect(try parent.people().filter { $0.label == "new" }.contains(early))
      }
      withExtendedLifetime(object) {}
    }
  }

  @Test(
    "A child reads and saves an object that its parent has saved, after the parent was reset",
    arguments: StoreKind.allCases)
  func savedObjectOfAChildOutlastsAResetOfItsParent(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let root = bed.context()
    let child = bed.child(of: root)
    let person = try child.performAndWait {
      let person = child.make("Person", ["name": "new", "number": Int64(1)])
      try child.save()
      return person
    }
    try root.performAndWait {
      try root.save()
      root.reset()
    }
    try child.performAndWait {
      child.refresh(person, mergeChanges: false)
      #expect(person.label == "new" && !person.isDeleted)
      person.label = "changed"
      try child.save()
    }
    let saved = try root.performAndWait {
      try root.save()
      return try root.people().map(\.label)
    }
    #expect(saved == ["changed"])
  }

  @Test("The keys of saved objects are kept for children, as long as there are any")
  func keysOfSavedObjectsAreKeptForChildren() throws {
    let bed = try ContextBed(.sqlite)
    let root = bed.context()
    func isKept(_ key: Int64) -> Bool { root.children.permanentKey(for: key) != nil }
    /// Inserts and saves an object; returns its temporary key.
    func save(in context: NSManagedObjectContext) throws -> Int64 {
      try context.performAndWait {
        let key = context.make("Person", ["name": "new"]).primaryKey
        try context.save()
        return key
      }
    }
    /// Saves an object of a child that exists until this function returns.
    func saveInChild() throws -> Int64 {
      let child = bed.child(of: root)
      let key = try save(in: child)
      try root.performAndWait { try root.save() }
      #expect(isKept(key))
      withExtendedLifetime(child) {}
      return key
    }
    let earlier = try saveInChild()
    #expect(!isKept(earlier))
    let later = try save(in: root)
    #expect(!isKept(later))
  }
}
