import OpenCoreData
import Testing

@Suite("Moves and section titles of fetched results controllers")
struct ResultsMoveTests {
  private static func request() -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    return request
  }

  @Test("Objects whose sort key has changed move, even to the same place; others are updated")
  func changedSortKeysAreMoves() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(3)
    let context = bed.context()
    try context.performAndWait {
      let controller = NSFetchedResultsController(
        fetchRequest: Self.request(), managedObjectContext: context, sectionNameKeyPath: nil,
        cacheName: nil)
      let listener = ResultsListener()
      controller.delegate = listener
      try controller.performFetch()
      let people = try #require(controller.fetchedObjects)
      func change(_ changes: () -> Void) -> [String] {
        listener.start(controller.sections)
        changes()
        context.processPendingChanges()
        #expect(listener.mirror.first?.objects == controller.fetchedObjects)
        return listener.lines
      }
      // The first one becomes second.
      var lines = change {
        people[0].setValue(5, forKey: "number")
        people[1].setValue("other", forKey: "name")
        people[2].setValue(9, forKey: "number")
      }
      #expect(
        lines == ["will", "move [0, 0] [0, 1]", "move [0, 2] [0, 2]", "update [0, 1]", "did"])
      #expect(controller.fetchedObjects == [people[1], people[0], people[2]])
      // The same value isn't a change of the order.
      lines = change {
        people[0].setValue(5, forKey: "number")
        people[0].setValue("same", forKey: "name")
      }
      #expect(lines == ["will", "update [0, 1]", "did"])
    }
  }

  @Test("Without an order, new sections follow the last one, also if that gets an object, too")
  func newSectionsFollowTheLastOne() throws {
    let bed = try ContextBed(.sqlite)
    let context = bed.context()
    try context.performAndWait {
      func add(_ name: String, _ number: Int64) -> NSManagedObject {
        context.make("Person", ["name": name, "number": number])
      }
      let first = add("z", 1)
      try context.save()
      let request = Self.request()
      request.sortDescriptors = []
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "name",
        cacheName: nil)
      let listener = ResultsListener()
      controller.delegate = listener
      try controller.performFetch()
      listener.start(controller.sections)
      let (second, third) = (add("z", 2), add("a", 3))
      context.processPendingChanges()
      #expect(controller.sections?.map(\.name) == ["z", "a"])
      #expect(controller.fetchedObjects == [first, second, third])
      #expect(listener.mirror.map { $0.name } == ["z", "a"])
      // The last section loses its object, and gets another one.
      context.delete(third)
      let (fourth, fifth) = (add("b", 4), add("a", 5))
      context.processPendingChanges()
      #expect(controller.sections?.map(\.name) == ["z", "a", "b"])
      #expect(controller.fetchedObjects == [first, second, fifth, fourth])
      #expect(listener.mirror.flatMap { $0.objects } == controller.fetchedObjects)
    }
  }

  /// A controller with other titles of sections.
  private final class Titled: NSFetchedResultsController<NSManagedObject> {
    override func sectionIndexTitle(forSectionName sectionName: String) -> String? {
      "Number \(sectionName)"
    }
  }

  @Test("An override determines the titles of the section index, with a delegate too")
  func overrideDeterminesIndexTitles() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(2)
    let context = bed.context()
    try context.performAndWait {
      let controller = Titled(
        fetchRequest: Self.request(), managedObjectContext: context,
        sectionNameKeyPath: "number", cacheName: nil)
      try controller.performFetch()
      let titles = ["Number 1", "Number 2"]
      #expect(controller.sectionIndexTitles == titles)
      #expect(controller.sections?.map(\.indexTitle) == titles)
      #expect(controller.section(forSectionIndexTitle: "Number 2", at: 1) == 1)
      let listener = ResultsListener()
      controller.delegate = listener
      #expect(controller.sectionIndexTitles == titles)
    }
  }
}
