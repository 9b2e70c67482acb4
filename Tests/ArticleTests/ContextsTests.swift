import OpenCoreData
import Testing

@Suite("The article Contexts and Queues")
struct ContextsTests {
  @Test func workIsDoneOnTheQueueOfAContext() async throws {
    let container = try MoodStore(countries: 1, moodsPerCountry: 2).container
    let context = container.newBackgroundContext()
    let count = try await context.perform {
      try context.count(for: NSFetchRequest<Mood>(entityName: "Mood"))
    }
    #expect(count == 2)
  }

  @Test func objectsAreHandedOverByID() async throws {
    let container = try MoodStore().container
    let (writer, reader) = (container.newBackgroundContext(), container.newBackgroundContext())
    let id = try await writer.perform {
      let country = Country(context: writer)
      country.name = "Iceland"
      try writer.save()
      return country.objectID
    }
    let name = try await reader.perform {
      try (reader.existingObject(with: id) as? Country)?.name
    }
    #expect(name == "Iceland")
  }

  @Test func savesAreMerged() async throws {
    let store = try MoodStore(countries: 1)
    let container = store.container
    let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    reader.persistentStoreCoordinator = container.persistentStoreCoordinator
    reader.automaticallyMergesChangesFromParent = true
    let writer = container.newBackgroundContext()
    let countries = try await reader.perform {
      try reader.fetch(NSFetchRequest<Country>(entityName: "Country")).map(\.objectID)
    }
    let id = try #require(countries.first)
    try await writer.perform {
      (try writer.existingObject(with: id) as? Country)?.name = "Iceland"
      try writer.save()
    }
    let name = try await reader.perform { (try reader.existingObject(with: id) as? Country)?.name }
    #expect(name == "Iceland")
  }

  @Test func conflictIsAnErrorOrIsMerged() throws {
    let store = try MoodStore(countries: 1)
    let container = store.container
    let (first, second) = (container.newBackgroundContext(), container.newBackgroundContext())
    second.automaticallyMergesChangesFromParent = false
    func fetchCountry(_ context: NSManagedObjectContext) throws -> Country {
      try #require(try context.fetch(NSFetchRequest<Country>(entityName: "Country")).first)
    }
    let country = try second.performAndWait {
      let country = try fetchCountry(second)
      #expect(country.name == "Country 0")
      return country
    }
    try first.performAndWait {
      try fetchCountry(first).name = "Iceland"
      try first.save()
    }
    try second.performAndWait {
      country.name = "Norway"
      do {
        try second.save()
        Issue.record("a conflict was saved")
      } catch let error as NSError where error.code == NSManagedObjectMergeError {
        second.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        try second.save()
      }
      second.refresh(country, mergeChanges: false)
      #expect(country.name == "Norway")
    }
  }

  @Test func pinnedContextSeesOneGeneration() throws {
    let container = try MoodStore(countries: 2).container
    let (reader, writer) = (container.newBackgroundContext(), container.newBackgroundContext())
    reader.automaticallyMergesChangesFromParent = false
    func count() throws -> Int {
      try reader.performAndWait {
        try reader.count(for: NSFetchRequest<Country>(entityName: "Country"))
      }
    }
    try reader.performAndWait { try reader.setQueryGenerationFrom(.current) }
    #expect(try count() == 2)
    try writer.performAndWait {
      Country(context: writer).name = "Iceland"
      try writer.save()
    }
    #expect(try count() == 2)
    try reader.performAndWait { try reader.setQueryGenerationFrom(.current) }
    #expect(try count() == 3)
  }

  @Test func childContextSavesToItsParent() throws {
    let parent = try MoodStore().container.newBackgroundContext()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    try child.performAndWait {
      Country(context: child).name = "Iceland"
      try child.save()  // to the parent, not to the store
    }
    try parent.performAndWait {
      #expect(parent.hasChanges)
      try parent.save()
    }
  }
}
