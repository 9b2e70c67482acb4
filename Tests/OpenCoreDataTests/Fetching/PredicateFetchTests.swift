import CoreDataCosts
import OpenCoreData
import SQLiteDriver
import Testing

/// The book's chapter on predicates, on each kind of store.
@Suite("Predicates in a fetch")
struct PredicateFetchTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let id: String
    let entity: String
    let format: String
    let names: [String]
    var arguments: [any Sendable]

    init(
      _ id: String, _ entity: String, _ format: String, _ names: String,
      _ arguments: [any Sendable] = []
    ) {
      self.id = id
      self.entity = entity
      self.format = format
      self.names = names.split(separator: " ").map(String.init)
      self.arguments = arguments
    }

    var testDescription: String { "\(id): \(format)" }
  }

  static let cases: [Case] = [
    Case("S12-1", "Person", "age == 24", "Al"), Case("S12-1", "Person", "age = 24", "Al"),
    Case("S12-1", "Person", "age < 21", "Ed Eve"),
    Case("S12-1", "Person", "age <= 20", "Ed Eve"),
    Case("S12-1", "Person", "age =< 20", "Ed Eve"),
    Case("S12-1", "Person", "age > 28", "Ann Dot"),
    Case("S12-1", "Person", "age >= 29", "Ann Dot"),
    Case("S12-1", "Person", "age => 29", "Ann Dot"),
    Case("S12-1", "City", "name != 'Ely'", "Ayr Bath Cork Deal"),
    Case("S12-1", "City", "name <> 'Ely'", "Ayr Bath Cork Deal"),
    Case("S12-2", "Person", "age BETWEEN {23, 28}", "Al Bo Dan Di"),
    Case("S12-2", "Person", "age BETWEEN %@", "Al Bo Dan Di", [[23, 28]]),
    Case("S12-2", "Person", "age BETWEEN {%ld, %ld}", "Al Bo Dan Di", [23, 28]),
    Case("S12-9", "City", "TRUEPREDICATE", "Ayr Bath Cork Deal Ely"),
    Case("S12-9", "City", "FALSEPREDICATE", ""),
    Case("S12-10", "City", "mayor.age > 30", "Ayr"),
    Case("S12-11", "City", "ANY residents.age <= 24", "Ayr Bath Ely"),
    Case("S12-12", "City", "SUBQUERY(residents, $x, $x.age >= 25).@count == 0", "Bath Cork Ely"),
    Case(
      "S12-13", "City",
      "SUBQUERY(residents, $x, $x.age < 25).@count == residents.@count", "Bath Cork Ely"),
    Case(
      "S12-14", "City",
      "SUBQUERY(residents, $x, $x.age < 25 AND $x.carsOwnedCount == 2).@count != 0", "Bath Ely"),
    Case(
      "S12-14", "City", "ANY residents.age < 25 && ANY residents.carsOwnedCount == 2",
      "Ayr Bath Ely"),
    Case("S12-20", "City", "name LIKE '?e*'", "Deal"),
    Case("S12-20", "Person", "name LIKE[n] '?o'", "Bo"),
    Case("S12-20", "City", "name MATCHES '[ABC][yo](.+)'", "Ayr Cork"),
    Case("S12-20", "City", "name MATCHES '[ABC][yo]'", ""),
    Case("S12-21", "City", "name == 'ayr'", ""), Case("S12-21", "City", "name ==[c] 'ayr'", "Ayr"),
    Case("S12-29", "Person", "hidden", "Al Ann Ben Di Ed"),
    Case("S12-29", "Person", "hidden == YES", "Al Ann Ben Di Ed"),
    Case("S12-30", "Person", "age >= %la AND age < 28", "", [25.68]),
    Case("S12-30", "Person", "age >= %la AND age < 29", "Di", [25.68]),
    Case("S12-30", "Person", "age == %la", "Dan", [25.0]),
    // ANY of a to-one path compares its only value; nil doesn't match.
    Case("S12-31", "City", "ANY mayor.age > 22", "Ayr Deal"),
    Case("S12-31", "City", "NONE mayor.age > 22", "Bath Cork Ely"),
    // Several to-many relationships in a path, several ANY: Core Data's SQLite store rejects these.
    Case("S-C20", "City", "ANY mayor.visitedCities.residents.age == 22", "Ayr"),
    Case("S-C20", "City", "ANY residents.visitedCities.mayor.age == 40", "Bath Deal Ely"),
    Case("S-C20", "City", "ANY residents.age < 21 AND ALL visitors.age > 100", "Ely"),
    Case("S-C22", "Person", "carsOwnedCount == 0", "Al"),
    Case("S-C22", "Person", "carsOwnedCount == nil", "Bo Di Eve"),
    Case("S-C22", "Person", "name == ''", ""),
    Case("S-C24", "Person", "age > 22 AND name LIKE 'D*t'", "Dot"),
    Case("S-C24", "Person", "name LIKE 'D*t' AND age > 22", "Dot"),
    Case("S-C25", "Person", "%K == %ld AND %K == %@", "Al", ["age", 24, "name", "Al"]),
  ]

  @Test(
    "S12-9, S12-10, S12-11, S12-12, S12-20, S12-21, S12-29, S12-30, S12-31, S-C20, S-C24, S-C25 formats match the expected names, with one SELECT",
    arguments: StoreKind.allCases)
  func formatsMatchExpectedNamesWithOneSelect(kind: StoreKind) throws {
    let store = try CityStore(kind)
    for known in Self.cases {
      let predicate = NSPredicate(format: known.format, argumentArray: known.arguments)
      var names: [String] = []
      let cost = try costs(of: store.context) { names = try store.names(known.entity, predicate) }
      #expect(names == known.names, "\(known)")
      // One SELECT returns only the matches; no fault runs another. A program's own store may read
      // strings first.
      #expect(!kind.isOwn || cost.selects == (kind.runsSQL ? 1 : 0), "\(known)")
      #expect(cost.misses == 0, "\(known)")
      #expect(!kind.isOwn || !kind.runsSQL || cost.rows == names.count, "\(known)")
      let count = try store.context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: known.entity)
        request.predicate = predicate
        return try store.context.count(for: request)
      }
      #expect(count == known.names.count, "\(known)")
    }
  }

  @Test("S12-1, S12-8, S12-26 equivalent formats have the same SQL", .ofOwnStores)
  func equivalentFormatsHaveTheSameSQL() throws {
    let store = try CityStore(.sqlite)
    let age = NSExpression(forKeyPath: "age")
    let built = NSComparisonPredicate(
      leftExpression: age, rightExpression: NSExpression(forConstantValue: 25),
      modifier: .direct, type: .equalTo)
    #expect(built.predicateFormat == NSPredicate(format: "%K == %ld", "age", 25).predicateFormat)
    let young = NSPredicate(format: "age < 25")
    let hidden = NSPredicate(format: "hidden == YES")
    let pairs: [(NSPredicate, NSPredicate)] = [
      (NSPredicate(format: "age >= 3"), NSPredicate(format: "age => 3")),
      (NSPredicate(format: "age <= 3"), NSPredicate(format: "age =< 3")),
      (NSPredicate(format: "age != 3"), NSPredicate(format: "age <> 3")),
      (NSPredicate(format: "age == 3"), NSPredicate(format: "age = 3")),
      (built, NSPredicate(format: "%K == %ld", "age", 25)),
      (
        NSPredicate(format: "age < 25 AND hidden == YES"),
        NSCompoundPredicate(andPredicateWithSubpredicates: [young, hidden])
      ),
      (
        NSPredicate(format: "age < 25 && hidden == YES"),
        NSPredicate(format: "age < 25 AND hidden == YES")
      ),
      (
        NSPredicate(format: "age < 25 || hidden == YES"),
        NSCompoundPredicate(orPredicateWithSubpredicates: [young, hidden])
      ),
      (
        NSPredicate(format: "! (age < 25)"),
        NSCompoundPredicate(notPredicateWithSubpredicate: young)
      ),
    ]
    for (left, right) in pairs {
      let first = try store.names("Person", left)
      let second = try store.names("Person", right)
      #expect(first == second)
      let texts = store.selects.suffix(2)
      #expect(texts.count == 2 && texts.first == texts.last, "\(left)")
    }
  }

  @Test(
    "S12-3, S-C22 nil in a fetch and in memory: only != differs", .ofOwnStores,
    arguments: [
      ("carsOwnedCount == 1", ["Dan"], ["Dan"]),
      (
        "carsOwnedCount >= 1", ["Ann", "Ben", "Dan", "Dot", "Ed"],
        ["Ann", "Ben", "Dan", "Dot", "Ed"]
      ),
      ("carsOwnedCount == nil", ["Bo", "Di", "Eve"], ["Bo", "Di", "Eve"]),
      ("carsOwnedCount != 2", ["Al", "Dan"], ["Al", "Bo", "Dan", "Di", "Eve"]),
      ("carsOwnedCount != 2 AND carsOwnedCount != nil", ["Al", "Dan"], ["Al", "Dan"]),
    ])
  func nilMatchesDifferBetweenFetchAndMemoryOnlyForInequality(
    format: String, fetched: [String], evaluated: [String]
  ) throws {
    let store = try CityStore(.sqlite)
    let predicate = NSPredicate(format: format)
    #expect(try store.names("Person", predicate) == fetched)
    try store.context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let found = try store.context.fetch(request).filter { predicate.evaluate(with: $0) }
      #expect(found.compactMap { $0.value(forKey: "name") as? String } == evaluated)
    }
    #expect(try CityStore(.memory).names("Person", predicate) == evaluated)
  }

  @Test(
    "S12-6, S12-7, S-C27 dates are stored as seconds since 2001 and compared exactly", .ofOwnStores)
  func datesMatchExactly() throws {
    let store = try CityStore(.sqlite)
    let exact = Date(timeIntervalSinceReferenceDate: 25.0 / 3)
    let off = Date(timeIntervalSinceReferenceDate: (25.0 / 3).nextUp)
    #expect(try store.names("Person", NSPredicate(format: "modified == %@", exact)) == ["Dan"])
    #expect(try store.names("Person", NSPredicate(format: "modified == %@", off)) == [])
    let range = NSPredicate(
      format: "modified BETWEEN {%@, %@}", exact.addingTimeInterval(-0.1), off)
    #expect(try store.names("Person", range) == ["Dan"])
    let connection = try Connection(path: store.stack.storeURL.path, access: .inspecting)
    defer { connection.close() }
    let values = try connection.values("SELECT ZMODIFIED FROM ZPERSON WHERE ZNAME = 'Al'")
    #expect(values == [[.integer(8)]])
  }

  @Test(
    "S-C19 blocks and methods are errors in SQLite and evaluated in memory", .ofOwnStores,
    arguments: StoreKind.allCases)
  func blocksAndMethodsAreErrorsOnlyInSQLite(kind: StoreKind) throws {
    let store = try CityStore(kind)
    let block = NSPredicate { record, _ in
      (record as? any KeyValueReadable)?.value(forKey: "name") as? String == "Al"
    }
    let method = NSPredicate(format: "FUNCTION(name, 'substringFromIndex:', 1) == 'l'")
    for (predicate, reason) in [(block, "block"), (method, "method")] {
      if !kind.runsSQL {
        #expect(try store.names("Person", predicate) == ["Al"])
        continue
      }
      let error = thrownError { _ = try store.names("Person", predicate) }
      #expect(error?.localizedDescription.contains(reason) == true, "\(String(describing: error))")
      #expect(error?.domain == NSCocoaErrorDomain && store.selects.isEmpty)
    }
    #expect(try store.names("Person", NSPredicate(format: "age == 40")) == ["Ann"])
  }

  @Test(
    "A value that a path doesn't reach removes no row for which another of a list matches",
    arguments: [StoreKind.sqlite, .memory])
  func missingValuesOfListsRemoveNoRow(kind: StoreKind) throws {
    let store = try CityStore(kind)
    let cases: [(String, [String])] = [
      ("name IN {mayor.name, 'Ely'}", ["Ely"]),
      ("'Cork' IN {name, mayor.name}", ["Cork"]),
      ("ANY {name, mayor.name} == 'Cork'", ["Cork"]),
    ]
    for (format, names) in cases {
      #expect(try store.names("City", NSPredicate(format: format)) == names, "\(format)")
    }
  }

  @Test(
    "A function of a list leaves out values that a path doesn't reach", .ofOwnStores,
    arguments: [StoreKind.sqlite, .memory])
  func functionsOfListsLeaveOutMissingValues(kind: StoreKind) throws {
    let store = try CityStore(kind)
    let cases: [(String, [String])] = [
      ("max:({age, mayorOf.mayor.age}) < 21", ["Ed", "Eve"]),
      ("min:(mayorOf.mayor.age, age) == 19", ["Eve"]),
      ("sum:(age, mayorOf.mayor.age) == 20", ["Ed"]),
      ("average:(age, mayorOf.mayor.age) == 19", ["Eve"]),
      // Beyond the range of integers, a sum is a real number.
      ("sum:({age, 9223372036854775807}) > 9e18 AND age < 21", ["Ed", "Eve"]),
    ]
    for (format, names) in cases {
      #expect(try store.names("Person", NSPredicate(format: format)) == names, "\(format)")
    }
  }

  @Test(
    "S12-32 an unknown key is an error that names it; the context remains usable",
    arguments: StoreKind.allCases)
  func unknownKeyIsNamedInTheError(kind: StoreKind) throws {
    let store = try CityStore(kind)
    for format in [
      "agee > 3", "age > 1000 AND agee > 3", "city.agee == 'x'", "ANY city.visitors.agee > 3",
      "TERNARY(agee > 3, 1, 2) == 1", "SUBQUERY(city.residents, $one, $one.agee > 3).@count > 0",
    ] {
      let error = thrownError { _ = try store.names("Person", NSPredicate(format: format)) }
      #expect(error?.localizedDescription.contains("agee") == true, "\(format)")
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSCoreDataError, "\(format)")
    }
    let error = thrownError {
      _ = try store.names("Person", NSPredicate(format: "age > 1000")) {
        $0.sortDescriptors = [NSSortDescriptor(key: "city.agee", ascending: true)]
      }
    }
    #expect(error?.localizedDescription.contains("agee") == true)
    #expect(try store.names("Person", NSPredicate(format: "age == 40")) == ["Ann"])
  }
}
