import OpenCoreData
import Testing

/// Which predicates and sorts use an index.
@Suite("Plans of predicates")
struct PredicatePlanTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let ids: String
    let format: String
    let plan: String
    var sort: String?

    init(_ ids: String, _ format: String, _ plan: String, sort: String? = nil) {
      self.ids = ids
      self.format = format
      self.plan = plan
      self.sort = sort
    }

    var testDescription: String { "\(ids): \(format)" }
  }

  static let cases: [Case] = [
    Case(
      "S12-2", "age BETWEEN {23, 28}", "SEARCH t0 USING INDEX Z_Person_byage (ZAGE>? AND ZAGE<?)"),
    Case("S8.21", "age > 30", "SEARCH t0 USING INDEX Z_Person_byage (ZAGE>?)"),
    Case("S8.21", "carsOwnedCount > 30", "SCAN t0"),
    Case("S12-18, S-C23", "name ==[n] 'Al'", "SEARCH t0 USING INDEX Z_Person_byname (ZNAME=?)"),
    Case(
      "S12-18, S-C23", "name BEGINSWITH[n] 'A'",
      "SEARCH t0 USING INDEX Z_Person_byname (ZNAME>? AND ZNAME<?)"),
    Case("S12-18", "name IN[n] {'Al', 'Di'}", "SEARCH t0 USING INDEX Z_Person_byname (ZNAME=?)"),
    Case("S12-19", "name ENDSWITH[n] 'l'", "SCAN t0"),
    Case("S12-19", "name CONTAINS[n] 'l'", "SCAN t0"),
    Case("S12-19", "name LIKE[n] '?l'", "SCAN t0"),
    Case("S12-19", "name MATCHES[n] 'A.'", "SCAN t0"),
    // LIKE with one trailing `*` is a range search.
    Case(
      "", "name LIKE 'A*'", "SEARCH t0 USING INDEX Z_Person_byname (ZNAME>? AND ZNAME<?)"),
    Case("S-C23", "name == 'Al'", "SEARCH t0 USING INDEX Z_Person_byname (ZNAME=?)"),
    Case("S-C23", "name ==[c] 'al'", "SCAN t0"), Case("S-C23", "name ==[cd] 'al'", "SCAN t0"),
    Case("S-C23", "name BEGINSWITH 'A'", "SCAN t0"),
    Case("S-C23", "name BEGINSWITH[cd] 'A'", "SCAN t0"),
    Case("S-C21", "noindex:(age) == 24", "SCAN t0"),
    Case(
      "S-C21", "noindex:(age) == 24 AND name == 'Al'",
      "SEARCH t0 USING INDEX Z_Person_byname (ZNAME=?)"),
    Case("S-C30", "age == 24 AND name == 'Al'", "SEARCH t0 USING INDEX Z_Person_by"),
    Case("S-C30", "age == 24 OR name == 'Al'", "MULTI-INDEX OR"),
    Case("S-C30", "age == 24", "USE TEMP B-TREE FOR ORDER BY", sort: "name"),
    Case("S8.11", "TRUEPREDICATE", "SCAN t0 USING INDEX Z_Person_byname", sort: "name"),
    Case("S8.11", "TRUEPREDICATE", "USE TEMP B-TREE FOR ORDER BY", sort: "carsOwnedCount"),
    Case("", "age IN {24, 25}", "SEARCH t0 USING INDEX Z_Person_byage (ZAGE=?)"),
  ]

  @Test("S12-19, S8.11, S8.21, S-C30 predicates and sorts have the expected query plans")
  func predicatesAndSortsHaveTheExpectedPlans() throws {
    let store = try CityStore(.sqlite)
    let reader = try PlanReader(store)
    for known in Self.cases {
      _ = try store.names("Person", NSPredicate(format: known.format)) { request in
        request.sortDescriptors = known.sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
      }
      let lines = try reader.lines(try #require(store.selects.last))
      #expect(lines.contains { $0.contains(known.plan) }, "\(known): \(lines)")
      if known.ids == "S8.11", known.sort == "name" {
        #expect(!lines.contains { $0.contains("TEMP B-TREE") })
      }
    }
  }

  @Test("S12-23 the order of the terms does not change the plan")
  func termOrderDoesNotChangeThePlan() throws {
    let store = try CityStore(.sqlite)
    let reader = try PlanReader(store)
    for (first, second) in [
      ("age > 32", "carsOwnedCount == 2"), ("hidden == YES", "age > 30"),
    ] {
      var plans: [[String]] = []
      for format in ["\(first) AND \(second)", "\(second) AND \(first)"] {
        _ = try store.names("Person", NSPredicate(format: format)) { $0.sortDescriptors = nil }
        plans.append(try reader.lines(try #require(store.selects.last)))
      }
      #expect(plans[0] == plans[1])
    }
  }

  @Test("S-C17, S8.10 every store sorts by each comparison, and only SQLite rejects a block")
  func everyStoreSortsByComparisonsAndSQLiteRejectsBlocks() throws {
    for kind in StoreKind.allCases {
      let store = try CityStore(kind)
      for comparison in NSSortDescriptor.Comparison.allCases {
        let names = try store.names("City", nil) { request in
          request.sortDescriptors = [
            NSSortDescriptor(key: "name", ascending: false, selector: comparison)
          ]
        }
        #expect(names == ["Ely", "Deal", "Cork", "Bath", "Ayr"], "\(comparison)")
      }
      let block = NSSortDescriptor(key: "name", ascending: true) { _, _ in .orderedSame }
      if !kind.runsSQL {
        #expect(try store.names("City", nil) { $0.sortDescriptors = [block] }.count == 5)
      } else {
        #expect(throws: NSError.self) {
          try store.names("City", nil) { $0.sortDescriptors = [block] }
        }
      }
    }
  }
}
