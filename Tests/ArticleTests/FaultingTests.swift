import CoreDataCosts
import OpenCoreData
import Testing

@Suite("The article Faulting")
struct FaultingTests {
  private let store: MoodStore

  init() throws { store = try MoodStore(countries: 3, moodsPerCountry: 4) }

  @Test func accessToACountryFiresAFault() throws {
    let context = store.container.newBackgroundContext()
    let cost = try costs(of: context) {
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      for mood in try context.fetch(request) {
        print(mood.date)  // no statement: the fetch has the row
        print(mood.country?.name ?? "")  // a fault: one SELECT for each country
      }
    }
    #expect(cost.selects == 4 && cost.misses == 3)
  }

  @Test func prefetchingTakesTwoStatements() throws {
    let context = store.container.newBackgroundContext()
    let cost = try costs(of: context) {
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      request.relationshipKeyPathsForPrefetching = ["country"]
      for mood in try context.fetch(request) {
        print(mood.country?.name ?? "")
      }
    }
    #expect(cost.selects == 2 && cost.misses == 0)
  }

  @Test func faultsOfABatchAreFulfilledTogether() throws {
    let context = store.container.newBackgroundContext()
    let cost = try costs(of: context) {
      let faults = NSFetchRequest<Mood>(entityName: "Mood")
      faults.includesPropertyValues = false
      let moods = try context.fetch(faults)

      let request = NSFetchRequest<Mood>(entityName: "Mood")
      request.predicate = NSPredicate(format: "self IN %@", moods)
      request.returnsObjectsAsFaults = false
      _ = try context.fetch(request)

      for mood in moods { print(mood.date) }
    }
    #expect(cost.selects == 2 && cost.misses == 0)
  }

  @Test func batchesAreFetchedOnDemand() throws {
    let context = store.container.newBackgroundContext()
    let cost = try costs(of: context) {
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
      request.fetchBatchSize = 5
      let moods = try context.fetchBatched(request)
      for mood in moods[..<5] { print(mood.date) }
    }
    #expect(cost.selects == 2)
    #expect(cost.rows == 12 + 5)
  }

  @Test func refreshedObjectIsAFault() throws {
    let context = store.container.newBackgroundContext()
    try context.performAndWait {
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      request.fetchLimit = 1
      request.returnsObjectsAsFaults = false
      for mood in try context.fetch(request) {
        context.refresh(mood, mergeChanges: false)
        #expect(mood.isFault)
      }
    }
  }
}
