import OpenCoreData
import Testing

@Suite("The article Opening a Store")
struct OpeningAStoreTests {
  @Test func savedMoodIsFetched() throws {
    let store = try MoodStore()
    let url = store.url

    Country.registerClass()
    Mood.registerClass()

    let container = NSPersistentContainer(name: "Moods", managedObjectModel: MoodModel.make())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }

    let context = container.newBackgroundContext()
    try context.performAndWait {
      let iceland = Country(context: context)
      iceland.name = "Iceland"
      let mood = Mood(context: context)
      mood.date = Date()
      mood.country = iceland
      try context.save()
    }

    let names = try context.performAndWait {
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
      return try context.fetch(request).map { $0.country?.name ?? "" }
    }
    #expect(names == ["Iceland"])
  }

  @Test func storeIsReadWithItsOwnModel() throws {
    let store = try MoodStore(countries: 2, moodsPerCountry: 1)
    let url = store.url
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: MoodModel.make())
    try coordinator.addPersistentStore(
      type: .sqlite, at: url, options: [NSReadOnlyPersistentStoreOption: true])
    #expect(coordinator.persistentStores.first?.isReadOnly == true)
  }

  @Test func errorsNameTheProperty() throws {
    let context = try MoodStore().container.newBackgroundContext()
    context.performAndWait {
      _ = Country(context: context)
      do {
        try context.save()
        Issue.record("a country without a name was saved")
      } catch let error as NSError where error.code == NSValidationMissingMandatoryPropertyError {
        let key = error.userInfo[NSValidationKeyErrorKey] as? String
        #expect(key == "name")
      } catch {
        Issue.record(error)
      }
    }
  }
}
