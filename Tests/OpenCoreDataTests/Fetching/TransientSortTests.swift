import CoreDataCosts
import OpenCoreData
import Testing

/// A person whose transient full name is computed from the other names when it's fetched.
private final class TitledPerson: NSManagedObject {
  override func awakeFromFetch() {
    super.awakeFromFetch()
    let names = ["last", "first"].compactMap { primitiveValue(forKey: $0) as? String }
    setPrimitiveValue(names.joined(separator: ", "), forKey: "fullName")
  }
}

@Suite("Sorting by a transient property")
struct TransientSortTests {
  private static func model() -> NSManagedObjectModel {
    TitledPerson.registerClass(named: "TitledPerson")
    let person = NSEntityDescription()
    person.name = "Person"
    person.managedObjectClassName = "TitledPerson"
    let boss = TestModels.relationship("boss", to: person, isToMany: false)
    let staff = TestModels.relationship("staff", to: person, isToMany: true)
    (boss.inverseRelationship, staff.inverseRelationship) = (staff, boss)
    let names = ["first", "last", "fullName"].map {
      TestModels.attribute($0, .stringAttributeType)
    }
    names[2].isTransient = true
    person.properties = names + [boss, staff]
    let model = NSManagedObjectModel()
    model.entities = [person]
    return model
  }

  /// Four people, each the boss of the next.
  private func stack(_ kind: StoreKind) throws -> GraphStack {
    let stack = try GraphStack(kind, model: Self.model())
    let writer = try stack.context()
    try writer.performAndWait {
      var boss: NSManagedObject?
      for (first, last) in [("Bo", "Adams"), ("Al", "Cole"), ("Al", "Adams"), ("Cy", "Brown")] {
        let person = writer.make("Person", ["first": first, "last": last])
        person.setValue(boss, forKey: "boss")
        boss = person
      }
      try writer.save()
    }
    return stack
  }

  private func request<T>(_ keys: String...) -> NSFetchRequest<T> {
    let request = NSFetchRequest<T>(entityName: "Person")
    request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
    return request
  }

  private func names(_ people: [NSManagedObject]) -> [String?] {
    people.map { $0.value(forKey: "fullName") as? String }
  }

  @Test("S-C18 an in-memory store sorts by a transient property of the objects")
  func inMemoryStoreSortsByTransientProperty() throws {
    let context = try stack(.memory).context()
    try context.performAndWait {
      let byName: NSFetchRequest<NSManagedObject> = request("fullName")
      var people: [NSManagedObject] = []
      let cost = try costs(of: context) { people = try context.fetch(byName) }
      #expect(names(people) == ["Adams, Al", "Adams, Bo", "Brown, Cy", "Cole, Al"])
      #expect(cost.selects == 0 && cost.hits + cost.misses == 4)
      var again: [NSManagedObject] = []
      let second = try costs(of: context) { again = try context.fetch(byName) }
      #expect(again == people && second.faults == 0)

      (byName.fetchOffset, byName.fetchLimit) = (1, 2)
      #expect(try context.fetch(byName) == Array(people[1...2]))
      #expect(try context.count(for: byName) == 2)
      byName.fetchBatchSize = 1
      #expect(try context.fetch(byName) == Array(people[1...2]))
      (byName.fetchOffset, byName.fetchLimit) = (3, 2)
      #expect(try context.count(for: byName) == 1)

      let ids: NSFetchRequest<NSManagedObjectID> = request("fullName")
      ids.resultType = .managedObjectIDResultType
      for loadsValues in [true, false] {
        ids.includesPropertyValues = loadsValues
        #expect(try context.fetch(ids) == people.map(\.objectID))
      }

      // By first name, then by the boss's full name, which is nil for the first person.
      let byBoss: NSFetchRequest<NSManagedObject> = request("first", "boss.fullName")
      let ordered = names(try context.fetch(byBoss))
      #expect(ordered == ["Cole, Al", "Adams, Al", "Adams, Bo", "Brown, Cy"])
    }
  }

  @Test("S-C18 unsaved objects and a child's fetch have the same order")
  func unsavedObjectsAndChildFetchesSortByTransientProperty() throws {
    let context = try stack(.memory).context()
    try context.performAndWait {
      let new = context.make("Person", ["last": "Bell", "fullName": "Bell"])
      let people = try context.fetch(request("fullName") as NSFetchRequest<NSManagedObject>)
      #expect(names(people) == ["Adams, Al", "Adams, Bo", "Bell", "Brown, Cy", "Cole, Al"])
      // The fetch uses a value that was set by the program.
      people[4].setValue("A", forKey: "fullName")
      let changed = try context.fetch(request("fullName") as NSFetchRequest<NSManagedObject>)
      #expect(changed == [people[4], people[0], people[1], new, people[3]])
    }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = context
    try child.performAndWait {
      let people = try child.fetch(request("fullName") as NSFetchRequest<NSManagedObject>)
      #expect(
        people.map { $0.value(forKey: "last") as? String } == [
          "Cole", "Adams", "Adams", "Bell", "Brown",
        ])
    }
  }

  @Test("S-C18 an asynchronous fetch from an in-memory store has the same order")
  func asynchronousFetchSortsByTransientProperty() async throws {
    let context = try stack(.memory).context()
    let found: [String?] = try await withCheckedThrowingContinuation { continuation in
      context.perform {
        let asynchronous = NSAsynchronousFetchRequest(
          fetchRequest: request("fullName") as NSFetchRequest<NSManagedObject>
        ) { continuation.resume(returning: names($0.finalResult ?? [])) }
        do {
          _ = try context.execute(asynchronous)
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
    #expect(found == ["Adams, Al", "Adams, Bo", "Brown, Cy", "Cole, Al"])
  }

  @Test("S-C18 a SQLite store rejects the sort with a reason; a count ignores it")
  func sqliteRejectsSortingByTransientProperty() throws {
    let context = try stack(.sqlite).context()
    try context.performAndWait {
      for key in ["fullName", "boss.fullName"] {
        let people: NSFetchRequest<NSManagedObject> = request(key)
        let error = #expect(throws: NSError.self) { try context.fetch(people) }
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.code == NSCoreDataError)
        let reason = "Person.fullName is transient: the store has no column for it."
        #expect(error?.localizedDescription.contains(reason) == true)
        let count = try context.count(for: people)
        #expect(count == 4)
      }
    }
  }

  @Test("An unknown key next to a transient one is an error", arguments: StoreKind.allCases)
  func unknownKeyNextToTransientPropertyIsAnError(kind: StoreKind) throws {
    let context = try stack(kind).context()
    context.performAndWait {
      for keys in [("fullName", "nick"), ("nick", "fullName"), ("last", "fullName.nick")] {
        let people: NSFetchRequest<NSManagedObject> = request(keys.0, keys.1)
        people.fetchLimit = 3
        #expect(throws: NSError.self, "\(keys)") { try context.fetch(people) }
        #expect(throws: NSError.self, "\(keys)") { try context.count(for: people) }
      }
      let filtered: NSFetchRequest<NSManagedObject> = request("last")
      filtered.predicate = NSPredicate(format: "fullName == 'x'")
      let error = #expect(throws: NSError.self) { try context.fetch(filtered) }
      #expect(error?.localizedDescription.contains("fullName") == true)
    }
  }
}
