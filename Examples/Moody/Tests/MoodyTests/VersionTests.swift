import Moody
import OpenCoreData
import Testing

@Suite("Versions of the model")
struct VersionTests {
  /// A store of a version, with two continents, three countries, and four moods.
  private static func store(of version: MoodyVersion, in folder: URL) throws -> URL {
    MoodyContainer.registerClasses()
    let url = folder.appendingPathComponent("Moody \(version.rawValue).sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version.managedObjectModel())
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for (country, continent, moods) in [(250, 10_004, 2), (276, 10_004, 1), (356, 10_003, 1)] {
        let object = region("Country", country, in: context)
        object.setValue(moods, forKey: "numberOfMoods")
        let its = try add(continent, to: object, version, in: context)
        for number in 0..<moods {
          let mood = insert("Mood", in: context)
          mood.setValue(
            Date(timeIntervalSinceReferenceDate: Double(country + number)), forKey: "date")
          if number == 0 { mood.setValue(Data([1, 2, 3]), forKey: "colors") }
          mood.setValue(
            "\(country)-\(number)",
            forKey: [.version1, .version7].contains(version) ? "remoteIdentifier" : "remoteID")
          if version == .version7, number > 0 { mood.setValue(Data(), forKey: "colors") }
          mood.setValue(object, forKey: "country")
          if [.version3, .version4].contains(version) { mood.setValue(its, forKey: "continent") }
        }
      }
      try context.save()
    }
    try coordinator.remove(store)
    return url
  }

  private static func insert(
    _ entity: String, in context: NSManagedObjectContext
  ) -> NSManagedObject {
    NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
  }

  private static func region(
    _ entity: String, _ code: Int, in context: NSManagedObjectContext
  ) -> NSManagedObject {
    let object = insert(entity, in: context)
    object.setValue(code, forKey: "numericISO3166Code")
    if object.entity.attributesByName["updatedAt"] != nil {
      object.setValue(Date(timeIntervalSinceReferenceDate: Double(code)), forKey: "updatedAt")
    }
    return object
  }

  private static func add(
    _ code: Int, to country: NSManagedObject, _ version: MoodyVersion,
    in context: NSManagedObjectContext
  ) throws -> NSManagedObject? {
    guard version != .version5 else {
      country.setValue(code, forKey: "isoContinent")
      return nil
    }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Continent")
    request.predicate = NSPredicate(format: "numericISO3166Code == %ld", code)
    let continent = try context.fetch(request).first ?? region("Continent", code, in: context)
    country.setValue(continent, forKey: "continent")
    return continent
  }

