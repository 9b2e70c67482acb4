public import OpenCoreData

/// What the service reads and writes, with a context for each request.
public struct MoodStore: Sendable {
  /// A mood as JSON has it.
  public struct Entry: Codable, Sendable, Equatable {
    /// The text of the mood.
    public var text: String
    /// The code of its country; `nil` if it has none.
    public var country: String?

    /// Creates an entry.
    public init(text: String, country: String?) {
      (self.text, self.country) = (text, country)
    }
  }

  /// The container of the store.
  public let container: NSPersistentContainer

  /// Opens the store at a URL, and creates it if it doesn't exist.
  ///
  /// - Throws: The error of opening it.
  public init(at url: URL) throws {
    container = NSPersistentContainer(name: "Moods", managedObjectModel: MoodModel.make())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
  }

  /// Returns all moods with their countries.
  ///
  /// **Cost:** a SELECT, and, unless the countries are prefetched with a second one, a SELECT for
  /// each country.
  public func moods(prefetching: Bool) async throws -> [Entry] {
    try await container.performBackgroundTask { context in
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
      if prefetching { request.relationshipKeyPathsForPrefetching = ["country"] }
      return try context.fetch(request).map { Entry(text: $0.text, country: $0.country?.code) }
    }
  }

  /// Saves a mood, and its country if it's new.
  ///
  /// Other requests may change the country, or save the same new one, at the same time: the merge
  /// policy then saves the mood with the stored country.
  ///
  /// **Cost:** a SELECT of the country, and a save: an INSERT, and an UPDATE of a known country.
  /// - Throws: 1550–1680 if the mood isn't valid.
  public func add(_ entry: Entry) async throws {
    try await container.performBackgroundTask { context in
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let mood = Mood(context: context)
      mood.text = entry.text
      if let code = entry.country { mood.country = try country(code, in: context) }
      try context.save()
    }
  }

  private func country(_ code: String, in context: NSManagedObjectContext) throws -> Country {
    let request = NSFetchRequest<Country>(entityName: "Country")
    request.predicate = NSPredicate(format: "code = %@", code)
    request.fetchLimit = 1
    if let known = try context.fetch(request).first { return known }
    let country = Country(context: context)
    country.code = code
    return country
  }
}
