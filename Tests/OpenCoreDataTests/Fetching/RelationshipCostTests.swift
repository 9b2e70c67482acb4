import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("Costs of following relationships")
struct RelationshipCostTests {
  @Test(
    "S6.40, S6.42, S6.43, S-C35, S-C36 access costs nothing; reading fires each fault once",
    arguments: StoreKind.allCases)
  func relationshipCostsNothingUntilItsValuesAreRead(kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(5)
    let context = bed.context()
    try context.performAndWait {
      let person = context.object(with: ids[0])
      _ = person.label
      func costs(_ body: () -> Void) -> [Int] {
        let before = context.counters
        body()
        let after = context.counters
        return [
          after.objectFaults - before.objectFaults,
          after.relationshipFaults - before.relationshipFaults, after.selects - before.selects,
        ]
      }
      var boss: Any?
      #expect(costs { boss = person.value(forKey: "boss") } == [0, 0, 0])
      #expect(boss == nil)
      var team: NSManagedObject?
      #expect(costs { team = person.value(forKey: "team") as? NSManagedObject } == [0, 0, 0])
      #expect(team?.isFault == true)
      #expect(costs { _ = team?.label } == [1, 0, bed.selects(1)])
      #expect(costs { _ = person.value(forKeyPath: "team.name") } == [0, 0, 0])
      let found = try #require(team)
      var members: NSMutableSet?
      // The proxy doesn't fire the relationship fault.
      #expect(costs { members = found.mutableSetValue(forKey: "members") } == [0, 0, 0])
      #expect(found.hasFault(forRelationshipNamed: "members"))
      var count: Int?
      #expect(costs { count = members?.count } == [0, 1, bed.selects(1)])
      #expect(count == 5)
      var names: [String] = []
      func readNames() {
        names = (found.value(forKey: "members") as? Set<NSManagedObject> ?? []).compactMap(\.label)
      }
      // One person was already realized.
      #expect(costs(readNames) == [4, 0, bed.selects(4)])
      #expect(names.count == 5)
      #expect(costs(readNames) == [0, 0, 0])
      context.refresh(found, mergeChanges: false)
      #expect(costs(readNames)[1] == 1)
      #expect(names.count == 5)
    }
  }

  @Test(
    "S-C38 a key path over a collection fires each fault; reading a custom description fires one",
    arguments: StoreKind.allCases)
  func keyPathOverCollectionFiresEachFault(kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    try bed.addPeople(5)
    let context = bed.context()
    try context.performAndWait {
      let team = try #require(try context.all("Team", by: "serial").first)
      let names = team.value(forKeyPath: "members.name")
      #expect((names as? Set<String>)?.count == 5)
      #expect(context.counters.objectFaults == 6 && context.counters.relationshipFaults == 1)
    }
    DescribedPerson.registerClass()
    let model = WorkshopModel.make()
    model.entitiesByName["Person"]?.managedObjectClassName = "DescribedPerson"
    let described = try ContextBed(kind, model: model)
    try described.addPeople(1)
    let reader = described.context()
    try reader.performAndWait {
      let person = try #require(try reader.people().first)
      #expect(person.isFault && "\(person)" == "p1" && !person.isFault)
      #expect(reader.counters.objectFaultHits == 1)
    }
  }

  @Test("S-C39 isFault doesn't depend on the row cache", arguments: StoreKind.allCases)
  func isFaultDoesNotDependOnTheRowCache(kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(1)
    let context = bed.context()
    context.performAndWait {
      let person = context.object(with: ids[0])
      #expect(person.isFault)
      _ = person.label
      #expect(!person.isFault && context.counters.objectFaultMisses == 1)
      context.refresh(person, mergeChanges: false)
      #expect(person.isFault && bed.store?.cachedRowCount == 1)
      _ = person.label
      #expect(context.counters.objectFaultHits == 1 && context.counters.objectFaultMisses == 1)
    }
  }

  @Test("S-C40 reading one small attribute loads the whole row, including large values")
  func readingOneAttributeLoadsTheWholeRow() throws {
    let stack = try TestStack(model: WorkshopModel.make())
    let writer = try stack.coldContext()
    let id = try writer.performAndWait {
      let robot = writer.make("Robot", ["name": "r", "firmware": Data(count: 50_000)])
      try writer.save()
      return robot.objectID.uriRepresentation()
    }
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let found = context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: id)
      let robot = context.object(with: try #require(found))
      #expect(robot.label == "r")
      #expect(events.statements(.select).last?.contains("ZFIRMWARE") == true)
      #expect((robot.value(forKey: "firmware") as? Data)?.count == 50_000)
      #expect(context.counters.selects == 1)
    }
  }

  @Test("S6.10 contexts share one raw row, read once; each object has its own changes")
  func contextsShareOneRawRow() throws {
    let bed = try ContextBed(.sqlite)
    let ids = try bed.addPeople(1)
    let (context, other) = (bed.context(), bed.context())
    context.performAndWait {
      let person = context.object(with: ids[0])
      let row = person.label.map { _ in person.row.base }
      other.performAndWait {
        let theirs = other.object(with: ids[0])
        #expect(theirs.label == "p1" && theirs.row.base == row, "one row, read once")
        theirs.label = "mine"
      }
      #expect(person.label == "p1" && other.counters.selects == 0)
    }
  }
}

/// A person whose description is its name.
final class DescribedPerson: NSManagedObject {
  @Managed("name") var name: String?

  override var description: String { name ?? "nobody" }
}
