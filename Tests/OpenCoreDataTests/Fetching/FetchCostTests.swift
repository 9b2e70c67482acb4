import Dispatch
import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("Costs of fetches and subsequent faults")
struct FetchCostTests {
  private func request(_ format: String? = nil) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.predicate = format.map { NSPredicate(format: $0) }
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    return request
  }

  private struct Reading: Sendable, CustomTestStringConvertible {
    let values: Bool
    let faults: Bool
    let hits: Int
    let misses: Int
    let selects: Int
    var testDescription: String { "values \(values), faults \(faults)" }
  }

  @Test(
    "S-C01, S-C02, S-C03 reading faults costs hits, realized objects nothing, IDs a SELECT each",
    arguments: StoreKind.allCases,
    [
      Reading(values: true, faults: true, hits: 10, misses: 0, selects: 1),
      Reading(values: true, faults: false, hits: 0, misses: 0, selects: 1),
      Reading(values: false, faults: true, hits: 0, misses: 10, selects: 11),
    ])
  private func requestOptionsDetermineTheCostOfReading(kind: StoreKind, expected: Reading) throws {
    let bed = try ContextBed(kind)
    try bed.addPeople(10)
    let context = bed.context()
    try context.performAndWait {
      let request = request()
      request.includesPropertyValues = expected.values
      request.returnsObjectsAsFaults = expected.faults
      let people = try context.fetch(request)
      #expect(people.allSatisfy { $0.isFault == expected.faults })
      #expect(bed.store?.cachedRowCount == (expected.values ? 10 : 0))
      for person in people { _ = person.label }
      for person in people { _ = person.number }
      let counters = context.counters
      #expect(counters.objectFaultHits == expected.hits)
      #expect(counters.objectFaultMisses == expected.misses)
      #expect(counters.selects == bed.selects(expected.selects))
    }
  }

  @Test(
    "S-C04, S-C05, S-C06 rows cached by another context or an ID fetch fulfill faults",
    arguments: StoreKind.allCases)
  func cachedRowsFulfillFaultsWithoutSelects(kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let keys = try bed.addPeople(10)
    func read(_ find: (NSManagedObjectContext) throws -> [NSManagedObject]) throws -> [Int] {
      let context = bed.context()
      return try context.performAndWait {
        for person in try find(context) { _ = person.label }
        let counters = context.counters
        return [counters.objectFaultHits, counters.objectFaultMisses, counters.selects]
      }
    }
    func ids(_ values: Bool, _ context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
      request.resultType = .managedObjectIDResultType
      request.includesPropertyValues = values
      return try context.fetch(request)
    }
    let other = bed.context()
    try other.performAndWait {
      let retained = try other.people()
      let costs = try read { context in keys.map { context.object(with: $0) } }
      #expect(costs == [retained.count, 0, 0])
    }
    var retained: [NSManagedObjectID] = []
    other.performAndWait { other.reset() }
    let afterIDs = try read { context in
      retained = try ids(true, context)
      #expect(bed.store?.cachedRowCount == 10 && context.registeredCount == 0)
      return retained.map { context.object(with: $0) }
    }
    #expect(afterIDs == [10, 0, bed.selects(1)] && retained.count == 10)
    retained = []
    #expect(bed.store?.cachedRowCount == 0)
    let afterKeys = try read { context in
      retained = try ids(false, context)
      #expect(bed.store?.cachedRowCount == 0)
      return retained.map { context.object(with: $0) }
    }
    #expect(afterKeys == [0, 10, bed.selects(11)])
  }

  @Test(
    "S-C07, S-C29 counting creates no objects; an empty result isn't an error",
    arguments: StoreKind.allCases)
  func countingCreatesNoObjects(kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    try bed.addPeople(10)
    let context = bed.context()
    try context.performAndWait {
      let numbers = NSFetchRequest<NSNumber>(entityName: "Person")
      numbers.resultType = .countResultType
      let fetched = try context.fetch(numbers).map(\.intValue)
      let counted = try context.count(for: request())
      #expect(fetched == [10] && counted == 10)
      #expect(context.counters.selects == bed.selects(2))
      #expect(context.registeredCount == 0 && bed.store?.cachedRowCount == 0)
      let none = try context.fetch(request("number > 10"))
      #expect(none.isEmpty)
      #expect(throws: NSError.self) {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Persons"))
      }
    }
  }

  @Test(
    "S-C11 execute() returns and registers the same objects as fetch",
    arguments: StoreKind.allCases)
  func executeReturnsTheSameObjectsAsFetch(kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    try bed.addPeople(3)
    let context = bed.context()
    try context.performAndWait {
      let new = context.make("Person", ["number": Int64(9)])
      let result = try context.execute(request())
      let found = try #require(
        (result as? NSAsynchronousFetchResult<NSManagedObject>)?.finalResult)
      #expect(context.counters.fetches == 1 && context.counters.selects == bed.selects(1))
      #expect(try found == context.fetch(request()) && found.last === new)
      #expect(context.registeredCount == 4)
    }
  }

  @Test(
    "S3.09, S-C12, S-C13, S-G22 each fetch runs a SELECT and doesn't refresh realized objects",
    arguments: StoreKind.allCases)
  func eachFetchRunsASelectAndKeepsRealizedValues(kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    try bed.addPeople(3)
    let (context, other) = (bed.context(), bed.context())
    try context.performAndWait {
      let people = try context.people()
      #expect(people.map(\.label) == ["p1", "p2", "p3"])
      for fetches in 2...5 {
        let found = try context.people()
        #expect(found.count == 3 && zip(found, people).allSatisfy { $0 === $1 })
        #expect(context.counters.selects == bed.selects(fetches))
      }
      try other.performAndWait {
        try other.people()[0].label = "new"
        try other.save()
      }
      #expect(try context.people()[0] === people[0] && people[0].label == "p1")
      let before = context.counters
      context.refresh(people[0], mergeChanges: false)
      #expect(people[0].label == "new")
      #expect(context.counters.objectFaultHits == before.objectFaultHits + 1)
      #expect(context.counters.selects == before.selects, "the fetch has cached the new row")
    }
  }

  @Test(
    "S-C16, S-C44, S-C46 pages by limit and offset, by IDs, and one fetch against many",
    arguments: StoreKind.allCases)
  func pagingByOffsetAndByIDsCostsOneSelectPerFetch(kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    try bed.addPeople(10)
    let context = bed.context()
    try context.performAndWait {
      var numbers: [Int64] = []
      for offset in [0, 4, 8, 12] {
        let page = request()
        page.fetchLimit = 4
        page.fetchOffset = offset
        numbers += try context.fetch(page).compactMap(\.number)
      }
      #expect(numbers == Array(1...10))
      context.reset()
      let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
      ids.resultType = .managedObjectIDResultType
      ids.includesPropertyValues = false
      let all = try context.fetch(ids)
      let page = request()
      page.predicate = NSPredicate(format: "self IN %@", Array(all.prefix(4)))
      let before = context.counters
      #expect(try context.fetch(page).count == 4 && bed.store?.cachedRowCount == 4)
      #expect(context.counters.selects == before.selects + bed.selects(1))
      for id in all {
        let one = request()
        one.predicate = NSPredicate(format: "self == %@", id)
        #expect(try context.fetch(one).count == 1)
      }
      #expect(context.counters.selects == before.selects + bed.selects(11))
    }
  }

  @Test("S6.09 a long fetch blocks only its own context")
  func longFetchBlocksOnlyItsContext() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(2)
    let (busy, free) = (bed.context(), bed.context())
    let order = LineList()
    let entered = DispatchSemaphore(value: 0)
    let released = DispatchSemaphore(value: 0)
    busy.perform {
      // The block waits, like a long fetch.
      let people = try? busy.people()
      entered.signal()
      released.wait()
      order.add("\(people?.count ?? 0) people in the first block")
    }
    entered.wait()
    busy.perform { order.add("second block") }
    try free.performAndWait { order.add("\(try free.people().count) people elsewhere") }
    released.signal()
    busy.performAndWait {}
    #expect(order.lines == ["2 people elsewhere", "2 people in the first block", "second block"])
  }
}