  /// All that a list shows, one line for each object.
  private static func content(of container: NSPersistentContainer) throws -> [String] {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      let moods = try Mood.fetch(in: context).map { mood in
        "mood \(mood.remoteIdentifier ?? "-") \(Int(mood.date.timeIntervalSinceReferenceDate)) "
          + "\(Array(mood.colors)) in \(mood.country?.numericISO3166Code ?? 0), "
          + "\(mood.country?.continent?.numericISO3166Code ?? 0)"
      }
      let countries = try Country.fetch(in: context).map {
        "country \($0.numericISO3166Code): \($0.numberOfMoods)"
      }
      let continents = try Continent.fetch(in: context).map {
        "continent \($0.numericISO3166Code): \($0.numberOfCountries), \($0.numberOfMoods)"
      }
      return (moods + countries + continents).sorted()
    }
  }

  @Test("A store of any version is migrated when it's opened", arguments: MoodyVersion.allCases)
  func storeOfAnyVersionIsMigrated(version: MoodyVersion) throws {
    let folder = try TemporaryFolder()
    let url = try Self.store(of: version, in: folder.url)
    #expect(try MoodyVersion(storeURL: url) == version)
    let progress = Progress(totalUnitCount: 1)
    let container = try MoodyContainer.make(storeURL: url, progress: progress)
    #expect(
      try Self.content(of: container) == [
        "continent 10003: 1, 1", "continent 10004: 2, 3", "country 250: 2", "country 276: 1",
        "country 356: 1", "mood 250-0 250 [1, 2, 3] in 250, 10004",
        "mood 250-1 251 [] in 250, 10004", "mood 276-0 276 [1, 2, 3] in 276, 10004",
        "mood 356-0 356 [1, 2, 3] in 356, 10003",
      ])
    let steps = MoodyVersion.current.rawValue - version.rawValue
    #expect(
      steps == 0
        || (progress.totalUnitCount, progress.completedUnitCount) == (Int64(steps), Int64(steps)))
    #expect(try MoodyVersion(storeURL: url) == .current)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(files.allSatisfy { $0.hasPrefix("Moody") }, "no temporary store is left")
  }

  @Test(
    "A store that Core Data wrote is migrated when it's opened",
    .enabled(if: SharedStores.isHere, "the folder shared isn't next to the package"),
    arguments: 1...5)
  func storeOfCoreDataIsMigrated(version: Int) throws {
    let name = version == 1 ? "Moody.moody" : "Moody \(version).moody"
    let source = SharedStores.folder.appendingPathComponent(name)
    let folder = try TemporaryFolder()
    let url = folder.url.appendingPathComponent("Moody.sqlite")
    try FileManager.default.copyItem(at: source, to: url)
    #expect(try MoodyVersion(storeURL: url)?.rawValue == version)
    let container = try MoodyContainer.make(storeURL: url)
    let content = try Self.content(of: container)
    #expect(content.filter { $0.hasPrefix("mood") }.count == 4, "\(content)")
    #expect(content.filter { $0.hasPrefix("country") }.count == 3, "\(content)")
    #expect(content.filter { $0.hasPrefix("continent") }.count == 2, "\(content)")
  }

  @Test("A file that a process left when it was killed while it created the store becomes a store")
  func unfinishedStoreIsCreated() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appendingPathComponent("Moody.sqlite")
    // The header of a database in WAL mode, without tables.
    var page = [UInt8](repeating: 0, count: 4_096)
    page.replaceSubrange(0..<16, with: Array("SQLite format 3\0".utf8))
    page.replaceSubrange(16..<24, with: [0x10, 0, 2, 2, 0, 64, 32, 32])
    page[31] = 1  // pages
    page[55] = 1  // auto_vacuum: the largest root page
    page[67] = 1  // incremental
    page.replaceSubrange(100..<108, with: [13, 0, 0, 0, 0, 0x10, 0, 0])  // an empty leaf
    try Data(page).write(to: url)
    let container = try MoodyContainer.make(storeURL: url)
    #expect(try Self.content(of: container) == [])
    #expect(try MoodyVersion(storeURL: url) == .current)
  }

  @Test("A store that isn't one of the versions isn't changed")
  func unknownVersionIsAnError() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appendingPathComponent("Towns.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NamedModel.make())
    try coordinator.remove(try coordinator.addPersistentStore(type: .sqlite, at: url))
    let bytes = try Data(contentsOf: url)
    let error = #expect(throws: UnknownModelVersion.self) {
      try MoodyContainer.make(storeURL: url)
    }
    #expect(error?.description.contains("none of the versions Moody 7, Moody 6") == true)
    #expect(try Data(contentsOf: url) == bytes)
  }

  @Test("A failed migration leaves the store as it is, and can be repeated")
  func failedMigrationLeavesTheStore() throws {
    let folder = try TemporaryFolder()
    let url = try Self.store(of: .version5, in: folder.url)
    let target = folder.url.appendingPathComponent("Missing/Moody.sqlite")
    #expect(throws: (any Error).self) {
      try migrateStore(from: url, to: target, targetVersion: MoodyVersion.version7)
    }
    #expect(try MoodyVersion(storeURL: url) == .version5)
    let other = folder.url.appendingPathComponent("Moved.sqlite")
    try migrateStore(
      from: url, to: other, targetVersion: MoodyVersion.version6, deleteSource: true)
    #expect(try MoodyVersion(storeURL: other) == .version6)
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }

  @Test("A store isn't migrated to an earlier version")
  func earlierVersionIsAnError() throws {
    let folder = try TemporaryFolder()
    let url = try Self.store(of: .version5, in: folder.url)
    let error = #expect(throws: LaterModelVersion.self) {
      try migrateStore(from: url, to: url, targetVersion: MoodyVersion.version2)
    }
    #expect(error?.description.contains("later version than Moody 2") == true)
    #expect(try MoodyVersion(storeURL: url) == .version5)
  }
}

