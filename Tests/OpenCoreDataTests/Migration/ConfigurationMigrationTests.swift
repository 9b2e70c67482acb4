import CoreDataCosts
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Migration of stores of a configuration along versions")
struct ConfigurationMigrationTests {
  /// A version whose countries, in another configuration, can't be migrated by inference.
  ///
  /// - Parameters:
  ///   - number: The number of the version, from 1; each adds an attribute to cities.
  ///   - configurations: The configurations with the cities.
  private static func version(
    _ number: Int, _ configurations: [String] = ["Local"], isChanged: Bool = true
  ) -> NSManagedObjectModel {
    let (city, country) = (NSEntityDescription(), NSEntityDescription())
    (city.name, country.name) = ("City", "Country")
    city.properties = [TestModels.attribute("name", .stringAttributeType)]
    if isChanged {
      city.properties += (1..<number).map {
        TestModels.attribute("number\($0)", .integer64AttributeType)
      }
    }
    let types: [NSAttributeType] = [
      .stringAttributeType, .integer64AttributeType, .dateAttributeType,
    ]
    country.properties = [TestModels.attribute("code", types[number - 1])]
    let model = NSManagedObjectModel()
    model.entities = [city, country]
    for name in configurations { model.setEntities([city], forConfigurationName: name) }
    return model
  }

  /// Creates a store of `Local` of the first version with two cities, and writes the versions
  /// `City 1`, `City 2`, and so on next to it.
  private static func store(
    _ versions: [NSManagedObjectModel]
  ) throws -> (store: MigratedStore, versions: URL) {
    let store = try MigratedStore()
    let folder = store.url.deletingLastPathComponent().appendingPathComponent("City.xcdatamodeld")
    for (index, model) in versions.enumerated() {
      let version = folder.appendingPathComponent("City \(index + 1).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      try Data(ModelDocument.text(of: model).text.utf8).write(
        to: version.appendingPathComponent("contents"))
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version(1))
    let added = try coordinator.addPersistentStore(
      type: .sqlite, configuration: "Local", at: store.url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for name in ["Berlin", "Kyiv"] {
        NSEntityDescription.insertNewObject(forEntityName: "City", into: context)
          .setValue(name, forKey: "name")
      }
      try context.save()
    }
    try coordinator.remove(added)
    return (store, folder)
  }

  /// The names of the cities of a migrated store.
  private static func names(
    _ store: MigratedStore, _ model: NSManagedObjectModel, _ configuration: String
  ) throws -> [String] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      type: .sqlite, configuration: configuration, at: store.url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "City"))
        .compactMap { $0.value(forKey: "name") as? String }.sorted()
    }
  }

  @Test(
    "Only the configuration is migrated, under its name or those of others with the same entities",
    arguments: ["Local", "Offline"], [["Local", "Offline"], ["Device"]])
  func configurationIsMigrated(last: String, onTheWay: [String]) throws {
    let (store, versions) = try Self.store([
      Self.version(1), Self.version(2, onTheWay), Self.version(3, [last]),
    ])
    let migration = try ProgressiveMigration(
      storeURL: store.url, versionsURL: versions, to: "City 3")
    #expect(
      migration.steps.map(\.description) == [
        "City 1 to City 2, inferred", "City 2 to City 3, inferred",
      ])
    try migration.run()
    #expect(try Self.names(store, Self.version(3, [last]), last) == ["Berlin", "Kyiv"])
    #expect(
      try store.values("SELECT name FROM sqlite_master WHERE name IN ('ZCITY', 'ZCOUNTRY')")
        == [[.text("ZCITY")]])
    let again = try ProgressiveMigration(
      storeURL: store.url, versionsURL: versions, to: "City 3")
    #expect(again.steps.isEmpty)
  }

  @Test(
    "A check migrates only the configuration, whose version it recognizes",
    arguments: [MigrationMethod.automatic, .stepByStep])
  func configurationIsChecked(method: MigrationMethod) throws {
    let last = Self.version(3)
    let (store, versions) = try Self.store([Self.version(1), Self.version(2), last])
    let fixture = try MigrationFixture(
      contentsOf: store.url, model: Self.version(1), configuration: "Local",
      keys: ["City": ["name"]])
    #expect(fixture.objects == ["City": [["name": "Berlin"], ["name": "Kyiv"]]])
    let report = try checkMigrations(
      ofStoresIn: store.url.deletingLastPathComponent(), to: last, configuration: "Local",
      versions: versions, by: method, matching: fixture)
    #expect(report.passes, "\(report)")
    #expect(report.stores.map(\.version) == ["City 1"])
    #expect(report.stores.map(\.lost) == [[]])
  }

  @Test("A store has each version with the same entities in its configuration")
  func versionWithTheSameEntitiesIsPresent() throws {
    let (store, versions) = try Self.store([
      Self.version(1), Self.version(2, isChanged: false), Self.version(3),
    ])
    for name in ["City 1", "City 2"] {
      let plan = try ProgressiveMigration(storeURL: store.url, versionsURL: versions, to: name)
      #expect(plan.steps.isEmpty)
    }
    let plan = try ProgressiveMigration(storeURL: store.url, versionsURL: versions, to: "City 3")
    #expect(plan.steps.map(\.description) == ["City 2 to City 3, inferred"])
  }

  @Test("A version without the configuration is an error, also one on the way")
  func missingConfigurationIsAnError() throws {
    let (store, versions) = try Self.store([
      Self.version(1), Self.version(2, []), Self.version(3),
    ])
    let bytes = try Data(contentsOf: store.url)
    for target in ["City 2", "City 3"] {
      let error = thrownError {
        _ = try ProgressiveMigration(storeURL: store.url, versionsURL: versions, to: target)
      }
      #expect(error?.code == NSPersistentStoreOperationError)
      #expect(
        error?.localizedDescription.hasSuffix(
          "(City), and City 2 has no configuration Local. Add the configuration to City 2.")
          == true)
    }
    #expect(try Data(contentsOf: store.url) == bytes)
  }

  @Test("Configurations with the store's entities that differ in the last version are an error")
  func ambiguousConfigurationIsAnError() throws {
    let both = Self.version(2, ["Local", "Offline"])
    both.setEntities(both.entities, forConfigurationName: "Offline")
    let (store, versions) = try Self.store([Self.version(1, ["Local", "Offline"]), both])
    let error = thrownError {
      _ = try ProgressiveMigration(storeURL: store.url, versionsURL: versions, to: "City 2")
    }
    #expect(error?.code == NSPersistentStoreOperationError)
    #expect(
      error?.localizedDescription.contains("configurations Local and Offline, which") == true)
  }
}
