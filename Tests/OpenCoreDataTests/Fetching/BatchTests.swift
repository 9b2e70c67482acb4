import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("Batches of a batched fetch")
struct BatchTests {
  private func request(asFaults: Bool = true, size: Int = 10) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    request.returnsObjectsAsFaults = asFaults
    request.fetchBatchSize = size
    return request
  }

  @Test(
    "S6.34, S6.35, S-C14 reading an object loads only its batch; a released batch is read again",
    arguments: StoreKind.allCases)
  func readingAnObjectLoadsOnlyItsBatch(kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    try bed.addPeople(100)
    let context = bed.context()
    try context.performAndWait {
      let people = try context.fetchBatched(request())
      #expect(people.count == 100 && context.counters.selects == bed.selects(1))
      func cost(_ position: Int) -> [Int] {
        let before = context.counters.selects
        #expect(people[position].number == Int64(position + 1))
        return [context.counters.selects - before, context.registeredCount(ofEntity: "Person")]
      }
      #expect(cost(55) == [bed.selects(1), 10])
      #expect(cost(50) == [0, 10] && cost(59) == [0, 10])
      for batch in [0, 1, 2] { #expect(cost(batch * 10)[0] == bed.selects(1)) }
      #expect(cost(55)[0] == 0, "four batches are kept")
      #expect(cost(99) == [bed.selects(1), 40])
      #expect(cost(0)[0] == bed.selects(1), "the least recently used batch was released")
      #expect(cost(99)[0] == 0)
    }
  }

  @Test(
    "S6.36, S-C15 batches of faults cost a row-cache hit per object, realized batches nothing",
    .ofOwnStores,
    arguments: StoreKind.allCases, [true, false])
  func batchesOfFaultsCostARowCacheHitForEachObject(kind: StoreKind, asFaults: Bool) throws {
    let bed = try ContextBed(kind)
    try bed.addPeople(20)
    let context = bed.context()
    try context.performAndWait {
      let people = try context.fetchBatched(request(asFaults: asFaults))
      for person in people { _ = person.label }
      #expect(context.counters.objectFaultHits == (asFaults ? 20 : 0))
      #expect(context.counters.objectFaultMisses == 0)
      #expect(context.counters.selects == bed.selects(3))
    }
  }

  @Test(
    "S6.37 saved insertions and deletions change neither count nor positions",
    arguments: StoreKind.allCases)
  func laterSavesDoNotChangeCountOrPositions(kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(30)
    let (context, other) = (bed.context(), bed.context())
    try context.performAndWait {
      let people = try context.fetchBatched(request())
      _ = people[0].number
      try other.performAndWait {
        _ = other.make("Person", ["number": Int64(0)])
        other.delete(other.object(with: ids[15]))
        try other.save()
      }
      #expect(people.count == 30 && people[0].number == 1 && people[29].number == 30)
      // The deleted row's position has a fault.
      #expect(people[15].objectID == ids[15] && people[15].number == nil && people[15].isDeleted)
    }
  }

  @Test(
    "Pending changes are merged in order, reading only the rows they are compared with",
    arguments: StoreKind.allCases)
  func pendingChangesAreMergedReadingFewRows(kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(1_000)
    let context = bed.context()
    try context.performAndWait {
      let new = context.make("Person", ["number": Int64(700), "name": "new"])
      context.object(with: ids[2]).number = 2_000
      context.object(with: ids[3]).label = "renamed"
      context.delete(context.object(with: ids[4]))
      context.processPendingChanges()
      let before = context.counters
      let people = try context.fetchBatched(request())
      #expect(people.count == 1_000)
      // Binary searches find the positions of two objects; the renamed one doesn't move.
      let read = context.counters.objectFaults - before.objectFaults
      #expect(read > 0 && read <= 20, "\(read) objects were read")
      #expect(context.registeredCount(ofEntity: "Person") < 30)
      #expect(people[2].label == "renamed" && people[999].number == 2_000)
      let index = try #require(people.firstIndex { $0 === new })
      #expect(people[index - 1].number == 700 && people[index + 1].number == 701)
      let keys = context.counters
      #expect(try context.count(for: request(size: 0)) == 1_000)
      #expect(context.counters.objectFaults == keys.objectFaults, "a count needs no order")
    }
  }
}
