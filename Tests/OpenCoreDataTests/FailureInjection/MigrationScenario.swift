import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// A migration that can fail or be killed at any point.
struct MigrationScenario: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The store's version, those that the migration goes through, and the last one.
  let versions: @Sendable () throws -> [NSManagedObjectModel]
  /// Creates the store, with a number of persons.
  let create: @Sendable (URL, Int) throws -> Void
  /// Migrates the store, from any of the versions.
  let migrate: @Sendable (URL) throws -> Void

  /// Where the store is in its folder.
  static func store(in folder: URL) -> URL { folder.appendingPathComponent("Store.sqlite") }

  static let all = [inPlace, mapped, mappedInBundle, progressive, staged]

  // MARK: Versions

  private typealias Sample = LightweightMigrationTests

  /// Three versions of persons and cities.
  ///
  /// The second has a table without a removed column, a wider type, renamed entities, a filled
  /// required value, another index and R-tree, and no external data of one attribute; the third has
  /// only more properties.
  static func version(_ number: Int) -> NSManagedObjectModel {
    let model = Sample.model { person, city in
      let age = Sample.attribute(
        "age", number == 1 ? .integer16AttributeType : .integer32AttributeType,
        default: number == 1 ? nil : 18, isOptional: number == 1)
      Sample.replace("age", of: person, by: age)
      person.attributesByName["name"]?.preservesValueInHistoryOnDeletion = true
      let photo = Sample.attribute("photo", .binaryDataAttributeType)
      photo.allowsExternalBinaryDataStorage = true
      person.properties.append(photo)
      relate(person, city)
      let count = NSDerivedAttributeDescription()
      (count.name, count.attributeType) = ("residentCount", .integer64AttributeType)
      count.derivationExpression = NSExpression(format: "residents.@count")
      city.properties.append(count)
      person.indexes = [
        NSFetchIndexDescription(
          name: "byAge",
          elements: [NSFetchIndexElementDescription(property: age, collationType: .rTree)])
      ]
      if number == 1 {
        let scan = Sample.attribute("scan", .binaryDataAttributeType)
        scan.allowsExternalBinaryDataStorage = true
        person.properties += [scan, Sample.attribute("note", .stringAttributeType)]
        return
      }
      (person.name, person.renamingIdentifier) = ("Human", "Person")
      (city.name, city.renamingIdentifier) = ("Town", "City")
      let nickname = Sample.attribute("nickname", .stringAttributeType)
      person.properties.append(nickname)
      person.indexes.append(
        NSFetchIndexDescription(
          name: "byNickname",
          elements: [NSFetchIndexElementDescription(property: nickname, collationType: .binary)]))
      city.properties.append(Sample.attribute("area", .doubleAttributeType, default: 1.5))
      guard number > 2 else { return }
      person.properties.append(Sample.attribute("title", .stringAttributeType, default: "Dr."))
    }
    return model
  }

  /// Adds an ordered many-to-many relationship.
  private static func relate(_ person: NSEntityDescription, _ city: NSEntityDescription) {
    let (visited, visitors) = (NSRelationshipDescription(), NSRelationshipDescription())
    (visited.name, visited.destinationEntity, visited.isOrdered) = ("visited", city, true)
    (visitors.name, visitors.destinationEntity) = ("visitors", person)
    (visited.inverseRelationship, visitors.inverseRelationship) = (visitors, visited)
    person.properties.append(visited)
    city.properties.append(visitors)
  }

  /// Creates a store of the first version with history; a tenth of the persons have external data.
  static func create(_ url: URL, persons count: Int) throws {
    try withContext(version(1), url, [NSPersistentHistoryTrackingKey: true]) { context in
      let cities = ["London", "Paris"].map { name in
        context.make("City", ["name": name])
      }
      for index in 0..<count {
        let person = context.make("Person", ["name": "person \(index)"])
        if index % 3 > 0 { person.setValue(index % 1_000, forKey: "age") }
        if index % 2 == 0 { person.setValue(cities[0], forKey: "home") }
        person.setValue("note \(index)", forKey: "note")
        person.setValue(NSOrderedSet(array: Array(cities.prefix(index % 3))), forKey: "visited")
        guard index % max(count / 3, 1) == 0 else { continue }
        for name in ["photo", "scan"] {
          person.setValue(Data(repeating: UInt8(index % 256), count: 120_000), forKey: name)
        }
      }
      try context.save()
      let deleted = context.make("Person", ["name": "deleted"])
      try context.save()
      context.delete(deleted)
      try context.save()
    }
  }

  /// Opens a store, and closes it afterward.
  static func withContext<Value>(
    _ model: NSManagedObjectModel, _ url: URL, _ options: [AnyHashable: Any]? = nil,
    _ body: (NSManagedObjectContext) throws -> Value
  ) throws -> Value {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
    defer { try? coordinator.remove(store) }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    defer { context.performAndWait { context.reset() } }
    return try context.performAndWait { try body(context) }
  }

  // MARK: Migrations

  /// Locks that can't be had are reported soon.
  private static var impatient: [AnyHashable: Any] { [NSPersistentStoreTimeoutOption: 0.1] }

  private static var automatic: [AnyHashable: Any] {
    MigratedStore.automatic.merging(impatient) { $1 }
  }

  /// A lightweight migration through a coordinator.
  static let inPlace = MigrationScenario(
    testDescription: "in place", versions: { [version(1), version(2)] },
    create: { try create($0, persons: $1) },
    migrate: { url in
      try withContext(version(2), url, automatic) { _ in }
    })

  /// A migration into a new file, with mapping models, of which the coordinator throws the errors.
  static let mapped = MigrationScenario(
    testDescription: "mapped", versions: { [version(1), version(2)] },
    create: { try create($0, persons: $1) },
    migrate: { url in
      let (before, after) = (version(1), version(2))
      if try isVersion(after, url) { return try withContext(after, url, impatient) { _ in } }
      do {
        try MappedMigration(
          url: url, source: before, destination: after,
          mappings: [
            try NSMappingModel.inferredMappingModel(forSourceModel: before, destinationModel: after)
          ], configuration: nil, options: impatient
        ).run()
      } catch {
        throw NSError.migrating(error, url)
      }
      try withContext(after, url, impatient) { _ in }
    })

  /// A migration through a coordinator that finds a mapping model in a bundle, from Core Data's
  /// store of the book's sample.
  static let mappedInBundle = MigrationScenario(
    testDescription: "mapped in a bundle",
    versions: { try ["Moody 2", "Moody 3"].map(moody) },
    create: { url, count in
      try Data(contentsOf: SharedData.url("moody/stores/Moody 2.moody")).write(to: url)
      try multiplyMoods(url, to: count)
    },
    migrate: { url in
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try moody("Moody 3"))
      let bundle = try #require(Bundle(path: MoodyFolder.url.path))
      coordinator.migrationBundles = [bundle]
      let store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: automatic)
      try coordinator.remove(store)
    })

  /// A migration along versions on disk, from Core Data's store of the book's sample.
  static let progressive = MigrationScenario(
    testDescription: "progressive",
    versions: { try ["Moody", "Moody 2", "Moody 3"].map(moody) },
    create: { url, count in
      try Data(contentsOf: SharedData.url("moody/stores/Moody.moody")).write(to: url)
      try multiplyMoods(url, to: count)
    },
    migrate: { url in
      try ProgressiveMigration(
        storeURL: url, versionsURL: MoodyFolder.url.appendingPathComponent("Moody.xcdatamodeld"),
        to: "Moody 3"
      ).run(options: impatient)
      try withContext(moody("Moody 3"), url, impatient) { _ in }
    })

  /// Copies the first mood until there are as many.
  private static func multiplyMoods(_ url: URL, to count: Int) throws {
    let connection = try Connection(
      path: url.path, access: .writing, options: .init(pragmas: [("journal_mode", "DELETE")]))
    defer { connection.close() }
    let columns = try connection.values(
      "SELECT group_concat(name) FROM pragma_table_info('ZMOOD') WHERE name != 'Z_PK'")
    guard case .text(let names)? = columns.first?.first else { return }
    try connection.execute(
      "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < \(99 + count)) "
        + "INSERT INTO ZMOOD(Z_PK, \(names)) SELECT i, \(names) FROM n, ZMOOD WHERE Z_PK = 1")
    try connection.execute(
      "UPDATE Z_PRIMARYKEY SET Z_MAX = \(99 + count) WHERE Z_NAME = 'Mood'")
  }

  private static func moody(_ version: String) throws -> NSManagedObjectModel {
    try NSManagedObjectModel.read(
      contentsOf: SharedData.url("moody/Moody.xcdatamodeld"), version: version)
  }

  /// A migration through two custom stages, whose handlers save.
  static let staged = MigrationScenario(
    testDescription: "staged", versions: { (1...3).map(version) },
    create: { try create($0, persons: $1) },
    migrate: { url in
      let stages = (1...2).map { number in
        let models = [version(number), version(number + 1)].map {
          NSManagedObjectModelReference(model: $0, versionChecksum: $0.versionChecksum)
        }
        let stage = NSCustomMigrationStage(migratingFrom: models[0], to: models[1])
        stage.didMigrateHandler = { manager, _ in try setNicknames(manager) }
        return stage
      }
      var options = automatic
      options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager(stages)
      try withContext(version(3), url, options) { _ in }
    })

  private static func setNicknames(_ manager: NSStagedMigrationManager) throws {
    guard let context = manager.container?.newBackgroundContext() else { return }
    try context.performAndWait {
      for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Human")) {
        person.setValue("nickname", forKey: "nickname")
      }
      try context.save()
    }
  }

  private static func isVersion(_ model: NSManagedObjectModel, _ url: URL) throws -> Bool {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: url)
    return model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
  }
}
