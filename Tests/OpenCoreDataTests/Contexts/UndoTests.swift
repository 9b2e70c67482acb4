import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("Undo and redo")
struct UndoTests {
  private func undoing(_ bed: ContextBed) -> NSManagedObjectContext {
    let context = bed.context()
    context.performAndWait {
      #expect(context.undoManager == nil)
      context.undoManager = UndoManager()
    }
    return context
  }

  @Test(
    "S7.08 a hundred changes of a block are one notification and one undo",
    arguments: StoreKind.allCases)
  func changesOfABlockAreOneNotificationAndOneUndo(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(1)
    let context = undoing(bed)
    let changes = NoteList(context)
    let person = context.performAndWait { context.object(with: ids[0]) }
    context.performAndWait { for index in 0..<100 { person.number = Int64(index) } }
    #expect(changes.notes.count == 1)
    context.performAndWait { person.label = "second" }
    context.performAndWait {
      #expect(context.undoManager?.undoCount == 2)
      context.undo()
      #expect(person.label == "p1" && person.number == 99 && person.hasChanges)
      context.undo()
      #expect(person.number == 1 && !person.hasChanges && !context.hasChanges)
      context.undo()
      context.redo()
      context.redo()
      #expect(person.label == "second" && person.number == 99 && context.hasChanges)
      context.redo()
    }
  }

  @Test(
    "Insertions, deletions, and relationships are undone and redone",
    arguments: StoreKind.allCases)
  func insertionsDeletionsAndRelationshipsAreUndoneAndRedone(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let context = undoing(bed)
    let (first, second) = context.performAndWait {
      (context.object(with: ids[0]), context.object(with: ids[1]))
    }
    func members(_ team: Any?) -> Set<NSManagedObject>? {
      (team as? NSManagedObject)?.value(forKey: "members") as? Set<NSManagedObject>
    }
    let old = context.performAndWait { first.value(forKey: "team") as? NSManagedObject }
    let made = context.performAndWait {
      let made = context.make("Team", ["name": "new"])
      first.setValue(made, forKey: "team")
      second.setValue(first, forKey: "boss")
      return made
    }
    context.performAndWait { context.delete(first) }
    context.performAndWait {
      #expect(first.isDeleted && second.value(forKey: "boss") == nil)
      context.undo()
      #expect(!first.isDeleted && first.label == "p1")
      #expect(second.value(forKey: "boss") as? NSManagedObject === first)
      #expect(members(made) == [first] && members(old) == [second])
      context.undo()
      #expect(made.managedObjectContext == nil && context.insertedObjects.isEmpty)
      #expect(first.value(forKey: "team") as? NSManagedObject === old)
      #expect(members(old) == [first, second] && second.value(forKey: "boss") == nil)
      #expect(!context.hasChanges)
      context.redo()
      #expect(context.insertedObjects == [made] && made.label == "new")
      #expect(members(made) == [first] && members(old) == [second])
      context.redo()
      #expect(first.isDeleted && members(made) == [])
    }
    try context.performAndWait { try context.save() }
    let check = bed.context()
    let names = try check.performAndWait { try check.people().map(\.label) }
    #expect(names == ["p2"])
  }

  @Test("Undoing saved changes takes another save", arguments: StoreKind.allCases)
  func undoneSavedChangesTakeAnotherSave(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let context = undoing(bed)
    let (first, second) = context.performAndWait {
      (context.object(with: ids[0]), context.object(with: ids[1]))
    }
    let made = try context.performAndWait {
      let made = context.make("Person", ["name": "new", "number": Int64(3)])
      made.setValue(first.value(forKey: "team"), forKey: "team")
      first.label = "changed"
      context.delete(second)
      try context.save()
      return made
    }
    try context.performAndWait {
      context.undo()
      #expect(first.label == "p1" && first.isUpdated && made.isDeleted && second.isInserted)
      #expect(second.label == "p2" && second.managedObjectContext === context)
      try context.save()
    }
    let check = bed.context()
    try check.performAndWait {
      let people = try check.people()
      #expect(people.map(\.label) == ["p1", "p2"])
      let team = people[0].value(forKey: "team") as? NSManagedObject
      #expect((team?.value(forKey: "members") as? Set<NSManagedObject>) == Set(people))
    }
    try context.performAndWait {
      context.redo()
      try context.save()
    }
    let count = try check.performAndWait { try check.people().map(\.objectID).count }
    #expect(count == 2)
  }

