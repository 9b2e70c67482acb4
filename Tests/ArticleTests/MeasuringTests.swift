import CoreDataCosts
import OpenCoreData
import Testing

@Suite("The article Measuring")
struct MeasuringTests {
  private let container: NSPersistentContainer
  private let store: MoodStore

  init() throws {
    store = try MoodStore(countries: 3, moodsPerCountry: 4)
    container = store.container
  }

  @Test func listCostsTwoStatements() throws {
    let context = container.newBackgroundContext()
    let cost = try costs(of: container) {
      try context.performAndWait {
        let request = NSFetchRequest<Mood>(entityName: "Mood")
        request.relationshipKeyPathsForPrefetching = ["country"]
        for mood in try context.fetch(request) { print(mood.country?.name ?? "") }
      }
    }
    #expect(cost.selects == 2)
    #expect(cost.misses == 0)
  }

  @Test func asynchronousWorkIsCounted() async throws {
    let context = container.newBackgroundContext()
    let cost = try await costs(of: container) {
      try await context.perform {
        let country = Country(context: context)
        country.name = "Iceland"
        try context.save()
      }
    }
    #expect(cost.saves == 1)
    #expect(cost.inserts == 1)
  }
}
