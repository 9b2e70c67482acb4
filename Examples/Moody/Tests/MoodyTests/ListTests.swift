import CoreDataCosts
import Moody
import OpenCoreData
import Testing

@Suite("List data source")
struct ListTests {
  /// A list of moods, newest first, and the changes reported to it.
  private final class List {
    let source: ListDataSource<Mood>
    var passes: [[String]] = []

    init(_ context: NSManagedObjectContext, batch: Int = 0) throws {
      let request = Mood.visibleFetchRequest
      request.returnsObjectsAsFaults = false
      request.fetchBatchSize = batch
      nonisolated(unsafe) weak var list: List?
      source = try ListDataSource(
        NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
          cacheName: nil)
      ) { changes in
        list?.passes.append(
          changes.map { change in
            switch change {
            case .insert(let path): "insert \(path.item)"
            case .delete(let path): "delete \(path.item)"
            case .move(let old, let new): "move \(old.item) \(new.item)"
            case .update(let path, let mood): "update \(path.item) \(mood.latitude ?? 0)"
            }
          }.sorted())
      }
      list = self
    }

    var minutes: [Int] {
      (0..<source.count).map {
        let date = source.object(at: IndexPath(item: $0, section: 0)).date
        return Int(date.timeIntervalSinceReferenceDate / 60)
      }
    }
  }

  @Test(
    "S3.10 insert, delete, move, and update are reported once each, in one pass",
    arguments: StoreKind.allCases, [0, 2])
  func allChangesAreReportedInOnePass(kind: StoreKind, batch: Int) throws {
    let stack = try MoodyStack(kind)
    let context = stack.context()
    try context.performAndWait {
      let moods = (1...4).map { context.mood($0 * 10, in: nil) }
      try context.save()
      let list = try List(context, batch: batch)
      #expect(list.minutes == [40, 30, 20, 10])
      context.mood(25, in: nil)
      context.delete(moods[3])
      moods[0].date = Date(timeIntervalSinceReferenceDate: 35 * 60)
      moods[1].latitude = 2
      context.processPendingChanges()
      #expect(list.passes == [["delete 0", "insert 2", "move 3 0", "update 2 2.0"]])
      #expect(list.minutes == [35, 30, 25, 20])
      try context.save()
      #expect(list.passes.count == 1, "saving doesn't change the list")
      try list.source.reconfigure { $0.predicate = NSPredicate(format: "latitude == 2") }
      #expect(list.minutes == [20])
    }
  }

  @Test(
    "S3.11 merged changes are reported like local ones",
    arguments: StoreKind.allCases)
  func mergedChangesAreReportedLikeLocalOnes(kind: StoreKind) throws {
    let stack = try MoodyStack(kind)
    let context = stack.context()
    let other = stack.context()
    let ids = try context.performAndWait {
      let moods = (1...3).map { context.mood($0 * 10, in: nil) }
      try context.save()
      return moods.map(\.objectID)
    }
    let list = try context.performAndWait { try List(context) }
    let saved = SaveNotifications(of: other)
    try other.performAndWait {
      other.mood(15, in: nil)
      for (index, id) in ids.enumerated() {
        let mood = try #require(try other.existingObject(with: id) as? Mood)
        switch index {
        case 0: mood.date = Date(timeIntervalSinceReferenceDate: 25 * 60)
        case 1: mood.latitude = 7
        default: mood.markForLocalDeletion()
        }
      }
      try other.save()
    }
    let note = try #require(saved.last)
    context.performAndWait {
      context.mergeChanges(fromContextDidSave: note)
      #expect(list.minutes == [25, 20, 15])
      #expect(list.passes == [["delete 0", "insert 2", "move 2 0", "update 1 7.0"]])
    }
  }

  @Test("Changing the request of a list without a cache keeps the caches of others")
  func reconfiguringKeepsOtherCaches() throws {
    let stack = try MoodyStack(.sqlite)
    let context = stack.context()
    let name = "ListTests-\(UUID().uuidString)"
    defer { NSFetchedResultsController<Mood>.deleteCache(withName: name) }
    func fetchedRows() throws -> Int {
      let request = Mood.visibleFetchRequest
      request.fetchBatchSize = 2
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
        cacheName: name)
      return try costs(of: context) { try controller.performFetch() }.rows
    }
    try context.performAndWait {
      for minute in 1...20 { context.mood(minute, in: nil) }
      try context.save()
      let list = try List(context)
      let (all, cached) = (try fetchedRows(), try fetchedRows())
      try list.source.reconfigure { $0.fetchLimit = 1 }
      let rows = try fetchedRows()
      #expect(all >= 20 && cached < all && rows == cached)
    }
  }

  @Test("A continent's list prefetches its countries", arguments: StoreKind.allCases)
  func continentSourcePrefetchesItsCountries(kind: StoreKind) throws {
    let stack = try MoodyStack(kind)
    let writer = stack.context()
    try writer.performAndWait {
      for code in [250, 276, 616] as [Int16] {
        writer.mood(Int(code), in: try writer.country(code))
      }
      writer.mood(1, in: try writer.country(356, continent: 10_002))
      try writer.save()
    }
    let context = stack.context()
    try context.performAndWait {
      let europe = try #require(
        try Continent.fetch(in: context) {
          $0.predicate = NSPredicate(format: "numericISO3166Code == 10001")
        }.first)
      let source = MoodSource.continent(europe)
      let countries = try source.prefetch()
      let moods = try Mood.fetch(in: context) { $0.predicate = source.predicate }
      #expect(moods.count == 3 && countries.count == 3)
      let cost = costs(of: context) {
        for mood in moods { #expect((mood.country?.numericISO3166Code ?? 0) > 0) }
      }
      #expect(cost.selects == 0, "the countries were prefetched")
      #expect(
        try Mood.count(in: context) { $0.predicate = MoodSource.country(countries[0]).predicate }
          == 1)
      #expect(try Mood.count(in: context) { $0.predicate = MoodSource.all.predicate } == 4)
    }
  }

  @Test("S-G21, S7.36 a list reports a batch update only after its object IDs are merged")
  func batchUpdateIsReportedAfterMergingItsObjectIDs() throws {
    let stack = try MoodyStack(.sqlite)
    let context = stack.context()
    try context.performAndWait {
      let moods = (1...30).map { context.mood($0, in: nil) }
      try context.save()
      let list = try List(context)
      let request = NSBatchUpdateRequest(entityName: "Mood")
      request.predicate = NSPredicate(
        format: "date <= %@", Date(timeIntervalSinceReferenceDate: 180) as NSDate)
      request.propertiesToUpdate = ["latitude": 5.0]
      request.resultType = .updatedObjectIDsResultType
      let result = try #require(try context.execute(request) as? NSBatchUpdateResult)
      let ids = try #require(result.result as? [NSManagedObjectID])
      context.processPendingChanges()
      #expect(ids.count == 3 && list.passes.isEmpty && moods[0].latitude == nil)
      let cost = costs(of: context) {
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [context])
        #expect(moods[0].latitude == 5 && moods[29].latitude == nil)
      }
      #expect(cost.selects == 1, "one SELECT for the three registered objects")
      #expect(list.passes == [["update 27 5.0", "update 28 5.0", "update 29 5.0"]])
    }
  }
}
