import OpenCoreData
import ProfileEvents
import Testing

@Suite("Fetched results controllers of dictionaries")
struct DictionaryControllerTests {
  /// A controller of people's names, in a section for each team.
  private static func controller<Item>(
    _ context: NSManagedObjectContext, of type: Item.Type
  ) -> NSFetchedResultsController<Item> {
    let request = NSFetchRequest<Item>(entityName: "Person")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["name", "team.name"]
    request.sortDescriptors = ["team.name", "name"].map {
      NSSortDescriptor(key: $0, ascending: true)
    }
    return NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "team.name",
      cacheName: nil)
  }

  @Test(
    "Without a delegate, results can be dictionaries, in sections, which aren't updated",
    arguments: StoreKind.ofRows)
  func dictionariesAreFetchedInSections(kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    try bed.addPeople(3)
    let context = bed.context()
    try context.performAndWait {
      let team = context.make("Team", ["name": "a"])
      _ = context.make("Person", ["name": "p0", "team": team])
      try context.save()
      let controller = Self.controller(context, of: [String: Any].self)
      let isFetched = controller.fetchedObjects != nil
      #expect(!isFetched)
      let before = context.counters
      try controller.performFetch()
      let cost = context.counters - before
      #expect(cost.selects == bed.selects(1) && cost.objectFaults == 0)
      let all = try #require(controller.fetchedObjects)
      #expect(all.map { $0["name"] as? String } == ["p0", "p1", "p2", "p3"])
      #expect(controller.sections?.map(\.name) == ["a", "t"])
      #expect(controller.sections?.map(\.numberOfObjects) == [1, 3])
      let last = controller.object(at: IndexPath(item: 2, section: 1))
      #expect(last["name"] as? String == "p3")
      let people = controller.sections?.last?.objects as? [[String: Any]]
      #expect(people?.map { $0["team.name"] as? String } == ["t", "t", "t"])
      let path = controller.indexPath(forObject: last)
      #expect(path == nil && controller.snapshot.numberOfItems == 0)
      team.label = "z"
      try context.save()
      #expect(controller.sections?.map(\.name) == ["a", "t"])
      try controller.performFetch()
      #expect(controller.sections?.map(\.name) == ["t", "z"])
      let typed = Self.controller(context, of: NSDictionary.self)
      try typed.performFetch()
      #expect(typed.fetchedObjects?.last?["name"] as? String == "p0")
    }
  }

  @Test("Changes of dictionaries can't be reported: setting a delegate is a programmer error")
  func delegateIsAProgrammerError() async {
    let early = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try ContextBed(.memory).context()
      try context.performAndWait {
        let controller = Self.controller(context, of: NSDictionary.self)
        let listener = ResultsListener()
        controller.delegate = listener
        try withExtendedLifetime(listener) { try controller.performFetch() }
      }
    }
    #expect(early.message.contains("can't report changes of dictionaries"))
    let late = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try ContextBed(.memory).context()
      try context.performAndWait {
        let controller = Self.controller(context, of: NSDictionary.self)
        try controller.performFetch()
        let listener = ResultsListener()
        withExtendedLifetime(listener) { controller.delegate = listener }
      }
    }
    #expect(late.message.contains("can't report changes of dictionaries"))
  }
}
