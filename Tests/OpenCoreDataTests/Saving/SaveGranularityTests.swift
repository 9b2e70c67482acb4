import CoreDataCosts
import OpenCoreData
import Testing

@testable import OpenCoreData

@Suite("Ten thousand inserts, in one save or many")
struct SaveGranularityTests {
  /// Each save takes one transaction to reserve primary keys, and one for the rows.
  @Test(arguments: [
    ("S-B13 one save", 10_000), ("S-B13 a hundred saves", 100), ("S-B13 ten thousand saves", 1),
  ])
  func eachSaveTakesTwoTransactionsAndRegistersOnlyItsObjects(id: String, lot: Int) throws {
    let stack = try TestStack(model: TestModels.company())
    // Syncing to disk isn't measured here.
    let context = try stack.coldContext(options: [NSSQLitePragmasOption: ["synchronous": "OFF"]])
    let entity = try #require(stack.model.entitiesByName["Employee"])
    var saves = 0
    var transactions = 0
    for _ in 0..<(10_000 / lot) {
      let cost = try costs(of: context) {
        for _ in 0..<lot {
          NSManagedObject(entity: entity, insertInto: context).setValue("new", forKey: "name")
        }
        try context.save()
      }
      saves += cost.saves
      transactions += cost.transactions
    }
    #expect(saves == 10_000 / lot && transactions == 2 * saves)
    #expect(context.performAndWait { context.peakRegisteredCount } == lot)
    context.performAndWait { context.reset() }
    #expect(context.performAndWait { context.peakRegisteredCount } == lot)
    let count = try context.performAndWait {
      try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Employee"))
    }
    #expect(count == 10_000)
  }
}
