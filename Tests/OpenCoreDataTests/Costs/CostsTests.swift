import CoreDataCosts
import OpenCoreData
import Testing

@Suite("Costs in tests of other packages")
struct CostsTests {
  /// A container with a cold store of moods.
  private func container(_ stack: TestStack) throws -> NSPersistentContainer {
    try stack.addMoods(12, countries: 3)
    let container = NSPersistentContainer(name: "Moody", managedObjectModel: stack.model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: stack.storeURL)]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    return container
  }

  @Test func costsIncludeAllContextsOfAContainer() throws {
    let stack = try TestStack.moody()
    let container = try container(stack)
    let cost = try costs(of: container) {
      for context in [container.newBackgroundContext(), container.newBackgroundContext()] {
        try context.performAndWait {
          for mood in try Mood.fetch(in: context) { _ = mood.country?.updatedAt }
        }
      }
    }
    #expect(cost.fetches == 2 && cost.rows == 2 * 12 + cost.misses)
    #expect(cost.selects == 2 + cost.misses && cost.statements == cost.selects)
    #expect(cost.faults == cost.hits + cost.misses && cost.misses >= 3)
  }

  @Test func prefetchedCountriesCauseNoMisses() throws {
    let stack = try TestStack.moody()
    let container = try container(stack)
    let context = container.newBackgroundContext()
    let cost = try costs(of: container) {
      try context.performAndWait {
        let moods = try Mood.fetch(in: context) {
          $0.relationshipKeyPathsForPrefetching = ["country"]
        }
        for mood in moods { _ = mood.country?.updatedAt }
      }
    }
    #expect(cost.misses == 0 && cost.selects == 2 && cost.rows == 15 && cost.prefetches == 1)
    #expect(cost.hits == 15 && cost.statements == 2 && cost.saves == 0)
  }

  @Test func costsExcludeFetchesOutsideTheBlock() async throws {
    let stack = try TestStack.moody()
    let container = try container(stack)
    let context = container.newBackgroundContext()
    try context.performAndWait { _ = try Mood.fetch(in: context) }
    let cost = try await costs(of: container) {
      try await context.perform {
        _ = try context.count(for: NSFetchRequest<Mood>(entityName: "Mood"))
      }
    }
    let same = try await costs(of: container.persistentStoreCoordinator) {
      try await context.perform {
        _ = try context.count(for: NSFetchRequest<Mood>(entityName: "Mood"))
      }
    }
    try context.performAndWait { _ = try Mood.fetch(in: context) }
    #expect(cost.selects == 1 && cost.fetches == 1 && cost.faults == 0)
    #expect(same == cost)
  }
}
