import Dispatch
import OpenCoreData
import Testing

@testable import OpenCoreData

@Suite("A main-queue context outside of perform")
@MainActor
struct MainQueueTests {
  private func context(_ bed: ContextBed) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = bed.coordinator
    return context
  }

  /// Waits for the blocks that the main queue has so far.
  private func turn() async {
    await withCheckedContinuation { continuation in
      DispatchQueue.main.async { continuation.resume() }
    }
  }

  @Test(
    "The main run loop processes changes: one notification, delete rules, results controllers",
    arguments: StoreKind.allCases)
  func changesAreProcessedPerTurn(_ kind: StoreKind) async throws {
    let bed = try ContextBed(kind)
    try bed.addPeople(2)
    let context = context(bed)
    let people = try context.people()
    let changes = NoteList(context)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let listener = ResultsListener()
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
      cacheName: nil)
    controller.delegate = listener
    try controller.performFetch()
    listener.start(controller.sections)
    let gadget = context.make("Gadget", ["owner": people[0]])
    people[1].label = "q"
    context.delete(people[0])
    #expect(changes.notes.isEmpty && !gadget.isDeleted)
    await turn()
    #expect(changes.notes.count == 1)
    #expect(changes.union(NSUpdatedObjectsKey).contains(people[1]))
    #expect(changes.union(NSDeletedObjectsKey).contains(people[0]))
    #expect(gadget.managedObjectContext == nil, "the cascade has deleted it")
    #expect(listener.lines == ["will", "delete [0, 0]", "move [0, 1] [0, 0]", "did"])
    await turn()
    #expect(changes.notes.count == 1)
    people[1].label = "r"
    await turn()
    #expect(changes.notes.count == 2)
  }

  /// Observes did-change, and renames the second object whenever the first has changed.
  private nonisolated func rename(
    _ second: NSManagedObject, after first: NSManagedObject, in context: NSManagedObjectContext
  ) -> NoteList {
    NoteList(context) { note in
      let updated = note.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject>
      if updated?.contains(first) == true { second.label = "follows" }
    }
  }

  @Test("Changes that an observer of did-change makes are processed by the next turn")
  func changesOfObserversAreProcessedByTheNextTurn() async throws {
    let bed = try ContextBed(.memory)
    try bed.addPeople(2)
    let context = context(bed)
    let people = try context.people()
    let changes = rename(people[1], after: people[0], in: context)
    people[0].label = "a"
    await turn()
    await turn()
    // At the end of a block, too.
    context.performAndWait { people[0].label = "b" }
    #expect(changes.notes.count == 3)
    await turn()
    await turn()
    let updated = changes.notes.map { $0.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> }
    #expect(updated == [[people[0]], [people[1]], [people[0]], [people[1]]])
  }

  @Test("performAndWait runs synchronously on the main queue")
  func performAndWaitRunsSynchronouslyOnTheMainQueue() throws {
    let bed = try ContextBed(.memory)
    let context = context(bed)
    let other = bed.context()
    let changes = NoteList(context)
    context.performAndWait { _ = context.make("Person") }
    #expect(changes.notes.count == 1 && context.isOnQueue && !other.isOnQueue)
  }

  @Test("All changes of a turn are one undo group, however often they're processed")
  func runLoopTurnIsOneUndoGroup() async throws {
    let bed = try ContextBed(.memory)
    let ids = try bed.addPeople(1)
    let context = context(bed)
    context.undoManager = UndoManager()
    let person = context.object(with: ids[0])
    person.label = "a"
    context.processPendingChanges()
    person.number = 7
    context.processPendingChanges()
    person.label = "b"
    await turn()
    await turn()
    #expect(context.undoManager?.undoCount == 1)
    person.label = "c"
    await turn()
    await turn()
    #expect(context.undoManager?.undoCount == 2)
    context.undo()
    #expect(person.label == "b" && person.number == 7)
    context.undo()
    #expect(person.label == "p1" && person.number == 1)
    context.redo()
    #expect(person.label == "b" && person.number == 7)
  }

  @Test("The changes of a context that is released before the run loop turns aren't processed")
  func changesOfAReleasedContextAreNotProcessed() async throws {
    let bed = try ContextBed(.memory)
    weak var released: NSManagedObjectContext?
    let changes: NoteList
    do {
      let context = context(bed)
      changes = NoteList(context)
      _ = context.make("Person")
      released = context
    }
    #expect(released == nil)
    await turn()
    await turn()
    #expect(changes.notes.isEmpty)
  }
}
