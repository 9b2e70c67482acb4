import OpenCoreData
import Testing

@testable import OpenCoreData

@Suite("Undo of relationships")
struct UndoRelationshipTests {
  private func undoing(_ bed: ContextBed) -> NSManagedObjectContext {
    let context = bed.context()
    context.performAndWait { context.undoManager = UndoManager() }
    return context
  }

  private func objects(_ key: String, of object: NSManagedObject?) -> Set<NSManagedObject>? {
    object?.value(forKey: key) as? Set<NSManagedObject>
  }

  /// The new row has another key, to which the other ends must refer.
  @Test(
    "S6.49 a saved deletion is undone with the relationships of both ends",
    arguments: StoreKind.allCases, ["nullify", "cascade", "many-to-many"])
  func savedDeletionIsUndoneWithItsRelationships(_ kind: StoreKind, _ rule: String) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let context = undoing(bed)
    let (owner, key, inverse) =
      [
        "nullify": ("Team", "members", "team"), "cascade": ("Person", "gadgets", "owner"),
        "many-to-many": ("Tag", "workers", "tags"),
      ][rule] ?? ("", "", "")
    try context.performAndWait {
      let people = ids.map { context.object(with: $0) }
      let deleted: NSManagedObject
      var others = Set(people)
      switch rule {
      case "nullify": deleted = try #require(people[0].value(forKey: "team") as? NSManagedObject)
      case "cascade":
        deleted = people[0]
        others = Set(
          (1...2).map { context.make("Gadget", ["number": Int64($0), "owner": deleted]) })
      default: deleted = context.make("Tag", ["name": "tag", "workers": others])
      }
      try context.save()
      context.delete(deleted)
      try context.save()
      for _ in 0..<2 {
        context.undo()
        #expect(deleted.isInserted && objects(key, of: deleted) == others)
        for other in others {
          let value = other.value(forKey: inverse)
          #expect(
            value as? NSManagedObject === deleted
              || (value as? Set<NSManagedObject>)?.contains(deleted) == true)
        }
        try context.save()
        let check = bed.context()
        try check.performAndWait {
          let found = try check.everyObject(of: owner).filter {
            objects(key, of: $0)?.isEmpty == false
          }
          #expect(found.map { objects(key, of: $0)?.count } == [2])
        }
        context.redo()
        #expect(deleted.isDeleted)
        try context.save()
      }
    }
  }

  /// Delete propagation doesn't change a relationship between objects that are deleted together.
  @Test(
    "The saved deletions of both ends of a many-to-many are undone with their relationship",
    arguments: StoreKind.allCases, [1, 2, 3])
  func savedDeletionsOfBothEndsAreUndone(_ kind: StoreKind, _ saves: Int) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(1)
    let context = undoing(bed)
    try context.performAndWait {
      let person = context.object(with: ids[0])
      let tag = context.make("Tag", ["name": "tag", "workers": Set([person])])
      try context.save()
      // In one event, in two events, or in two events that are saved separately.
      context.delete(person)
      if saves > 1 { context.processPendingChanges() }
      if saves > 2 { try context.save() }
      context.delete(tag)
      try context.save()
      for round in 0..<3 {
        for _ in 0..<min(saves, 2) {
          context.undo()
          if saves > 2, round < 2 { try context.save() }
        }
        #expect(objects("tags", of: person) == [tag], "\(round)")
        #expect(objects("workers", of: tag) == [person], "\(round)")
        // The last undo isn't saved, but undone again.
        if round < 2 { try context.save() }
        let check = bed.context()
        try check.performAndWait {
          let tags = try check.everyObject(of: "Tag")
          let found = tags.map { objects("workers", of: $0)?.compactMap(\.label) }
          #expect(found == (round < 2 ? [["p1"]] : []))
        }
        for _ in 0..<min(saves, 2) { context.redo() }
        if round < 2 { try context.save() }
        let left = try check.performAndWait { try check.everyObject(of: "Tag").count }
        #expect(left == 0 && context.insertedObjects.isEmpty)
      }
    }
  }

  @Test(
    "A relationship that was added in the event of both ends' deletion isn't restored",
    arguments: StoreKind.allCases)
  func relationshipAddedInTheEventOfADeletionIsNotRestored(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(1)
    let context = undoing(bed)
    try context.performAndWait {
      let person = context.object(with: ids[0])
      let tag = context.make("Tag", ["name": "tag"])
      try context.save()
      // This addition and the deletions are one event, which is undone as a whole.
      tag.setValue(Set([person]), forKey: "workers")
      context.delete(tag)
      context.delete(person)
      try context.save()
      context.undo()
      #expect(person.isInserted && tag.isInserted)
      #expect(objects("tags", of: person) == [] && objects("workers", of: tag) == [])
      try context.save()
      #expect(objects("tags", of: person) == [] && objects("workers", of: tag) == [])
    }
  }

  @Test(
    "Undoing a saved insertion, and redoing a saved deletion, applies the delete rules",
    arguments: StoreKind.allCases, [true, false])
  func deletionByUndoAppliesDeleteRules(_ kind: StoreKind, _ redoes: Bool) throws {
    for (entity, referrer, key, inverse) in [
      ("Team", "Person", "team", "members"), ("Person", "Gadget", "owner", "gadgets"),
    ] {
      let bed = try ContextBed(kind)
      let (context, other) = (undoing(bed), bed.context())
      let saved = NoteList(other, .NSManagedObjectContextDidSave)
      try context.performAndWait {
        let made = context.make(entity, ["name": "made"])
        try context.save()
        if redoes {
          context.delete(made)
          try context.save()
          context.undo()
          try context.save()
        }
        // What refers to the object since isn't part of what is undone or redone.
        let id = try other.performAndWait {
          let referring = other.make(referrer, [key: other.object(with: made.objectID)])
          try other.save()
          return referring.objectID
        }
        context.mergeChanges(fromContextDidSave: try #require(saved.notes.last))
        let referring = context.object(with: id)
        for isSaved in [false, true] {
          if redoes { context.redo() } else { context.undo() }
          #expect(made.isDeleted && referring.isDeleted == (key == "owner"), "\(isSaved)")
          if key == "team" { #expect(referring.value(forKey: key) == nil) }
          let manager = try #require(context.undoManager)
          #expect(redoes ? manager.canUndo && !manager.canRedo : manager.canRedo)
          if isSaved { try context.save() }
          if redoes { context.undo() } else { context.redo() }
          #expect(!made.isDeleted && !referring.isDeleted)
          #expect(referring.value(forKey: key) as? NSManagedObject === made)
          #expect(objects(inverse, of: made) == [referring], "\(isSaved)")
          try context.save()
        }
        if redoes { context.redo() } else { context.undo() }
        try context.save()
      }
      let check = bed.context()
      let left = try check.performAndWait {
        try check.everyObject(of: referrer).map { $0.value(forKey: key) == nil }
      }
      #expect(left == (key == "team" ? [true] : []))
    }
  }

  @Test(
    "Undoing a saved insertion deletes what the object owns, which redo restores with its links",
    arguments: StoreKind.allCases)
  func undoneInsertionDeletesOwnedObjects(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let context = undoing(bed)
    try context.performAndWait {
      let manager = try #require(context.undoManager)
      let person = context.make("Person", ["name": "made"])
      try context.save()
      manager.disableUndoRegistration()
      let gadget = context.make("Gadget", ["owner": person])
      let tag = context.make("Tag", ["workers": Set([person])])
      try context.save()
      manager.enableUndoRegistration()
      for _ in 0..<2 {
        context.undo()
        #expect(person.isDeleted && gadget.isDeleted && objects("workers", of: tag) == [])
        try context.save()
        context.redo()
        #expect(person.isInserted && gadget.isInserted && !tag.isDeleted)
        #expect(objects("workers", of: tag) == [person] && objects("tags", of: person) == [tag])
        #expect(objects("gadgets", of: person) == [gadget])
        try context.save()
      }
    }
    let check = bed.context()
    try check.performAndWait {
      let people = try check.everyObject(of: "Person")
      #expect(people.map { objects("tags", of: $0)?.count } == [1])
      #expect(people.map { objects("gadgets", of: $0)?.count } == [1])
    }
  }

  /// The delete rules apply to what refers to the new object after the undo.
  @Test(
    "Undoing a saved insertion keeps what was moved to the new object in its event",
    arguments: StoreKind.allCases, [true, false])
  func undoneInsertionKeepsMovedObjects(_ kind: StoreKind, _ refreshes: Bool) throws {
    let bed = try ContextBed(kind)
    let context = undoing(bed)
    try context.performAndWait {
      let first = context.make("Person", ["name": "first"])
      let gadget = context.make("Gadget", ["owner": first])
      try context.save()
      let second = context.make("Person", ["name": "second"])
      gadget.setValue(second, forKey: "owner")
      try context.save()
      if refreshes { context.refreshAllObjects() }
      for round in 0..<2 {
        context.undo()
        #expect(second.isDeleted && !gadget.isDeleted, "\(round)")
        #expect(gadget.value(forKey: "owner") as? NSManagedObject === first, "\(round)")
        try context.save()
        guard round == 0 else { continue }
        context.redo()
        #expect(gadget.value(forKey: "owner") as? NSManagedObject === second)
        try context.save()
      }
    }
    let check = bed.context()
    let owners = try check.performAndWait {
      try check.everyObject(of: "Gadget").map {
        ($0.value(forKey: "owner") as? NSManagedObject)?.label
      }
    }
    #expect(owners == ["first"])
  }

  @Test(
    "A deletion is undone together with what a save changes by its delete rules",
    arguments: StoreKind.allCases)
  func deletionIsUndoneWithTheChangesOfItsRules(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let context = undoing(bed)
    try context.performAndWait {
      context.propagatesDeletesAtEndOfEvent = false
      let people = ids.map { context.object(with: $0) }
      let team = try #require(people[0].value(forKey: "team") as? NSManagedObject)
      context.delete(team)
      context.processPendingChanges()
      people[0].label = "new"
      try context.save()
      #expect(context.undoManager?.undoCount == 2)
      for round in 0..<2 {
        #expect(people.allSatisfy { $0.value(forKey: "team") == nil }, "\(round)")
        context.undo()
        context.undo()
        #expect(team.isInserted && objects("members", of: team) == Set(people), "\(round)")
        #expect(people.allSatisfy { $0.value(forKey: "team") as? NSManagedObject === team })
        #expect(people[0].label == "p1")
        try context.save()
        let check = bed.context()
        let counts = try check.performAndWait {
          try check.everyObject(of: "Team").map { objects("members", of: $0)?.count }
        }
        #expect(counts == [2], "\(round)")
        context.redo()
        #expect(team.isDeleted)
        context.redo()
        #expect(people[0].label == "new")
        try context.save()
      }
    }
  }

  /// A list and its songs, in order.
  static func albums() -> NSManagedObjectModel {
    let list = SchemaModels.entity("List", [SchemaModels.attribute("name", .stringAttributeType)])
    let song = SchemaModels.entity("Song", [SchemaModels.attribute("name", .stringAttributeType)])
    SchemaModels.relate(list, "songs", many: true, song, "list", many: false)
    list.relationshipsByName["songs"]?.isOrdered = true
    let model = NSManagedObjectModel()
    model.entities = [list, song]
    return model
  }

  private func names(_ list: NSManagedObject) -> String {
    (list.value(forKey: "songs") as? NSOrderedSet)?.compactMap { ($0 as? NSManagedObject)?.label }
      .joined() ?? ""
  }

  @Test("The order of an ordered relationship is undone and redone", arguments: StoreKind.allCases)
  func orderIsUndoneAndRedone(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind, model: Self.albums())
    let context = undoing(bed)
    try context.performAndWait {
      let list = context.make("List", [:])
      let songs = ["a", "b", "c", "d"].map { context.make("Song", ["name": $0]) }
      list.setValue(NSOrderedSet(array: songs), forKey: "songs")
      try context.save()
      let changes: [(String, (NSMutableOrderedSet) -> Void)] = [
        ("acd", { $0.remove(songs[1]) }), ("dabc", { $0.moveObjects(at: IndexSet([3]), to: 0) }),
        ("cbad", { $0.exchangeObject(at: 0, withObjectAt: 2) }),
      ]
      for (changed, change) in changes {
        change(list.mutableOrderedSetValue(forKey: "songs"))
        context.processPendingChanges()
        #expect(names(list) == changed)
        context.undo()
        #expect(names(list) == "abcd" && !context.hasChanges, "\(changed)")
        context.redo()
        #expect(names(list) == changed && list.hasChanges)
        context.undo()
      }
      try context.save()
      let check = bed.context()
      try check.performAndWait {
        let lists = try check.everyObject(of: "List")
        #expect(lists.map { names($0) } == ["abcd"])
      }
    }
  }

  /// Saves a list of three songs, and returns its ID.
  private func addAlbum(_ bed: ContextBed) throws -> NSManagedObjectID {
    let context = bed.context()
    return try context.performAndWait {
      let list = context.make("List", [:])
      let songs = ["a", "b", "c"].map { context.make("Song", ["name": $0]) }
      list.setValue(NSOrderedSet(array: songs), forKey: "songs")
      try context.save()
      return list.objectID
    }
  }

  @Test(
    "A change of an ordered relationship that wasn't read before is undone in its order",
    arguments: StoreKind.allCases)
  func orderOfAnUnreadListIsUndone(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind, model: Self.albums())
    let id = try addAlbum(bed)
    let changes: [(String, (NSManagedObject, [NSManagedObject]) -> Void)] = [
      ("ac", { $1[1].managedObjectContext?.delete($1[1]) }),
      ("ac", { $1[1].setValue(nil, forKey: "list") }),
      ("cba", { $0.setValue(NSOrderedSet(array: $1.reversed()), forKey: "songs") }),
    ]
    for (changed, change) in changes {
      let context = undoing(bed)
      try context.performAndWait {
        let list = context.object(with: id)
        let songs = try context.everyObject(of: "Song")
        #expect(list.hasFault(forRelationshipNamed: "songs"))
        change(list, songs)
        context.processPendingChanges()
        #expect(names(list) == changed)
        context.undo()
        #expect(names(list) == "abc" && !context.hasChanges, "\(changed)")
        context.redo()
        #expect(names(list) == changed && list.hasChanges)
      }
    }
  }

  @Test(
    "A saved change of an ordered relationship that became a fault is undone in its order",
    arguments: StoreKind.allCases)
  func orderOfARefreshedListIsUndone(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind, model: Self.albums())
    let id = try addAlbum(bed)
    let context = undoing(bed)
    try context.performAndWait {
      let list = context.object(with: id)
      let songs = try context.everyObject(of: "Song")
      songs[1].setValue(nil, forKey: "list")
      try context.save()
      context.refreshAllObjects()
      context.undo()
      #expect(names(list) == "abc" && songs[1].value(forKey: "list") as? NSManagedObject === list)
      try context.save()
    }
    let check = bed.context()
    try check.performAndWait {
      let lists = try check.everyObject(of: "List")
      #expect(lists.map { names($0) } == ["abc"])
    }
  }

  @Test(
    "A refresh or a merge adds another context's objects to a changed ordered relationship",
    arguments: StoreKind.allCases, [true, false])
  func refreshedListHasOthersObjects(_ kind: StoreKind, _ merges: Bool) throws {
    let changes: [(String, (NSMutableOrderedSet, NSManagedObject) -> Void)] = [
      ("bcd", { list, _ in list.removeObject(at: 0) }),
      ("cabd", { list, _ in list.moveObjects(at: IndexSet([2]), to: 0) }),
      ("abcde", { list, new in list.add(new) }), ("aebcd", { $0.insert($1, at: 1) }),
    ]
    for (expected, change) in changes {
      let bed = try ContextBed(kind, model: Self.albums())
      let (first, second) = (bed.context(), bed.context())
      let list = try first.performAndWait {
        let list = first.make("List", [:])
        let songs = ["a", "b", "c"].map { first.make("Song", ["name": $0]) }
        list.setValue(NSOrderedSet(array: songs), forKey: "songs")
        try first.save()
        change(list.mutableOrderedSetValue(forKey: "songs"), first.make("Song", ["name": "e"]))
        return list
      }
      let token = NoteList(second, .NSManagedObjectContextDidSave) { note in
        if merges { first.mergeChanges(fromContextDidSave: note) }
      }
      try second.performAndWait {
        let added = second.make("Song", ["name": "d"])
        added.setValue(second.object(with: list.objectID), forKey: "list")
        try second.save()
      }
      withExtendedLifetime(token) {}
      try first.performAndWait {
        if !merges { first.refresh(list, mergeChanges: true) }
        #expect(list.hasChanges && names(list) == expected)
        #expect(list.mutableOrderedSetValue(forKey: "songs").count == expected.count)
        try first.save()
        #expect(names(list) == expected)
      }
      let check = bed.context()
      try check.performAndWait {
        let lists = try check.everyObject(of: "List")
        #expect(lists.map { names($0) } == [expected])
      }
    }
  }

  /// The context that saves may have read the relationship before another one saved.
  @Test(
    "A saved order keeps the objects that another context has added",
    arguments: StoreKind.allCases, [true, false])
  func savedOrderKeepsOthersObjects(_ kind: StoreKind, _ merges: Bool) throws {
    let bed = try ContextBed(kind, model: Self.albums())
    let (first, second) = (bed.context(), bed.context())
    first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    let list = try first.performAndWait {
      let list = first.make("List", [:])
      let songs = ["a", "b", "c"].map { first.make("Song", ["name": $0]) }
      list.setValue(NSOrderedSet(array: songs), forKey: "songs")
      try first.save()
      list.mutableOrderedSetValue(forKey: "songs").remove(songs[0])
      return list
    }
    let token = NoteList(second, .NSManagedObjectContextDidSave) { note in
      if merges { first.mergeChanges(fromContextDidSave: note) }
    }
    try second.performAndWait {
      let twin = second.object(with: list.objectID)
      let added = second.make("Song", ["name": "d"])
      added.setValue(twin, forKey: "list")
      try second.save()
    }
    withExtendedLifetime(token) {}
    try first.performAndWait { try first.save() }
    // An in-memory store has no file for another coordinator.
    let other = kind == .sqlite ? try bed.secondCoordinator(sharingModel: true) : bed.coordinator
    for context in [bed.context(), bed.context(other)] {
      try context.performAndWait {
        let found = try #require(try context.everyObject(of: "List").first)
        let names = Set(names(found).map(String.init))
        #expect(names == ["b", "c", "d"])
        let songs = try context.everyObject(of: "Song").filter { $0.value(forKey: "list") != nil }
        #expect(Set(songs.compactMap(\.label)) == names)
      }
    }
  }
}
