import OpenCoreData
import Testing

@Suite("Fetches of fetched results controllers")
struct ResultsFetchTests {
  @Test("A fetch that fails leaves the results of the last one", arguments: [0, 2])
  func failedFetchLeavesTheResults(batch: Int) throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(5)
    let context = bed.context()
    try context.performAndWait {
      let people = try context.people()
      // The teams by number are u, t, t, u, t.
      let team = context.make("Team", ["name": "u"])
      for index in [0, 3] { people[index].setValue(team, forKey: "team") }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = ["team.name", "number"].map {
        NSSortDescriptor(key: $0, ascending: true)
      }
      request.fetchBatchSize = batch
      func controller() -> NSFetchedResultsController<NSManagedObject> {
        NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "team.name",
          cacheName: nil)
      }
      let fetched = controller()
      let listener = ResultsListener()
      fetched.delegate = listener
      try fetched.performFetch()
      let sorted = [1, 2, 4, 0, 3].map { people[$0] }
      #expect(fetched.fetchedObjects == sorted)
      request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
      request.predicate = NSPredicate(format: "number < 5")
      #expect(throws: NSError.self) { try fetched.performFetch() }
      #expect(fetched.fetchedObjects == sorted)
      #expect(fetched.sections?.map(\.numberOfObjects) == [3, 2])
      #expect(fetched.sections?.last?.objects as? [NSManagedObject] == [people[0], people[3]])
      listener.start(fetched.sections)
      context.delete(people[2])
      context.processPendingChanges()
      #expect(listener.lines == ["will", "delete [0, 1]", "did"])
      #expect(fetched.fetchedObjects == [1, 4, 0, 3].map { people[$0] })
      let failed = controller()
      #expect(throws: NSError.self) { try failed.performFetch() }
      #expect(failed.fetchedObjects == nil && failed.indexPath(forObject: people[0]) == nil)
    }
  }

  /// A delegate of several controllers knows them by their requests.
  @Test("A delegate's controller has the properties of the request")
  func delegatesControllerHasTheRequest() throws {
    final class RequestListener: NSFetchedResultsControllerDelegate {
      var requests: [NSFetchRequest<any NSFetchRequestResult>] = []

      func controllerDidChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
      ) {
        requests.append(controller.fetchRequest)
      }
    }
    let bed = try ContextBed(.memory)
    try bed.addPeople(1)
    let context = bed.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
        cacheName: nil)
      let listener = RequestListener()
      controller.delegate = listener
      // A request can be changed between fetches.
      request.predicate = NSPredicate(format: "number > 0")
      try controller.performFetch()
      try context.people().first?.number = 2
      context.processPendingChanges()
      #expect(listener.requests.map { $0.entityName } == ["Person"])
      #expect(listener.requests.first?.sortDescriptors?.map { $0.key } == ["number"])
      #expect(listener.requests.first?.predicate == request.predicate)
    }
  }

  @Test(
    "A new object leaves the list if it's deleted before its insertion is posted",
    arguments: [0, 2])
  func deletedNewObjectLeavesTheList(batch: Int) throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(1)
    let context = bed.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
      request.fetchBatchSize = batch
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
        cacheName: nil)
      let listener = ResultsListener()
      controller.delegate = listener
      let new = context.make("Person", ["name": "new", "number": Int64(9)])
      try controller.performFetch()
      listener.start(controller.sections)
      #expect(controller.fetchedObjects?.last === new)
      context.delete(new)
      context.processPendingChanges()
      #expect(listener.lines == ["will", "delete [0, 1]", "did"])
      #expect(controller.fetchedObjects?.map(\.label) == ["p1"])
      // Without a fetch in between, nothing is posted.
      let notes = NoteList(context)
      context.delete(context.make("Person"))
      context.processPendingChanges()
      #expect(notes.notes.isEmpty)
    }
  }

  @Test("A section of a key path to an optional Swift property has its value as its name")
  func sectionsAreNamedByOptionalProperties() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(2)
    let context = bed.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "entity.name",
        cacheName: nil)
      try controller.performFetch()
      #expect(controller.sections?.map(\.name) == ["Person"])
      let person = try #require(controller.fetchedObjects?.first)
      let name = try #require(person.value(forKeyPath: "entity.name"))
      #expect("\(name)" == "Person")
      #expect(person.value(forKeyPath: "entity.versionHashModifier") == nil)
    }
  }

  @Test("A child lists a new object of its parent once after the parent has saved it")
  func childListsASavedObjectOnce() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(1)
    let parent = bed.context()
    let child = bed.child(of: parent)
    parent.performAndWait { _ = parent.make("Person", ["name": "new", "number": Int64(9)]) }
    let listener = ResultsListener()
    let controller = try child.performAndWait {
      child.automaticallyMergesChangesFromParent = true
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
      request.fetchBatchSize = 2
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: child, sectionNameKeyPath: nil,
        cacheName: nil)
      controller.delegate = listener
      try controller.performFetch()
      #expect(controller.fetchedObjects?.map(\.label) == ["p1", "new"])
      return controller
    }
    try parent.performAndWait { try parent.save() }
    // Runs after the merge on the child's queue.
    child.performAndWait {
      #expect(controller.fetchedObjects?.map(\.label) == ["p1", "new"])
      let new = controller.object(at: IndexPath(item: 1, section: 0))
      #expect(!new.objectID.isTemporaryID)
      listener.start(controller.sections)
      new.label = "newer"
      child.processPendingChanges()
      #expect(listener.lines == ["will", "update [0, 1]", "did"])
    }
  }

  /// Deletes an object when the results are about to change, and processes that before it returns.
  private final class DeletingListener: NSFetchedResultsControllerDelegate {
    private var object: NSManagedObject?
    private(set) var deletions: [IndexPath] = []

    init(deleting object: NSManagedObject) {
      self.object = object
    }

    func controllerWillChangeContent(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) {
      guard let last = object else { return }
      object = nil
      controller.managedObjectContext.delete(last)
      controller.managedObjectContext.processPendingChanges()
    }

    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      if type == .delete, let indexPath { deletions.append(indexPath) }
    }
  }

  @Test(
    "Index paths follow changes that the delegate has processed before the change",
    arguments: [0, 2])
  func delegateMayProcessChangesBeforeTheChange(batch: Int) throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(3)
    let context = bed.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
      request.fetchBatchSize = batch
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
        cacheName: nil)
      try controller.performFetch()
      let people = try #require(controller.fetchedObjects)
      let listener = DeletingListener(deleting: people[0])
      controller.delegate = listener
      context.delete(people[2])
      context.processPendingChanges()
      #expect(
        listener.deletions == [IndexPath(item: 0, section: 0), IndexPath(item: 1, section: 0)])
      #expect(controller.fetchedObjects == [people[1]])
      #expect(controller.sections?.map(\.numberOfObjects) == [1])
    }
  }
}
