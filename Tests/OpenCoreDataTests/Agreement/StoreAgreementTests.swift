import ManagedModel
import Testing

@testable import OpenCoreData

/// A SQLite store, an in-memory store, unsaved changes, and the test's own evaluation agree.
@Suite struct StoreAgreementTests {
  /// The number of predicates: `CDPROF_AGREEMENT_ROUNDS`, or 1,000; `make agreement` runs 20,000.
  private static let rounds =
    ProcessInfo.processInfo.environment["CDPROF_AGREEMENT_ROUNDS"].flatMap { Int($0) } ?? 1_000

  private static let seed =
    ProcessInfo.processInfo.environment["CDPROF_AGREEMENT_SEED"].flatMap { UInt64($0) } ?? 20260

  @Test(arguments: 0..<2 as Range<UInt64>)
  func storesAndPlainSwiftAgree(number: UInt64) throws {
    let seed = Self.seed + number
    let warehouse = Warehouse(seed: seed, count: 60)
    let stack = try TestStack(model: Warehouse.model())
    let contexts: [(NilRules, NSManagedObjectContext)] = [
      (.sql, try warehouse.context(NSSQLiteStoreType, at: stack.storeURL)),
      (.memory, try warehouse.context(NSInMemoryStoreType, at: nil)),
      (
        .memory,
        try warehouse.unsavedContext(
          at: stack.storeURL.deletingLastPathComponent().appendingPathComponent("unsaved.sqlite"))
      ),
    ]
    var grammar = FormulaGrammar(random: SeededRandom(seed: seed))
    var matches = 0
    for round in 0..<Self.rounds / 2 {
      let condition = grammar.condition(3)
      let predicate = try NSPredicate.parse(condition.format, arguments: [])
      let expected = NilRules.allCases.reduce(into: [:]) { expected, rules in
        expected[rules] =
          warehouse.items
          .filter { condition.answer(DataRow(item: $0), rules) == true }.map(\.number)
      }
      for (rules, context) in contexts {
        let found = try context.performAndWait {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
          request.predicate = predicate
          request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
          let numbers = try context.fetch(request).compactMap {
            $0.value(forKey: "number") as? Int64
          }
          #expect(try context.count(for: request) == numbers.count)
          return numbers
        }
        matches += found.count
        guard found == expected[rules] else {
          Issue.record(
            """
            seed \(seed), round \(round), \(rules): \(condition.format)
            found \(found)
            expected \(expected[rules] ?? [])
            """)
          return
        }
      }
    }
    #expect(matches > Self.rounds * 7)
  }
}
