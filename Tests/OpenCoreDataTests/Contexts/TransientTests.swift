import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

/// A person whose full name is a transient property.
private final class NamedPerson: NSManagedObject {
  /// State that isn't in the model.
  var settings = 0

  var fullName: String? {
    get { value(forKey: "fullName") as? String }
    set {
      settings += 1
      setValue(newValue, forKey: "fullName")
    }
  }
}

/// A person whose own state counts as a change.
private final class NotedPerson: NSManagedObject {
  override class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }

  var settings = 0 {
    willSet { willChangeValue(forKey: "settings") }
    didSet { didChangeValue(forKey: "settings") }
  }
}

@Suite("Transient properties under undo and refresh")
struct TransientTests {
  private func coordinator(
    _ kind: StoreKind, _ personClass: NSManagedObject.Type = NamedPerson.self
  ) throws -> (NSPersistentStoreCoordinator, TestStack) {
    personClass.registerClass(named: "\(personClass)")
    let person = NSEntityDescription()
    person.name = "Person"
    person.managedObjectClassName = "\(personClass)"
    person.properties = ["first", "last", "fullName"].map { name in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = .stringAttributeType
      attribute.isOptional = true
      attribute.isTransient = name == "fullName"
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [person]
    let stack = try TestStack(model: model)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      type: kind.type, at: kind.url(stack.storeURL) ?? stack.storeURL)
    return (coordinator, stack)
  }

  private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test(
    "S-D19 a merging refresh keeps an outdated transient value",
    arguments: StoreKind.allCases)
  func mergingRefreshKeepsAnOutdatedTransientValue(_ kind: StoreKind) throws {
    let (coordinator, stack) = try coordinator(kind)
    let (first, second) = (context(coordinator), context(coordinator))
    let id = try first.performAndWait {
      let person = first.make("Person", ["first": "Sarit", "last": "Smith"])
      try first.save()
      return person.objectID
    }
    let mine = second.performAndWait {
      let mine = second.object(with: id)
      mine.setValue("Jones", forKey: "last")
      mine.setValue("Sarit Jones", forKey: "fullName")
      return mine
    }
    try first.performAndWait {
      first.object(with: id).setValue("Fiona", forKey: "first")
      try first.save()
    }
    second.performAndWait {
      second.refresh(mine, mergeChanges: true)
      #expect(mine.value(forKey: "first") as? String == "Fiona")
      #expect(mine.value(forKey: "last") as? String == "Jones")
      #expect(mine.value(forKey: "fullName") as? String == "Sarit Jones")
    }
    withExtendedLifetime(stack) {}
  }

  @Test(
    "S-B14, S-B15 a transient isn't saved, and undo restores it without calling its setter",
    arguments: StoreKind.allCases)
  func undoRestoresATransientWithoutCallingItsSetter(_ kind: StoreKind) throws {
    let (coordinator, stack) = try coordinator(kind)
    let context = context(coordinator)
    context.performAndWait { context.undoManager = UndoManager() }
    let person = try context.performAndWait {
      let person = try #require(context.make("Person") as? NamedPerson)
      person.fullName = "before"
      try context.save()
      return person
    }
    context.performAndWait { person.fullName = "after" }
    context.performAndWait {
      context.undo()
      #expect(person.fullName == "before" && person.settings == 2)
      context.redo()
      #expect(person.fullName == "after" && person.settings == 2)
    }
    try context.performAndWait {
      let before = context.counters
      try context.save()
      #expect((context.counters - before).updates == 0 && !context.hasChanges)
      context.undo()
      #expect(person.fullName == "before")
    }
    withExtendedLifetime(stack) {}
  }

  @Test(
    "What undo restores is saved after a save of transient values only",
    arguments: StoreKind.allCases)
  func undoneChangeIsSavedAfterATransientOne(_ kind: StoreKind) throws {
    let (coordinator, stack) = try coordinator(kind)
    let context = context(coordinator)
    context.performAndWait { context.undoManager = UndoManager() }
    let person = try context.performAndWait {
      let person = context.make("Person", ["first": "a"])
      try context.save()
      return person
    }
    for (key, value) in [("first", "b"), ("fullName", "full")] {
      try context.performAndWait {
        person.setValue(value, forKey: key)
        try context.save()
      }
    }
    try context.performAndWait {
      context.undo()
      context.undo()
      #expect(person.value(forKey: "first") as? String == "a")
      try context.save()
    }
    let other = self.context(coordinator)
    let first = try other.performAndWait {
      try other.all("Person", by: "first").map { $0.value(forKey: "first") as? String }
    }
    #expect(first == ["a"])
    withExtendedLifetime(stack) {}
  }

  @Test(
    "A property that isn't in the model is changed without a record, unless the class overrides it",
    arguments: StoreKind.allCases)
  func unmodeledChangesAreIgnoredUnlessTheClassOverridesIt(_ kind: StoreKind) throws {
    let classes: [(NSManagedObject.Type, Bool)] = [
      (NamedPerson.self, false), (NotedPerson.self, true),
    ]
    for (personClass, isNoted) in classes {
      let (coordinator, stack) = try coordinator(kind, personClass)
      let context = context(coordinator)
      try context.performAndWait {
        let person = context.make("Person", ["first": "a"])
        try context.save()
        (person as? NotedPerson)?.settings = 1
        person.willChangeValue(forKey: "other")
        person.didChangeValue(forKey: "other")
        #expect(person.hasChanges == isNoted && context.hasChanges == isNoted)
        #expect(!person.hasPersistentChangedValues)
        let before = context.counters
        try context.save()
        #expect((context.counters - before).updates == 0 && !context.hasChanges)
      }
      withExtendedLifetime(stack) {}
    }
  }

  @Test(
    "A child's save passes transient values to its parent, which then has changes",
    arguments: StoreKind.allCases)
  func childSavePassesTransientValuesToItsParent(_ kind: StoreKind) throws {
    let (coordinator, stack) = try coordinator(kind)
    let parent = context(coordinator)
    let (person, id) = try parent.performAndWait {
      let person = parent.make("Person", ["first": "a"])
      try parent.save()
      return (person, person.objectID)
    }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    try child.performAndWait {
      child.object(with: id).setValue("full", forKey: "fullName")
      let new = child.make("Person", ["first": "new"])
      new.setPrimitiveValue("new full", forKey: "fullName")
      try child.save()
      #expect(!child.hasChanges)
    }
    try parent.performAndWait {
      #expect(person.value(forKey: "fullName") as? String == "full")
      #expect(parent.hasChanges && person.isUpdated && person.changedValues().isEmpty)
      #expect(
        parent.insertedObjects.map { $0.value(forKey: "fullName") as? String } == ["new full"])
      let before = parent.counters
      try parent.save()
      #expect((parent.counters - before).updates == 0 && !parent.hasChanges)
      #expect(person.value(forKey: "fullName") as? String == "full")
    }
    withExtendedLifetime(stack) {}
  }
}
