import OpenCoreData
import Testing

@Suite("Fetched results controllers with a batch size")
struct ResultsBatchTests {
  /// Records the changes of objects, without loading them.
  private final class Lines: NSFetchedResultsControllerDelegate {
    var lines: [String] = []

    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      let items = [indexPath, newIndexPath].compactMap { $0 }.map { "\($0.item)" }
      lines.append("\(type) " + items.joined(separator: " "))
    }
  }

  /// Employees `e0` to `e5`.
  private static func stack() throws -> TestStack {
    let stack = try TestStack(model: TestModels.company())
    let context = try stack.coldContext()
    try context.performAndWait {
      for index in 0..<6 { _ = context.make("Employee", ["name": "e\(index)"]) }
      try context.save()
    }
    return stack
  }

  private static func controller(
    _ context: NSManagedObjectContext, _ delegate: any NSFetchedResultsControllerDelegate
  ) -> NSFetchedResultsController<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    request.fetchBatchSize = 2
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
      cacheName: nil)
    controller.delegate = delegate
    return controller
  }

  private static func names(
    _ controller: NSFetchedResultsController<NSManagedObject>
  ) -> [String] {
    (controller.fetchedObjects ?? []).compactMap { $0.value(forKey: "name") as? String }
  }

  @Test(
    "A merge changes the list if the batches of the rows aren't loaded", arguments: [true, false])
  func mergesChangeUnloadedRows(isForeign: Bool) throws {
    let stack = try Self.stack()
    let mine = try stack.coldContext()
    let theirs = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    theirs.persistentStoreCoordinator =
      try isForeign
      ? stack.coldContext().persistentStoreCoordinator : mine.persistentStoreCoordinator
    try mine.performAndWait {
      let changes = Lines()
      let controller = Self.controller(mine, changes)
      try controller.performFetch()
      let saved = NoteList(theirs, .NSManagedObjectContextDidSave)
      try theirs.performAndWait {
        let all = try theirs.all("Employee")
        theirs.delete(all[5])
        all[4].setValue("a", forKey: "name")
        try theirs.save()
      }
      let note = try #require(saved.notes.last)
      #expect(mine.registeredObjects.isEmpty)
      mine.mergeChanges(fromContextDidSave: note)
      #expect(changes.lines == ["delete 5", "move 4 0"])
      #expect(Self.names(controller) == ["a", "e0", "e1", "e2", "e3"])
    }
  }

  @Test(
    "Undoing an insertion removes the object, even if it has a permanent ID",
    arguments: [true, false])
  func undoneInsertionWithAPermanentIDIsRemoved(isFetchedLater: Bool) throws {
    let stack = try Self.stack()
    let context = try stack.coldContext()
    try context.performAndWait {
      context.undoManager = UndoManager()
      let changes = Lines()
      let controller = Self.controller(context, changes)
      if !isFetchedLater { try controller.performFetch() }
      let new = context.make("Employee", ["name": "e9"])
      context.processPendingChanges()
      try context.obtainPermanentIDs(for: [new])
      if isFetchedLater { try controller.performFetch() }
      let old = (0..<6).map { "e\($0)" }
      #expect(Self.names(controller) == old + ["e9"])
      context.undo()
      #expect(changes.lines.last == "delete 6")
      #expect(Self.names(controller) == old)
      context.redo()
      #expect(changes.lines.last == "insert 6")
      #expect(Self.names(controller) == old + ["e9"])
      try context.obtainPermanentIDs(for: [new])
      try context.save()
      #expect(Self.names(controller) == old + ["e9"])
      context.delete(new)
      context.processPendingChanges()
      #expect(Self.names(controller) == old)
    }
  }
}