  @Test(
    "An undone saved insertion is redone with its relationships", arguments: StoreKind.allCases,
    [true, false])
  func savedInsertionIsRedone(_ kind: StoreKind, _ savesUndo: Bool) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(1)
    let context = undoing(bed)
    func tags(of person: NSManagedObject) -> [String?] {
      (person.value(forKey: "tags") as? Set<NSManagedObject> ?? []).map(\.label)
    }
    try context.performAndWait {
      let person = context.object(with: ids[0])
      let tag = context.make("Tag", ["name": "new", "workers": Set([person])])
      try context.save()
      for _ in 0..<2 {
        context.undo()
        #expect(tag.isDeleted && tags(of: person) == [])
        if savesUndo { try context.save() }
        context.redo()
        #expect(tag.managedObjectContext === context && !tag.isDeleted && tag.label == "new")
        #expect(tag.isInserted == savesUndo && tags(of: person) == ["new"])
        try context.save()
        let check = bed.context()
        try check.performAndWait {
          let found = try check.people().map { tags(of: $0) }
          #expect(found == [["new"]])
        }
      }
    }
  }

  @Test(
    "S6.49, S-D07, S-D08 the undo manager retains changed objects until its actions are removed",
    arguments: StoreKind.allCases)
  func undoManagerRetainsChangedObjectsUntilItsActionsAreRemoved(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(3)
    for way in ["removeAllActions", "nil", "reset", "rollback"] {
      let context = undoing(bed)
      try context.performAndWait {
        for id in ids { context.object(with: id).label = way }
        try context.save()
      }
      context.performAndWait { #expect(context.registeredCount(ofEntity: "Person") == 3) }
      context.performAndWait {
        switch way {
        case "removeAllActions": context.undoManager?.removeAllActions()
        case "nil": context.undoManager = nil
        case "reset": context.reset()
        default: context.rollback()
        }
        #expect(context.undoManager?.canUndo != true)
      }
      context.performAndWait { #expect(context.registeredCount == 0) }
    }
    let context = undoing(bed)
    context.performAndWait { context.object(with: ids[0]).label = "for a while" }
    context.performAndWait { context.undo() }
    context.performAndWait {
      #expect(!context.hasChanges)
      context.undoManager?.removeAllActions()
    }
    context.performAndWait { #expect(context.registeredCount == 0) }
  }

  @Test("UndoManager supports groups, levels, action names, and released targets")
  func undoManagerSupportsGroupsLevelsNamesAndReleasedTargets() {
    final class Counter {
      var value = 0
      func set(_ value: Int, _ manager: UndoManager) {
        let old = self.value
        manager.registerUndo(withTarget: self) { $0.set(old, manager) }
        self.value = value
      }
    }
    let manager = UndoManager()
    let names = LineList()
    let token = NotificationCenter.default.addObserver(
      forName: .NSUndoManagerDidUndoChange, object: manager, queue: nil
    ) { _ in names.add("did undo") }
    defer { NotificationCenter.default.removeObserver(token) }
    let counter = Counter()
    for value in 1...3 {
      manager.beginUndoGrouping()
      counter.set(value * 10, manager)
      manager.beginUndoGrouping()
      counter.set(value, manager)
      manager.endUndoGrouping()
      manager.setActionName("Step \(value)")
      manager.endUndoGrouping()
    }
    #expect(manager.undoCount == 3 && manager.undoMenuItemTitle == "Undo Step 3")
    manager.undo()
    #expect(counter.value == 2 && manager.canRedo && manager.redoActionName == "Step 3")
    manager.undo()
    #expect(counter.value == 1 && manager.undoCount == 1 && names.lines.count == 2)
    manager.redo()
    #expect(counter.value == 2 && manager.undoCount == 2 && names.lines.count == 2)
    manager.disableUndoRegistration()
    counter.set(7, manager)
    manager.enableUndoRegistration()
    #expect(manager.undoCount == 2 && manager.canRedo)
    // An action registered outside of a group begins one, and empties the redo stack.
    counter.set(8, manager)
    #expect(manager.groupingLevel == 1 && !manager.canRedo)
    manager.undo()
    #expect(counter.value == 7 && manager.groupingLevel == 0)
    manager.levelsOfUndo = 1
    #expect(manager.undoCount == 1)
    var other: Counter? = Counter()
    other?.set(1, manager)
    other = nil
    manager.undo()
    #expect(counter.value == 7)
    manager.removeAllActions(withTarget: counter)
    #expect(!manager.canUndo)
  }

  @Test("undoNestedGroup undoes the last group inside of the open one")
  func nestedGroupIsUndone() throws {
    let bed = try ContextBed(.memory)
    let ids = try bed.addPeople(1)
    let context = bed.context()
    try context.performAndWait {
      let manager = UndoManager()
      context.undoManager = manager
      let person = context.object(with: ids[0])
      person.label = "a"
      context.processPendingChanges()
      manager.beginUndoGrouping()
      person.label = "b"
      manager.beginUndoGrouping()
      person.label = "c"
      manager.endUndoGrouping()
      manager.undoNestedGroup()
      #expect(person.label == "b" && manager.groupingLevel == 1 && manager.undoCount == 1)
      manager.registerUndo(withTarget: person) { _ in }
      manager.undoNestedGroup()
      #expect(person.label == "b" && manager.undoCount == 1)
      manager.endUndoGrouping()
      context.undo()
      #expect(person.label == "a")
      context.undo()
      #expect(person.label == "p1" && !manager.canUndo)
      manager.beginUndoGrouping()
      manager.undoNestedGroup()
      manager.endUndoGrouping()
      context.redo()
      #expect(person.label == "a")
      try context.save()
    }
  }

  @Test(
    "A join row that was deleted in the meantime isn't restored by undo",
    arguments: StoreKind.ofRows)
  func joinRowDeletedMeanwhileIsNotRestoredByUndo(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(1)
    let context = undoing(bed)
    let (person, tag) = try context.performAndWait {
      let (person, tag) = (context.object(with: ids[0]), context.make("Tag"))
      tag.setValue(Set([person]), forKey: "workers")
      try context.save()
      context.refreshAllObjects()
      #expect((tag.value(forKey: "workers") as? Set<NSManagedObject>)?.count == 1)
      return (person, tag)
    }
    let other = bed.context()
    try other.performAndWait {
      other.delete(other.object(with: tag.objectID))
      try other.save()
    }
    context.performAndWait { tag.setValue(Set<NSManagedObject>(), forKey: "workers") }
    context.performAndWait {
      #expect((person.value(forKey: "tags") as? Set<NSManagedObject>)?.isEmpty == true)
      context.undo()
      #expect((person.value(forKey: "tags") as? Set<NSManagedObject>)?.isEmpty == true)
      #expect(!person.hasPersistentChangedValues && !person.hasChanges)
      context.redo()
      #expect((person.value(forKey: "tags") as? Set<NSManagedObject>)?.isEmpty == true)
    }
  }

  @Test("A new change empties the redo stack; explicit groups span blocks")
  func newChangeEmptiesTheRedoStackAndExplicitGroupsSpanBlocks() throws {
    let bed = try ContextBed(.memory)
    let ids = try bed.addPeople(1)
    let context = undoing(bed)
    let person = context.performAndWait { context.object(with: ids[0]) }
    context.performAndWait { context.undoManager?.beginUndoGrouping() }
    context.performAndWait { person.label = "one" }
    context.performAndWait { person.number = 7 }
    context.performAndWait {
      context.undoManager?.endUndoGrouping()
      context.undo()
      #expect(person.label == "p1" && person.number == 1)
      #expect(context.undoManager?.canRedo == true)
    }
    context.performAndWait { person.label = "other" }
    context.performAndWait {
      #expect(context.undoManager?.canRedo == false)
      // The manager's own undo includes pending changes.
      person.number = 9
      context.undoManager?.undo()
      #expect(person.number == 1 && person.label == "other")
    }
  }

  @Test("An action can discard all actions of its manager")
  func actionCanDiscardAllActions() {
    let (manager, target) = (UndoManager(), NSObject())
    for _ in 0..<2 {
      manager.beginUndoGrouping()
      manager.registerUndo(withTarget: target) { _ in manager.removeAllActions() }
      manager.endUndoGrouping()
    }
    withExtendedLifetime(target) { manager.undo() }
    #expect(!manager.canUndo && !manager.canRedo && !manager.isUndoing)
  }

  @Test("Undo changes no object whose row another context has deleted")
  func undoSkipsObjectsWithoutARow() throws {
    let bed = try ContextBed(.memory)
    let ids = try bed.addPeople(1)
    let (context, other) = (undoing(bed), bed.context())
    let saved = NoteList(other, .NSManagedObjectContextDidSave)
    try context.performAndWait {
      let person = try context.existingObject(with: ids[0])
      person.label = "mine"
      try context.save()
      try other.performAndWait {
        other.delete(other.object(with: ids[0]))
        try other.save()
      }
      context.mergeChanges(fromContextDidSave: try #require(saved.notes.last))
      context.processPendingChanges()
      context.undo()
      #expect(person.isDeleted && person.label == "mine")
      #expect(!context.hasChanges && context.updatedObjects.isEmpty)
    }
  }

  @Test(
    "Redo repeats a change of a link that another context has saved", arguments: StoreKind.ofRows)
  func redoRepeatsChangesOfSavedLinks(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let (context, other) = (undoing(bed), bed.context())
    let tagIDs = try other.performAndWait {
      let tags = (0..<2).map { _ in other.make("Tag", [:]) }
      try other.save()
      return tags.map(\.objectID)
    }
    func related(_ object: NSManagedObject, _ key: String) -> Set<NSManagedObject>? {
      object.value(forKey: key) as? Set<NSManagedObject>
    }
    try context.performAndWait {
      let (people, tags) = (ids.map(context.object(with:)), tagIDs.map(context.object(with:)))
      // The person is read before the link is saved elsewhere, and the tag after that.
      #expect(related(people[0], "tags")?.isEmpty == true)
      people[1].setValue(Set([tags[1]]), forKey: "tags")
      try other.performAndWait {
        for (id, tag) in zip(ids, tagIDs) {
          other.object(with: id).setValue(Set([other.object(with: tag)]), forKey: "tags")
        }
        try other.save()
      }
      #expect(related(tags[0], "workers") == [people[0]])
      people[0].setValue(Set([tags[0]]), forKey: "tags")
      context.processPendingChanges()
      context.undo()
      context.redo()
      #expect(people[0].isUpdated && tags[0].isUpdated)
      #expect(related(people[0], "tags") == [tags[0]] && related(tags[0], "workers") == [people[0]])

      // An unsaved addition is read from the store, too.
      context.refreshAllObjects()
      #expect(related(people[1], "tags") == [tags[1]])
      people[1].setValue(Set<NSManagedObject>(), forKey: "tags")
      context.processPendingChanges()
      context.undo()
      #expect(related(people[1], "tags") == [tags[1]])
      context.redo()
      #expect(related(people[1], "tags")?.isEmpty == true)
    }
  }

  @Test("In the event of an undo, and in the next one, changes have the values before them")
  func eventOfAnUndoHasTheValuesBeforeIt() throws {
    let bed = try ContextBed(.memory)
    let ids = try bed.addPeople(1)
    let context = undoing(bed)
    let person = try context.performAndWait { try context.existingObject(with: ids[0]) }
    for name in ["b", "c"] { context.performAndWait { person.label = name } }
    var seen: [String?] = []
    let notes = NoteList(context) { _ in
      seen.append(person.changedValuesForCurrentEvent()["name"] as? String)
    }
    context.performAndWait {
      context.undo()
      context.undo()
      #expect(person.label == "p1" && !context.hasChanges)
      person.label = "d"
      context.processPendingChanges()
    }
    #expect(seen == ["c", "b", "p1"] && notes.notes.count == 3)
  }

  /// Each repetition would add a change to undo, so that the next one would be slower.
  @Test(
    "Repeated undo and redo of an insertion or deletion takes linear time",
    arguments: [true, false])
  func repeatedUndoAndRedoTakesLinearTime(_ deletes: Bool) throws {
    let context = undoing(try ContextBed(.memory))
    try context.performAndWait {
      let team = context.make("Team", ["name": "new"])
      let member = context.make("Person", ["name": "a", "team": team])
      context.processPendingChanges()
      if deletes {
        try context.save()
        context.delete(team)
        context.processPendingChanges()
      }
      let begin = threadTime()
      for _ in 0..<8_000 {
        context.undo()
        context.redo()
      }
      #expect(threadTime() - begin < 30)
      if deletes { context.undo() }
      #expect(team.value(forKey: "members") as? Set<NSManagedObject> == [member])
      if !deletes { context.undo() }
      #expect(!context.hasChanges)
    }
  }
}
