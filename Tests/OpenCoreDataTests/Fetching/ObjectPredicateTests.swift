import CoreDataCosts
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// Predicates with objects, and the costs of fetches with them.
@Suite("Objects in predicates")
struct ObjectPredicateTests {
  @Test(
    "S12-15, S12-25, S-C26 objects and their IDs match by primary key",
    arguments: StoreKind.allCases)
  func objectsAndIDsMatchByPrimaryKey(kind: StoreKind) throws {
    let store = try CityStore(kind)
    try store.context.performAndWait {
      let (al, ann) = try (store.object("Person", "Al"), store.object("Person", "Ann"))
      let (ayr, deal) = try (store.object("City", "Ayr"), store.object("City", "Deal"))
      let unsaved = NSEntityDescription.insertNewObject(
        forEntityName: "Person", into: store.context)
      store.context.delete(unsaved)
      let cases: [(String, String, [Any], [String])] = [
        ("Person", "self == %@", [al], ["Al"]), ("Person", "self == %@", [al.objectID], ["Al"]),
        ("Person", "SELF IN %@", [[al, ann]], ["Al", "Ann"]),
        ("Person", "self IN %@", [Set([al.objectID, ann.objectID])], ["Al", "Ann"]),
        ("Person", "objectID == %@", [ann], ["Ann"]),
        ("Person", "city == %@", [ayr], ["Al", "Ann"]),
        ("Person", "city IN %@", [Set([ayr, deal])], ["Al", "Ann", "Dan", "Di", "Dot"]),
        ("City", "mayor == %@", [ann.objectID], ["Ayr"]),
        ("City", "visitors CONTAINS %@ AND visitors.@count >= 3", [ann], ["Cork"]),
        ("City", "%@ IN visitors", [al], ["Deal"]),
        ("City", "ANY residents == %@", [al], ["Ayr"]),
        ("City", "NONE visitors == %@ AND visitors.@count > 0", [ann], ["Ayr", "Deal"]),
        ("Person", "self == %@", [unsaved], []), ("Person", "self == %@", [ayr], []),
      ]
      for (entity, format, arguments, names) in cases {
        let predicate = NSPredicate(format: format, argumentArray: arguments)
        var found: [String] = []
        let cost = try costs(of: store.context) { found = try store.names(entity, predicate) }
        #expect(found == names, "\(format)")
        #expect(cost.selects == (kind.runsSQL ? 1 : 0))
      }
    }
  }

  @Test(
    "Objects of another file, which have the same primary keys, match no rows",
    arguments: StoreKind.allCases)
  func objectsOfAnotherFileMatchNoRows(kind: StoreKind) throws {
    let (store, other) = try (CityStore(kind), CityStore(kind))
    func objects(_ entity: String) throws -> [NSManagedObject] {
      try other.context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
    }
    let (people, cities) = try other.context.performAndWait {
      try (objects("Person"), objects("City"))
    }
    let (personIDs, cityIDs) = other.context.performAndWait {
      (people.map(\.objectID), cities.map(\.objectID))
    }
    try store.context.performAndWait {
      let al = try store.object("Person", "Al")
      let cases: [(String, String, [Any])] = [
        ("Person", "self IN %@", [people]), ("Person", "objectID IN %@", [personIDs]),
        ("Person", "self == %@ OR self == %@", [people[0], personIDs[1]]),
        ("Person", "city IN %@", [cities]), ("Person", "city == %@", [cityIDs[0]]),
        ("City", "ANY residents IN %@", [personIDs]), ("City", "%@ IN visitors", [personIDs[0]]),
        ("City", "visitors CONTAINS %@", [people[0]]),
        ("City", "SUBQUERY(residents, $r, $r IN %@).@count > 0", [people]),
        ("City", "mayor IN %@ OR mayor == %@", [people, personIDs[0]]),
      ]
      for isChanged in [false, true] {
        if isChanged { al.setValue(25, forKey: "age") }
        for (entity, format, arguments) in cases {
          let predicate = NSPredicate(format: format, argumentArray: arguments)
          let found = try store.names(entity, predicate)
          #expect(found == [], "\(format)")
        }
        let predicate = NSPredicate(format: "NOT self IN %@ AND self != %@", personIDs, people[0])
        let found = try store.names("Person", predicate)
        #expect(found.count == people.count)
        #expect(predicate.evaluate(with: al))
      }
    }
  }

