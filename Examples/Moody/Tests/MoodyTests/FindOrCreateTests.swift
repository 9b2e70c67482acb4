import CoreDataCosts
import Moody
import OpenCoreData
import Testing

@Suite("Find or create")
struct FindOrCreateTests {
  private let predicate = NSPredicate(format: "numericISO3166Code == %ld", 2)

  /// A cold context over a store with three countries.
  private func context(_ kind: StoreKind) throws -> (MoodyStack, NSManagedObjectContext) {
    let stack = try MoodyStack(kind)
    let context = stack.context()
    try context.performAndWait {
      for code in 1...3 as ClosedRange<Int16> {
        Country(context: context).numericISO3166Code = code
      }
      try context.save()
    }
    return (stack, try stack.coldContext())
  }

  @Test(
    "S4.03, S4.04, S4.06 finding a realized object costs nothing; any other takes one SELECT",
    arguments: StoreKind.allCases)
  func findsExistingObjectWithAtMostOneSelect(kind: StoreKind) throws {
    let (stack, context) = try context(kind)
    try context.performAndWait {
      var country: Country?
      func find() throws -> Costs {
        try costs(of: context) {
          country = try Country.findOrCreate(in: context, matching: predicate) { _ in
            Issue.record("a country was created")
          }
        }
      }
      let stored = try find()
      #expect(
        stored.selects == stack.selects(1) && stored.rows == stack.selects(1)
          && stored.faults == 0)
      let first = try #require(country)
      #expect(!first.isFault)
      let registered = try find()
      #expect(registered.selects == 0 && registered.faults == 0 && registered.inserts == 0)
      #expect(country === first)
      context.refresh(first, mergeChanges: false)
      #expect(first.isFault)
      let fault = try find()
      #expect(fault.selects == stack.selects(1) && fault.faults == 0)
      #expect(country === first && !first.isFault)
    }
  }

  @Test("S4.05 a missing object is fetched once and created", arguments: StoreKind.allCases)
  func createsMissingObjectAfterOneSelect(kind: StoreKind) throws {
    let (stack, context) = try context(kind)
    try context.performAndWait {
      var configured = 0
      let cost = try costs(of: context) {
        let country = try Country.findOrCreate(
          in: context, matching: NSPredicate(format: "numericISO3166Code == 77")
        ) { country in
          configured += 1
          country.numericISO3166Code = 77
        }
        #expect(country.isInserted)
      }
      #expect(cost.selects == stack.selects(1) && cost.rows == 0 && configured == 1)
      #expect(context.insertedObjects.count == 1)
    }
  }

  @Test("A deleted object isn't found", arguments: StoreKind.allCases)
  func deletedObjectIsNotFound(kind: StoreKind) throws {
    let (stack, context) = try context(kind)
    try withExtendedLifetime(stack) {
      try context.performAndWait {
        let first = try #require(try Country.findOrFetch(in: context, matching: predicate))
        context.delete(first)
        let second = try Country.findOrCreate(in: context, matching: predicate) {
          $0.numericISO3166Code = 2
        }
        #expect(second !== first && second.isInserted)
        try context.save()
        #expect(try context.count(for: Country.sortedFetchRequest) == 3)
      }
    }
  }

  @Test("S4.07 searching registered objects fires no faults", arguments: StoreKind.allCases)
  func searchingRegisteredObjectsFiresNoFaults(kind: StoreKind) throws {
    let (_, context) = try context(kind)
    try context.performAndWait {
      let faults = try context.fetch(NSFetchRequest<Country>(entityName: "Country"))
      #expect(faults.count { $0.isFault } == 3)
      let cost = costs(of: context) {
        #expect(Country.materializedObject(in: context, matching: predicate) == nil)
      }
      #expect(cost.faults == 0 && cost.selects == 0)
      #expect(faults.count { $0.isFault } == 3)
    }
  }
}
