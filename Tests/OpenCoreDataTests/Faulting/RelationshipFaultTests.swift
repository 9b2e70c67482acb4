import CoreDataCosts
import OpenCoreData
import ProfileEvents
import Testing

@Suite("Relationship faults")
struct RelationshipFaultTests {
  @Test(
    "S6.39 a to-one costs nothing to follow and one fault to read",
    arguments: StoreKind.allCases)
  func toOneIsFollowedAtNoCostAndReadWithOneFault(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(0, countries: 2, continents: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let countries = try Country.fetch(in: context) { $0.returnsObjectsAsFaults = false }
      var continent: Continent?
      let follow = costs(of: context) { continent = countries[0].continent }
      #expect(follow.selects == 0 && follow.faults == 0)
      #expect(continent?.isFault == true)
      let again = costs(of: context) { #expect(countries[1].continent === continent) }
      #expect(again.selects == 0 && again.faults == 0)
      let read = costs(of: context) { _ = continent?.updatedAt }
      #expect(read.faults == 1 && read.misses == 1 && read.selects == stack.statements(1))
      continent.map { context.refresh($0, mergeChanges: true) }
      let cached = costs(of: context) { _ = continent?.updatedAt }
      #expect(cached.faults == 1 && cached.hits == 1 && cached.selects == 0)
    }
  }

  @Test(
    "S6.41 a to-many takes one SELECT of object IDs, then one for each object", .ofOwnStores,
    arguments: StoreKind.allCases)
  func toManyTakesASelectOfObjectIDsAndOnePerObject(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(0, countries: 5, continents: 1)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let continent = try #require(
        try Continent.fetch(in: context) { $0.returnsObjectsAsFaults = false }.first)
      var countries: Set<Country> = []
      let follow = costs(of: context) { countries = continent.countries }
      #expect(
        follow.selects == stack.statements(1) && follow.rows == stack.statements(5)
          && follow.misses == 1)
      #expect(countries.count == 5 && countries.allSatisfy(\.isFault))
      #expect(try stack.cachedRows(context) == 1)
      #expect(
        !kind.runsSQL
          || events.statements(.select).last?.hasPrefix("SELECT t0.Z_ENT, t0.Z_PK FROM ZREGION t0")
            == true
      )
      let read = costs(of: context) { for country in countries { _ = country.updatedAt } }
      #expect(read.selects == stack.statements(5) && read.misses == 5)
      #expect(costs(of: context) { _ = continent.countries }.selects == 0)
    }
  }

  @Test(
    "S6.41 a to-many whose rows are cached takes only the SELECT of object IDs",
    arguments: StoreKind.allCases)
  func toManyWithCachedRowsTakesOnlyASelectOfObjectIDs(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(0, countries: 5, continents: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let held = try Country.fetch(in: context)
      let continent = try #require(
        try Continent.fetch(in: context) { $0.returnsObjectsAsFaults = false }.first)
      let cost = costs(of: context) {
        for country in continent.countries { _ = country.updatedAt }
      }
      #expect(held.count == 5)
      #expect(cost.selects == stack.statements(1) && cost.hits == 5 && cost.misses == 1)
    }
  }

  @Test(
    "S8.14 a list's countries take a SELECT each, or one if they're fetched first",
    arguments: StoreKind.allCases)
  func listTakesASelectPerCountryOrOneIfTheyAreFetchedFirst(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(500, countries: 30)
    func list(_ prepare: (NSManagedObjectContext) throws -> [Country]) throws -> Costs {
      let context = try stack.coldContext()
      return try context.performAndWait {
        let moods = try Mood.fetch(in: context) { $0.returnsObjectsAsFaults = false }
        return try costs(of: context) {
          let held = try prepare(context)
          for mood in moods { _ = mood.country?.numericISO3166Code }
          withExtendedLifetime(held) {}
        }
      }
    }
    let plain = try list { _ in [] }
    #expect(plain.faults == 30 && plain.misses == 30 && plain.selects == stack.statements(30))
    let faults = try list { try Country.fetch(in: $0) }
    #expect(faults.faults == 30 && faults.misses == 0 && faults.selects == stack.statements(1))
    let realized = try list { try Country.fetch(in: $0) { $0.returnsObjectsAsFaults = false } }
    #expect(realized.faults == 0 && realized.misses == 0 && realized.selects == stack.statements(1))
  }

  @Test(
    "S15-10 each fault of a list is an event with its call site",
    arguments: StoreKind.allCases)
  func eachFaultOfAListIsAnEventWithItsCallSite(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(500, countries: 30)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let moods = try Mood.fetch(in: context) { $0.returnsObjectsAsFaults = false }
      context.callSite = CallSite(file: "List.swift", line: 7)
      for mood in moods { _ = mood.country?.numericISO3166Code }
      let faults = events.events.filter { $0.kind == .objectFault }
      #expect(faults.count == 30)
      #expect(faults.count { $0.source == .database } == 30)
      #expect(faults.allSatisfy { $0.callSite?.description == "List.swift:7" })
      #expect(faults.allSatisfy { $0.entity == "Country" })
    }
  }

  @Test(
    "S15-11 S15-12 retained countries leave hits if they're faults, and nothing if realized",
    arguments: [(asFaults: true, faults: 30), (asFaults: false, faults: 0)], StoreKind.allCases)
  func retainedCountriesLeaveRowCacheHitsOrNothing(
    held: (asFaults: Bool, faults: Int), kind: StoreKind
  ) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(500, countries: 30)
    let context = try stack.coldContext()
    try context.performAndWait {
      let moods = try Mood.fetch(in: context) { $0.returnsObjectsAsFaults = false }
      let countries = try Country.fetch(in: context) { $0.returnsObjectsAsFaults = held.asFaults }
      let cost = costs(of: context) { for mood in moods { _ = mood.country?.numericISO3166Code } }
      #expect(countries.count == 30)
      #expect(cost.faults == held.faults && cost.hits == held.faults && cost.misses == 0)
      #expect(cost.selects == 0)
    }
  }

  @Test("S-C33 a list's departments take a SELECT each, or one if they're prefetched", .ofOwnStores)
  func departmentsTakeASelectEachOrOneIfPrefetched() throws {
    let stack = try TestStack(model: TestModels.company())
    let rows = [
      ("Jack", "Sales"), ("Jill", "Marketing"), ("Benjy", "Sales"), ("Gillian", "Sales"),
      ("Hector", "Engineering"), ("Michelle", "Marketing"),
    ]
    let writer = try stack.coldContext()
    try writer.performAndWait {
      var departments: [String: NSManagedObject] = [:]
      for (name, department) in rows {
        let employee = writer.make("Employee", ["name": name])
        let home = departments[department] ?? writer.make("Department", ["name": department])
        departments[department] = home
        employee.setValue(home, forKey: "department")
      }
      try writer.save()
    }
    func list(_ prefetch: [String]?) throws -> (Costs, [String]) {
      let events = EventList()
      let context = try stack.coldContext(sinks: [events])
      return try context.performAndWait {
        var fired: [String] = []
        let cost = try costs(of: context) {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
          request.returnsObjectsAsFaults = false
          request.relationshipKeyPathsForPrefetching = prefetch
          for employee in try context.fetch(request) {
            let before = events.statements(.select).count
            _ = employee.value(forKeyPath: "department.name")
            if events.statements(.select).count > before {
              fired.append(employee.value(forKey: "name") as? String ?? "")
            }
          }
        }
        return (cost, fired)
      }
    }
    let (plain, fired) = try list(nil)
    #expect(plain.selects == 4 && plain.misses == 3)
    #expect(fired == ["Jack", "Jill", "Hector"])
    let (prefetched, _) = try list(["department"])
    #expect(prefetched.selects == 2 && prefetched.misses == 0)
  }

  @Test(
    "A many-to-many is saved once for both sides, read, and prefetched", .ofOwnStores,
    arguments: StoreKind.allCases)
  func manyToManyIsSavedOnceForBothSidesReadAndPrefetched(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: TestModels.library())
    let events = EventList()
    let writer = try stack.coldContext(sinks: [events])
    try writer.performAndWait {
      let tags = ["a", "b", "c"].map { writer.make("Tag", ["name": $0]) }
      for index in 0..<4 {
        let article = writer.make("Article", ["string": "article \(index)"])
        article.setValue(Set(tags.prefix(index)), forKey: "tags")
      }
      let cost = try costs(of: writer) { try writer.save() }
      #expect(cost.inserts == stack.statements(7 + 6) && cost.transactions == stack.statements(2))
    }
    // Both ends changed; `Article` sorts before `Tag`.
    let joins = events.events.filter { $0.statement?.sql.contains("INTO Z_") == true }
    #expect(joins.map(\.entity) == Array(repeating: "Article", count: stack.statements(6)))
    let context = try stack.coldContext()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Article")
      request.sortDescriptors = [NSSortDescriptor(key: "string", ascending: true)]
      request.relationshipKeyPathsForPrefetching = ["tags"]
      var articles: [NSManagedObject] = []
      let fetch = try costs(of: context) { articles = try context.fetch(request) }
      #expect(fetch.selects == stack.statements(3) && fetch.faults == 0)
      let read = costs(of: context) {
        let counts = articles.map { ($0.value(forKey: "tags") as? Set<NSManagedObject>)?.count }
        #expect(counts == [0, 1, 2, 3])
      }
      #expect(read.selects == 0 && read.misses == 0)
      articles[3].setValue(Set<NSManagedObject>(), forKey: "tags")
      let cost = try costs(of: context) { try context.save() }
      #expect(cost.deletes == stack.statements(3) && cost.transactions == stack.statements(1))
    }
  }
}

extension NSManagedObjectContext {
  /// A new object of an entity with some values.
  func make(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }
}
