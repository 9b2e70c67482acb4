import OpenCoreData
import Testing

@Suite("The article Predicates and Sort Descriptors")
struct PredicatesTests {
  private let context: NSManagedObjectContext
  private let store: MoodStore

  init() throws {
    store = try MoodStore(countries: 3, moodsPerCountry: 4)
    context = store.container.newBackgroundContext()
  }

  @Test func formatsAreTranslated() throws {
    let start = Date(timeIntervalSinceReferenceDate: 0)
    let moods = NSFetchRequest<Mood>(entityName: "Mood")
    moods.predicate = NSPredicate(
      format: "date >= %@ AND country.name BEGINSWITH[cd] %@", start as NSDate, "country 1")

    let countries = NSFetchRequest<Country>(entityName: "Country")
    countries.predicate = NSPredicate(format: "moods.@count > 3")

    let recent = NSFetchRequest<Country>(entityName: "Country")
    recent.predicate = NSPredicate(
      format: "SUBQUERY(moods, $mood, $mood.date > %@).@count > 0", start as NSDate)

    let counts = try context.performAndWait {
      (
        try context.count(for: moods), try context.count(for: countries),
        try context.count(for: recent)
      )
    }
    #expect(counts == (4, 3, 3))
  }

  @Test func namesAndValuesAreArguments() throws {
    let (key, text) = ("name", "Country 2")
    let predicate = NSPredicate(format: "%K == %@", key, text)
    #expect(predicate.predicateFormat == #"name == "Country 2""#)

    let template = NSPredicate(format: "name == $NAME")
    let filled = template.withSubstitutionVariables(["NAME": text])
    #expect(filled == predicate)
  }

  @Test func comparisonsWithObjectsUseTheKey() throws {
    try context.performAndWait {
      let request = NSFetchRequest<Country>(entityName: "Country")
      let country = try #require(try context.fetch(request).first)
      let moods = NSFetchRequest<Mood>(entityName: "Mood")
      moods.predicate = NSPredicate(format: "country == %@", country)
      let count = try context.count(for: moods)
      #expect(count == 4)
    }
  }

  @Test func sortedInTheStore() throws {
    let request = NSFetchRequest<Mood>(entityName: "Mood")
    request.sortDescriptors = [
      NSSortDescriptor(key: "country.name", ascending: true),
      NSSortDescriptor(key: "date", ascending: false),
    ]
    request.fetchLimit = 1
    try context.performAndWait {
      let name = try context.fetch(request).first?.country?.name
      #expect(name == "Country 0")
    }
  }

  @Test func predicateIsEvaluatedInMemory() throws {
    let predicate = NSPredicate(format: "name ENDSWITH '1'")
    try context.performAndWait {
      let countries = try context.fetch(NSFetchRequest<Country>(entityName: "Country"))
      let found = countries.filter { predicate.evaluate(with: $0) }
      #expect(found.count == 1)
    }
  }
}
