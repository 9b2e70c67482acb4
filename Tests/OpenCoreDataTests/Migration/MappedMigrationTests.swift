import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// What the book's policy does: a country gets the continent with its code, which is created once.
final class ContinentPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    guard let code = sInstance.value(forKey: "isoContinent") as? Int, code != 0,
      let country = manager.destinationInstances(
        forEntityMappingName: mapping.name, sourceInstances: [sInstance]
      ).first
    else { return }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Continent")
    request.predicate = NSPredicate(format: "numericISO3166Code == %d", code)
    let continent: NSManagedObject
    if let known = try manager.destinationContext.fetch(request).first {
      continent = known
    } else {
      continent = NSEntityDescription.insertNewObject(
        forEntityName: "Continent", into: manager.destinationContext)
      continent.setValue(code, forKey: "numericISO3166Code")
    }
    country.setValue(continent, forKey: "continent")
  }
}

@Suite(
  "Migration of Core Data's stores with the book's mapping models",
  .enabled(if: SharedData.isHere, SharedData.absence), .serialized)
struct MappedMigrationTests {
  private static func moody(_ version: Int) throws -> NSManagedObjectModel {
    let name = version == 1 ? "Moody" : "Moody \(version)"
    return try NSManagedObjectModel.read(
      contentsOf: SharedData.url("moody/Moody.xcdatamodeld"), version: name)
  }

  private static func store(_ version: Int) throws -> MigratedStore {
    try MigratedStore(
      copying: version == 1 ? "moody/stores/Moody.moody" : "moody/stores/Moody \(version).moody")
  }

  /// Migrates a store with the mapping model between its version and the next, into a new file.
  private static func migrate(
    _ store: MigratedStore, from version: Int, batchSize: Int = 1_000
  ) throws -> MigratedStore {
    ContinentPolicy.registerClass(named: "Migrations.Country5ToCountry6Policy")
    let (source, destination) = try (moody(version), moody(version + 1))
    let mapping = try NSMappingModel.read(
      contentsOf: SharedData.url("moody/Moody \(version)-Moody \(version + 1).xcmappingmodel"),
      from: source, to: destination)
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    manager.batchSize = batchSize
    let migrated = try MigratedStore()
    try manager.migrateStore(
      from: store.url, type: .sqlite, mapping: mapping, to: migrated.url, type: .sqlite)
    #expect(manager.migrationProgress == 1)
    return migrated
  }

  @Test(
    "S14-15 Each step has the content of the store that Core Data migrated", arguments: 2...4,
    [1_000, 1])
  func stepHasCoreDatasContent(from: Int, batchSize: Int) throws {
    let before = try Self.store(from)
    let bytes = try before.contents()
    let migrated = try Self.migrate(before, from: from, batchSize: batchSize)
    #expect(try before.contents() == bytes)
    let model = try Self.moody(from + 1)
    let expected = try content(of: Self.store(from + 1).open(model, options: nil))
    #expect(try content(of: migrated.open(model, options: nil)) == expected)
    #expect(try migrated.values("PRAGMA integrity_check") == [[.text("ok")]])
    #expect(
      try migrated.values("SELECT Z_UUID FROM Z_METADATA")
        == before.values("SELECT Z_UUID FROM Z_METADATA"))
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: migrated.url)
    #expect(metadata["io.objc.Moody.CloudKitUserID"] != nil)
  }

  @Test("S14-17 A policy creates the continents that the codes name, once each")
  func policyCreatesContinents() throws {
    let migrated = try Self.migrate(Self.store(5), from: 5)
    let context = try migrated.open(Self.moody(6), options: nil)
    try context.performAndWait {
      let continents = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Continent"))
      let codes = continents.compactMap { $0.value(forKey: "numericISO3166Code") as? Int }
      #expect(codes.sorted() == [10_004, 10_005])
      let countries = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Country"))
      let pairs = countries.map { country in
        [
          country.value(forKey: "numericISO3166Code") as? Int,
          country.value(forKeyPath: "continent.numericISO3166Code") as? Int,
        ]
      }
      #expect(Set(pairs) == [[704, 10_005], [710, 10_004], [231, 10_004]])
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Mood")) == 4)
    }
    // Primary keys are assigned anew.
    #expect(
      try migrated.values("SELECT Z_PK FROM ZCOUNTRY ORDER BY 1")
        == [[.integer(1)], [.integer(2)], [.integer(3)]])
  }

  /// The folder with the versions and mapping models, as a bundle.
  private static func bundles() throws -> [Bundle] {
    [try #require(Bundle(path: SharedData.url("moody").path))]
  }

  private static func open(_ store: MigratedStore, _ version: Int) throws -> NSManagedObjectContext
  {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try moody(version))
    coordinator.migrationBundles = try bundles()
    try coordinator.addPersistentStore(
      type: .sqlite, at: store.url,
      options: [NSMigratePersistentStoresAutomaticallyOption: true])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test("S14-16 A mapping model in a bundle is used without inference, and the old file stays")
  func bundledMappingModelIsUsed() throws {
    for from in 2...4 {
      let store = try Self.store(from)
      let context = try Self.open(store, from + 1)
      let expected = try content(of: Self.store(from + 1).open(Self.moody(from + 1), options: nil))
      #expect(try content(of: context) == expected)
      let names = try FileManager.default.contentsOfDirectory(
        atPath: store.url.deletingLastPathComponent().path)
      #expect(Set(names).isSuperset(of: ["Store.sqlite", "Store~.sqlite"]))
      #expect(!names.contains { $0.contains("migrationdestination") })
      let old = try MigratedStore()
      try FileManager.default.copyItem(
        at: store.url.deletingLastPathComponent().appendingPathComponent("Store~.sqlite"),
        to: old.url)
      #expect(
        try content(of: old.open(Self.moody(from), options: nil))
          == content(of: Self.store(from).open(Self.moody(from), options: nil)))
    }
  }

  @Test("M-25 The last commit is migrated, although it's still in the WAL")
  func walIsMigrated() throws {
    let store = try Self.store(2)
    let writer = try Connection(path: store.url.path, access: .writing)
    try writer.execute("PRAGMA wal_autocheckpoint=0")
    try writer.execute(
      "UPDATE ZMOOD SET ZLATITUDE = 42.5 WHERE Z_PK = (SELECT min(Z_PK) FROM ZMOOD)")
    // The files as a process leaves them that's killed.
    let killed = try MigratedStore()
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(
        atPath: store.url.path + suffix, toPath: killed.url.path + suffix)
    }
    writer.close()
    let context = try Self.open(killed, 3)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
    request.predicate = NSPredicate(format: "latitude == 42.5")
    #expect(try context.performAndWait { try context.count(for: request) } == 1)
  }

  @Test("A store that's open elsewhere isn't migrated, and is unchanged")
  func storeInUseIsNotMigrated() throws {
    let store = try Self.store(2)
    let reader = try Connection(path: store.url.path, access: .writing)
    try reader.execute("BEGIN")
    _ = try reader.values("SELECT count(*) FROM ZMOOD")
    let error = thrownError { _ = try Self.open(store, 3) }
    #expect(error?.code == NSMigrationError)
    #expect(error?.localizedDescription.contains("open elsewhere") == true)
    try reader.execute("ROLLBACK")
    reader.close()
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: store.url)
    #expect(try Self.moody(2).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(
      try FileManager.default.contentsOfDirectory(
        atPath: store.url.deletingLastPathComponent().path) == ["Store.sqlite"])
    _ = try Self.open(store, 3)
  }
}