  @Test(
    "S12-15, S12-17 primary keys use a lookup; a relationship and a count are one SELECT",
    arguments: [
      ("Person", "SELF == %@", ["SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)"]),
      ("Person", "SELF IN {%@}", ["SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)"]),
      (
        "City", "visitors CONTAINS %@ AND visitors.@count >= 3",
        ["CORRELATED SCALAR SUBQUERY", "SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)"]
      ),
    ])
  func objectPredicatesUsePrimaryKeyLookups(
    entity: String, format: String, lines: [String]
  ) throws {
    let store = try CityStore(.sqlite)
    try store.context.performAndWait {
      let al = try store.object("Person", "Al")
      _ = try store.names(entity, NSPredicate(format: format, al)) { $0.sortDescriptors = nil }
    }
    let plan = try PlanReader(store).lines(try #require(store.selects.last))
    for line in lines { #expect(plan.contains { $0.contains(line) }, "\(plan)") }
  }

  @Test("S12-16, S-C26 fetching one object by itself reads its row again")
  func fetchingOneObjectReadsItsRowAgain() throws {
    let store = try CityStore(.sqlite)
    try store.context.performAndWait {
      let al = try store.object("Person", "Al")
      let connection = try Connection(path: store.stack.storeURL.path, access: .writing)
      try connection.execute("UPDATE ZPERSON SET ZAGE = 99, Z_OPT = 2 WHERE ZNAME = 'Al'")
      connection.close()
      #expect(al.isFault)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: "self == %@", al)
      request.returnsObjectsAsFaults = false
      let fetch = try costs(of: store.context) { _ = try store.context.fetch(request) }
      #expect(fetch.selects == 1 && fetch.rows == 1)
      #expect(!al.isFault)
      let read = costs(of: store.context) { #expect(al.value(forKey: "age") as? Int16 == 99) }
      #expect(read.selects == 0 && read.faults == 0)
    }
  }

  @Test(
    "S12-24, S12-27, S12-28 a fetch always runs a SELECT and returns only matches",
    arguments: StoreKind.allCases)
  func fetchAlwaysRunsASelectAndReturnsOnlyMatches(kind: StoreKind) throws {
    let store = try CityStore(kind)
    try store.context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: "age BETWEEN {23, 28}")
      var objects: [NSManagedObject] = []
      let one = store.stack.statements(1)
      let first = try costs(of: store.context) { objects = try store.context.fetch(request) }
      #expect(first.selects == one && first.rows == 4 * one && first.faults == 0)
      #expect(store.context.registeredObjects.count == 4)
      let second = try costs(of: store.context) { objects = try store.context.fetch(request) }
      #expect(second.selects == one && second.rows == 4 * one)
      request.fetchLimit = 1
      let limited = try costs(of: store.context) { objects = try store.context.fetch(request) }
      #expect(limited.selects == one && limited.rows == one && objects.count == 1)
      #expect(store.selects.filter { $0.hasSuffix("  LIMIT 1") }.count == one)
    }
  }

  @Test(
    "Pending objects match by entity and identity like rows",
    arguments: StoreKind.allCases)
  func pendingObjectsMatchByEntityAndIdentity(kind: StoreKind) throws {
    let store = try CityStore(kind)
    try store.context.performAndWait {
      let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: store.context)
      person.setValue("Zoe", forKey: "name")
      let predicates = [
        NSPredicate(format: "entity.name == 'Person' AND age == nil"),
        NSPredicate(format: "entity == %@ AND name == 'Zoe'", person.entity),
        NSPredicate(format: "objectID == %@", person),
      ]
      for predicate in predicates {
        let found = try store.names("Person", predicate)
        #expect(found == ["Zoe"], "\(predicate)")
      }
    }
  }
}
