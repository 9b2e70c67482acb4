import OpenCoreData
import Testing

@testable import OpenCoreData

@Suite("Undo of some of an object's changes")
struct UndoMergeTests {
  @Test(
    "Undo keeps what another context saved, and what was changed without registration",
    arguments: [true, false])
  func undoRevertsOnlyRecordedChanges(isProcessedBeforeMerge: Bool) throws {
    let bed = try ContextBed(.sqlite)
    let ids = try bed.addPeople(2)
    let (context, other) = (bed.context(), bed.context())
    let team = try other.performAndWait {
      let team = other.make("Team", ["name": "other"])
      let person = other.object(with: ids[0])
      (person.number, person.label) = (1, "p1")
      try other.save()
      return team.objectID
    }
    try context.performAndWait {
      context.undoManager = UndoManager()
      let person = context.object(with: ids[0])
      person.label = "mine"
      if isProcessedBeforeMerge { context.processPendingChanges() }
      var saved: Notification?
      try other.performAndWait {
        let list = NoteList(other, .NSManagedObjectContextDidSave)
        let theirs = other.object(with: ids[0])
        theirs.number = 5
        theirs.setValue(other.object(with: team), forKey: "team")
        try other.save()
        saved = list.notes.first
      }
      context.mergeChanges(fromContextDidSave: try #require(saved))
      #expect(person.number == 5 && person.label == "mine")
      context.undo()
      #expect(person.number == 5 && person.label == "p1")
      #expect((person.value(forKey: "team") as? NSManagedObject)?.objectID == team)
      context.redo()
      #expect(person.number == 5 && person.label == "mine")
      try context.save()
      // A change without registration isn't undone.
      let second = context.object(with: ids[1])
      second.label = "recorded"
      context.processPendingChanges()
      context.undoManager?.disableUndoRegistration()
      second.number = 7
      context.processPendingChanges()
      context.undoManager?.enableUndoRegistration()
      context.undo()
      #expect(second.number == 7 && second.label == "p2" && second.hasChanges)
    }
    other.performAndWait {
      other.refreshAllObjects()
      #expect(other.object(with: ids[0]).number == 5)
    }
  }

  @Test(
    "Undo of an unsaved deletion keeps what another context has saved in the meantime",
    arguments: StoreKind.allCases, [true, false])
  func undoneDeletionKeepsOthersValues(_ kind: StoreKind, _ merges: Bool) throws {
    let bed = try ContextBed(kind)
    let id = try bed.addPeople(1)[0]
    let (context, other) = (bed.context(), bed.context())
    try context.performAndWait {
      context.undoManager = UndoManager()
      let person = try context.existingObject(with: id)
      person.label = "mine"
      context.processPendingChanges()
      context.delete(person)
      context.processPendingChanges()
      var saved: Notification?
      try other.performAndWait {
        let list = NoteList(other, .NSManagedObjectContextDidSave)
        let theirs = other.object(with: id)
        theirs.number = 5
        try other.save()
        saved = list.notes.first
      }
      if merges {
        context.mergeChanges(fromContextDidSave: try #require(saved))
      } else {
        context.refresh(person, mergeChanges: false)
      }
      context.undo()
      #expect(!person.isDeleted && person.number == 5 && person.label == "mine")
      context.redo()
      #expect(person.isDeleted)
      context.undo()
      context.undo()
      #expect(person.number == 5 && person.label == "p1" && !context.hasChanges)
    }
  }

  @Test(
    "A change that is undone while its object is a fault is redone, also after a save",
    arguments: StoreKind.allCases, [true, false])
  func changeOfAFaultIsRedone(_ kind: StoreKind, _ savesUndo: Bool) throws {
    let bed = try ContextBed(kind)
    let id = try bed.addPeople(1)[0]
    let context = bed.context()
    try context.performAndWait {
      context.undoManager = UndoManager()
      let person = try context.existingObject(with: id)
      person.label = "new"
      try context.save()
      context.refresh(person, mergeChanges: false)
      context.undo()
      #expect(person.label == "p1")
      if savesUndo { try context.save() }
      context.redo()
      #expect(person.label == "new" && person.hasChanges == savesUndo)
    }
  }

  @Test("A change or a deletion that a refresh discards in its event isn't an undo group")
  func discardedChangeIsNoGroup() throws {
    let bed = try ContextBed(.memory)
    let ids = try bed.addPeople(2)
    let context = bed.context()
    try context.performAndWait {
      let manager = UndoManager()
      context.undoManager = manager
      let people = try ids.map { try context.existingObject(with: $0) }
      people[0].label = "kept"
      context.processPendingChanges()
      context.undo()
      people[0].label = "discarded"
      context.delete(people[1])
      for person in people { context.refresh(person, mergeChanges: false) }
      context.processPendingChanges()
      #expect(people.compactMap(\.label) == ["p1", "p2"] && !context.hasChanges)
      #expect(!manager.canUndo && manager.canRedo)
      context.redo()
      #expect(people[0].label == "kept")
      // Of an event, only the other changes are undone.
      people[0].label = "discarded"
      people[1].label = "changed"
      context.refresh(people[0], mergeChanges: false)
      context.processPendingChanges()
      context.undo()
      #expect(people[1].label == "p2" && people[0].label == "kept")
    }
  }

  @Test("An undo manager that's used directly makes the context post its changes")
  func undoManagerIsUsedDirectly() throws {
    let bed = try ContextBed(.sqlite)
    let ids = try bed.addPeople(1)
    let context = bed.context()
    context.performAndWait {
      let manager = UndoManager()
      context.undoManager = manager
      let person = context.object(with: ids[0])
      person.label = "first"
      context.processPendingChanges()
      let list = NoteList(context)
      manager.undo()
      #expect(list.notes.count == 1 && person.label == "p1")
      person.label = "second"
      context.processPendingChanges()
      #expect(list.notes.count == 2 && manager.canUndo)
      manager.undo()
      #expect(person.label == "p1")
      manager.redo()
      #expect(list.notes.count == 4 && person.label == "second")
    }
  }

  @Test("An action's name belongs to the changes that precede it, processed or not")
  func actionNamesBelongToPendingChanges() throws {
    let bed = try ContextBed(.memory)
    let ids = try bed.addPeople(1)
    let context = bed.context()
    let manager = UndoManager()
    context.performAndWait { context.undoManager = manager }
    for name in ["first", "second"] {
      context.performAndWait {
        context.object(with: ids[0]).label = name
        manager.setActionName(name)
      }
    }
    context.performAndWait {
      #expect(manager.undoCount == 2 && manager.undoActionName == "second")
      context.undo()
      #expect(manager.undoActionName == "first" && manager.redoActionName == "second")
      #expect(context.object(with: ids[0]).label == "first")
    }
  }

  @Test("What a program's own action changes during an undo is part of the redo")
  func changesOfOwnActionsAreRedone() throws {
    let bed = try ContextBed(.memory)
    let ids = try bed.addPeople(1)
    let context = bed.context()
    try context.performAndWait {
      let manager = UndoManager()
      context.undoManager = manager
      let person = try context.existingObject(with: ids[0])
      let renaming = Renaming(of: person, manager)
      manager.beginUndoGrouping()
      person.label = "new"
      context.processPendingChanges()
      renaming.register("p1")
      manager.endUndoGrouping()
      withExtendedLifetime(renaming) {
        for _ in 0..<2 {
          manager.undo()
          #expect(person.label == "p1" && manager.undoCount == 0 && manager.redoCount == 1)
          manager.redo()
          #expect(person.label == "new" && manager.undoCount == 1 && manager.redoCount == 0)
        }
      }
    }
  }
}

/// A program's own undo action, which renames an object.
private final class Renaming {
  private let object: NSManagedObject
  private let manager: UndoManager

  init(of object: NSManagedObject, _ manager: UndoManager) {
    (self.object, self.manager) = (object, manager)
  }

  /// Registers an action that gives the object a name.
  func register(_ name: String?) {
    manager.registerUndo(withTarget: self) { renaming in
      renaming.register(renaming.object.label)
      renaming.object.label = name
    }
  }
}
