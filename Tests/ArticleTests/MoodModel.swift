import OpenCoreData

final class Country: NSManagedObject {
  @Managed("name") var name: String
  @Managed("moods") var moods: Set<Mood>
}

final class Mood: NSManagedObject {
  @Managed("date") var date: Date
  @Managed("note") var note: String?
  @Managed("country") var country: Country?
}

/// The model of the articles.
enum MoodModel {
  static func make() -> NSManagedObjectModel {
    let name = NSAttributeDescription()
    name.name = "name"
    name.attributeType = .stringAttributeType
    name.isOptional = false

    let date = NSAttributeDescription()
    date.name = "date"
    date.attributeType = .dateAttributeType
    date.isOptional = false

    let note = NSAttributeDescription()
    note.name = "note"
    note.attributeType = .stringAttributeType

    let (country, mood) = (NSEntityDescription(), NSEntityDescription())
    let (moods, home) = (NSRelationshipDescription(), NSRelationshipDescription())
    moods.name = "moods"
    moods.destinationEntity = mood
    moods.inverseRelationship = home
    moods.deleteRule = .cascadeDeleteRule
    home.name = "country"
    home.destinationEntity = country
    home.inverseRelationship = moods
    home.maxCount = 1

    country.name = "Country"
    country.managedObjectClassName = "Country"
    country.properties = [name, moods]
    mood.name = "Mood"
    mood.managedObjectClassName = "Mood"
    mood.properties = [date, note, home]

    let model = NSManagedObjectModel()
    model.entities = [country, mood]
    return model
  }
}

/// A container with a store in a temporary folder, which is removed with it.
final class MoodStore {
  let container: NSPersistentContainer
  let url: URL

  init(countries: Int = 0, moodsPerCountry: Int = 0) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ArticleTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    url = folder.appendingPathComponent("Moods.sqlite")
    Country.registerClass()
    Mood.registerClass()
    if countries > 0 {
      let context = try Self.open(url).newBackgroundContext()
      try context.performAndWait {
        for number in 0..<countries {
          let country = Country(context: context)
          country.name = "Country \(number)"
          for day in 0..<moodsPerCountry {
            let mood = Mood(context: context)
            mood.date = Date(timeIntervalSinceReferenceDate: Double(number * 1_000 + day) * 86_400)
            mood.country = country
          }
        }
        try context.save()
      }
    }
    container = try Self.open(url)
  }

  deinit {
    try? FileManager.default.removeItem(at: url.deletingLastPathComponent())
  }

  /// Opens a store in a new container, whose row cache is empty.
  static func open(_ url: URL) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Moods", managedObjectModel: MoodModel.make())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }
}