@Suite("Names of regions")
struct RegionNameTests {
  @Test(
    "Countries and continents have localized names",
    arguments: [
      ("de_DE", 250, "Frankreich"), ("en_US", 276, "Germany"), ("en_US", 10_004, "Europe"),
      ("de_DE", 10_005, "Nordamerika"), ("en_US", 10_002, "Antarctica"), ("en_US", 999, "999"),
    ] as [(String, Int16, String)])
  func regionsHaveLocalizedNames(language: String, code: Int16, name: String) throws {
    let stack = try MoodyStack(.memory)
    let context = stack.context()
    context.performAndWait {
      let region: Region = code > 1_000 ? Continent(context: context) : Country(context: context)
      region.numericISO3166Code = code
      #expect(region.localizedName(in: Locale(identifier: language)) == name)
    }
  }

  @Test(
    "A new country gets its continent",
    arguments: [
      ("FR", 250, 10_004), ("in", 356, 10_003), ("EG", 818, 10_001), ("BR", 76, 10_007),
      ("MX", 484, 10_005), ("AU", 36, 10_006), ("AQ", 10, 10_002),
    ] as [(String, Int16, Int16)])
  func newCountryGetsItsContinent(letters: String, code: Int16, continent: Int16) throws {
    let stack = try MoodyStack(.memory)
    let context = stack.context()
    try context.performAndWait {
      #expect(Country.code(forLetters: letters) == code)
      let country = try Country.findOrCreate(for: code, in: context)
      #expect(country.continent?.numericISO3166Code == continent)
      let again = try Country.findOrCreate(for: code, in: context)
      #expect(again === country)
    }
  }

  @Test("A country that was marked for deletion comes back with its next mood")
  func markedCountryComesBack() throws {
    let stack = try MoodyStack(.sqlite)
    let context = stack.context()
    try context.performAndWait {
      let mood = context.mood(1, in: try Country.findOrCreate(for: 250, in: context))
      try context.save()
      mood.markForLocalDeletion()
      try context.save()
      #expect(try context.fetch(Country.visibleFetchRequest).isEmpty)
      #expect(try context.fetch(Continent.visibleFetchRequest).isEmpty)
      context.mood(2, in: try Country.findOrCreate(for: 250, in: context))
      try context.save()
      let countries = try context.fetch(Country.visibleFetchRequest)
      #expect(countries.map(\.numberOfMoods) == [1])
      #expect(try context.fetch(Continent.visibleFetchRequest).map(\.numberOfMoods) == [1])
      #expect(try Country.count(in: context) == 1)
    }
  }
}

/// A folder that's removed with this object.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("MoodyTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }
}

/// The stores that Core Data wrote, in a folder next to the package or in `CDPROF_SHARED`.
enum SharedStores {
  /// Whether the folder exists; in CI, it must.
  static var isHere: Bool {
    FileManager.default.fileExists(atPath: folder.path)
      || ProcessInfo.processInfo.environment["CI"] == "true"
  }

  static var folder: URL {
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../..").standardizedFileURL
    let shared =
      ProcessInfo.processInfo.environment["CDPROF_SHARED"].map { URL(fileURLWithPath: $0) }
      ?? package.appendingPathComponent("../shared")
    return shared.appendingPathComponent("data/moody/stores").standardizedFileURL
  }
}
