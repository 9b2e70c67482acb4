import Dispatch
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite(
  "Routes through the versions of public models",
  .enabled(if: SharedData.isHere, SharedData.absence), .serialized)
struct MigrationRouteTests {
  private static let versions = SharedData.url("moody/Moody.xcdatamodeld")
  private static let samples = SharedData.url("coredataplus/SampleModel.momd")

  private static func moody(_ version: Int) throws -> NSManagedObjectModel {
    try NSManagedObjectModel.read(
      contentsOf: versions, version: version == 1 ? "Moody" : "Moody \(version)")
  }

  private static func moodyStore(_ version: Int) throws -> MigratedStore {
    try MigratedStore(
      copying: version == 1 ? "moody/stores/Moody.moody" : "moody/stores/Moody \(version).moody")
  }

  private static func sample(_ version: Int) throws -> NSManagedObjectModel {
    try NSManagedObjectModel.read(
      contentsOf: samples, version: version == 1 ? "SampleModel" : "SampleModel\(version)")
  }

  /// Opens a store with mapping models from the folder of a chain.
  private static func open(
    _ store: MigratedStore, _ model: NSManagedObjectModel, _ folder: String,
    options: [AnyHashable: Any] = MigratedStore.automatic
  ) throws -> NSManagedObjectContext {
    ContinentPolicy.registerClass(named: "Migrations.Country5ToCountry6Policy")
    MakerPolicy.registerClass(named: "REPLACE_AT_RUNTIME.V2to3MakerPolicy")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    coordinator.migrationBundles = [try #require(Bundle(path: SharedData.url(folder).path))]
    try coordinator.addPersistentStore(type: .sqlite, at: store.url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func count(_ entity: String, _ context: NSManagedObjectContext) throws -> Int {
    try context.performAndWait {
      try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
    }
  }

  @Test("S14-4 A mapping model in a bundle is used although one could be inferred")
  func mappingModelPrecedesInference() throws {
    func continents(_ context: NSManagedObjectContext) throws -> Int {
      try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
        request.predicate = NSPredicate(format: "continent != nil")
        return try context.count(for: request)
      }
    }
    #expect(try continents(Self.moodyStore(2).open(Self.moody(3))) == 0)
    #expect(try continents(Self.open(Self.moodyStore(2), Self.moody(3), "moody")) == 4)
  }

  @Test("S14-23 Automatic migration makes one step, for which there must be a mapping model")
  func automaticMigrationMakesOneStep() throws {
    let options: [AnyHashable: Any] = [NSMigratePersistentStoresAutomaticallyOption: true]
    // The folder has mapping models from each version to the next only.
    for from in 2...4 {
      for target in from + 1...5 {
        let store = try Self.moodyStore(from)
        let files = try store.contents()
        let error = thrownError {
          _ = try Self.open(store, Self.moody(target), "moody", options: options)
        }
        #expect(error?.code == (target == from + 1 ? nil : NSMigrationMissingMappingModelError))
        if error != nil { #expect(try store.contents() == files) }
      }
    }
  }

  @Test("S14-24 The progress of five steps counts up, and completes that of the task")
  func progressCountsSteps() throws {
    ContinentPolicy.registerClass(named: "Migrations.Country5ToCountry6Policy")
    let task = Progress(totalUnitCount: 1)
    let store = try Self.moodyStore(1)
    nonisolated(unsafe) let migration = try ProgressiveMigration(
      storeURL: store.url, versionsURL: Self.versions, to: "Moody 6")
    #expect(migration.steps.count == 5)
    #expect(migration.progress.totalUnitCount.isMultiple(of: 5))
    task.addChild(migration.progress, withPendingUnitCount: 1)
    #expect(task.fractionCompleted == 0)
    let end = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      try? migration.run()
      end.signal()
    }
    var fractions = [0.0]
    while end.wait(timeout: .now() + .milliseconds(1)) == .timedOut {
      fractions.append(task.fractionCompleted)
    }
    #expect(fractions == fractions.sorted())
    #expect(migration.progress.completedUnitCount == migration.progress.totalUnitCount)
    #expect(task.fractionCompleted == 1)
    #expect(task.isFinished)
  }

  @Test("The store of the first version loses its continents on the direct way to the fifth")
  func directWayLosesContinents() throws {
    let store = try Self.moodyStore(1)
    let context = try store.open(Self.moody(5))
    try context.performAndWait {
      let countries = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Country"))
      #expect(countries.map { $0.value(forKey: "isoContinent") as? Int } == [0, 0, 0])
    }
    #expect(try Self.count("Mood", context) == 4)
  }

  @Test("The fifth version of a store becomes the fourth by inference, without continents")
  func laterVersionBecomesEarlier() throws {
    let store = try Self.moodyStore(5)
    let context = try store.open(Self.moody(4))
    #expect(try Self.count("Country", context) == 3)
    #expect(try Self.count("Mood", context) == 4)
    #expect(try Self.count("Continent", context) == 0)
    func reference(_ version: Int) throws -> NSManagedObjectModelReference {
      let model = try Self.moody(version)
      return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }
    var options = MigratedStore.automatic
    options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([
      NSCustomMigrationStage(migratingFrom: try reference(4), to: try reference(5))
    ])
    let later = try Self.moodyStore(5)
    let error = thrownError { _ = try later.open(Self.moody(4), options: options) }
    #expect(error?.code == NSStagedMigrationBackwardMigrationError)
  }

  @Test("A copy of the first version by a manager has the content of Core Data's second")
  func copyHasTheContentOfTheNextVersion() throws {
    let (old, new) = (try Self.sample(1), try Self.sample(2))
    let source = try MigratedStore(copying: "stores/SampleModel_V1.sqlite")
    let copy = try MigratedStore()
    try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
      from: source.url, type: .sqlite,
      mapping: .inferredMappingModel(forSourceModel: old, destinationModel: new), to: copy.url,
      type: .sqlite)
    let fixture = try MigratedStore(copying: "stores/SampleModel_V2.sqlite")
    #expect(
      try content(of: copy.open(new, options: nil)) == content(of: fixture.open(new, options: nil)))
    #expect(try Self.identifier(copy) == "753753D3-A961-4901-AB05-8CC48B1D3853")
  }

  private static func identifier(_ store: MigratedStore) throws -> String? {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store.url)[
      NSStoreUUIDKey] as? String
  }

  @Test("The makers of cars are lost on direct ways to the third version, and kept in two steps")
  func waysToTheThirdVersion() throws {
    let model = try Self.sample(3)
    for path in ["stores/SampleModel_V1.sqlite", "stores/SampleModel_V2.sqlite"] {
      let direct = try MigratedStore(copying: path).open(model)
      #expect(try Self.count("Maker", direct) == 0)
      #expect(try Self.count("Car", direct) == 125)
      #expect(try Self.count("LuxuryCar", direct) == 5)
    }
    // By versions: the folder has a mapping model for the second step.
    MakerPolicy.registerClass(named: "REPLACE_AT_RUNTIME.V2to3MakerPolicy")
    let stepwise = try MigratedStore(copying: "stores/SampleModel_V1.sqlite")
    let migration = try ProgressiveMigration(
      storeURL: stepwise.url, versionsURL: Self.samples, to: "SampleModel3")
    #expect(migration.steps.map { $0.mappingModels.count } == [0, 1])
    try migration.run()
    // By stages: the makers are saved before the stage that removes them, and made again after it.
    var options = MigratedStore.automatic
    options[NSPersistentStoreStagedMigrationManagerOptionKey] = try Self.stages()
    let staged = try MigratedStore(copying: "stores/SampleModel_V1.sqlite")
    let context = try staged.open(model, options: options)
    #expect(try Self.count("Maker", context) == 10)
    #expect(
      try content(of: context) == content(of: stepwise.open(model, options: nil)))
    #expect(try Self.identifier(stepwise) == Self.identifier(staged))
  }

  private static func stages() throws -> NSStagedMigrationManager {
    func reference(_ version: Int) throws -> NSManagedObjectModelReference {
      let model = try sample(version)
      return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }
    var makers: [String: String] = [:]
    let last = NSCustomMigrationStage(migratingFrom: try reference(2), to: try reference(3))
    last.willMigrateHandler = { manager, _ in
      let context = try #require(manager.container).newBackgroundContext()
      try context.performAndWait {
        for car in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Car")) {
          makers[car.objectID.uriRepresentation().lastPathComponent] =
            car.value(forKey: "maker") as? String
        }
      }
    }
    last.didMigrateHandler = { manager, _ in
      let context = try #require(manager.container).newBackgroundContext()
      try context.performAndWait {
        var made: [String: NSManagedObject] = [:]
        for car in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Car")) {
          guard let name = makers[car.objectID.uriRepresentation().lastPathComponent] else {
            continue
          }
          let maker =
            made[name] ?? NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context)
          maker.setValue(name, forKey: "name")
          made[name] = maker
          car.setValue(maker, forKey: "createdBy")
          if let owner = car.value(forKey: "owner") as? NSManagedObject {
            car.mutableSetValue(forKey: "previousOwners").add(owner)
          }
        }
        try context.save()
      }
    }
    return NSStagedMigrationManager([
      NSCustomMigrationStage(migratingFrom: try reference(1), to: try reference(2)), last,
    ])
  }

  @Test("Light stages alone lose the names of pets, without an error")
  func lightweightStagesLoseNames() throws {
    let folder = SharedData.url("coredataplus/SampleModel3.momd")
    let names = ["SampleModel3", "SampleModel3_v2", "SampleModel3_v3"]
    let models = try names.map { try NSManagedObjectModel.read(contentsOf: folder, version: $0) }
    let checksums = try NSManagedObjectModel.checksumsForVersionedModel(at: folder)
    #expect(names.map { checksums[$0] } == models.map(\.versionChecksum))
    let store = try MigratedStore(copying: "coredataplus/SampleModel3_V1.sqlite")
    var options = MigratedStore.automatic
    options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([
      NSLightweightMigrationStage(names.compactMap { checksums[$0] })
    ])
    let context = try store.open(models[2], options: options)
    #expect(try Self.count("User", context) == 12)
    #expect(try Self.count("Pet", context) == 0)
  }

  @Test("A date that's added is empty in all rows, which keep their keys")
  func addedDateIsEmpty() throws {
    let folder = SharedData.url("models/Sync/Tests/DataStack")
    let models = try ["SimpleModel", "LightweightMigrationModel"].map {
      try NSManagedObjectModel.read(
        contentsOf: folder.appendingPathComponent("\($0).xcdatamodel"))
    }
    let store = try MigratedStore()
    let entity = try #require(models[0].entities.first?.name)
    let context = try store.open(models[0])
    try context.performAndWait {
      for _ in 0..<3 {
        _ = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      }
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    let table = "Z\(entity.uppercased())"
    let before = try store.rows(of: table)
    try store.migrate(to: models[1])
    let after = try store.rows(of: table)
    let added = Set(after[0].keys).subtracting(before[0].keys)
    #expect(added.count == 1)
    #expect(after.count == 3)
    #expect(after == before.map { $0.merging(added.map { ($0, .null) }) { $1 } })
  }

  @Test("A store of 2008 without a model isn't migrated without its version")
  func storeWithoutItsModel() throws {
    let store = try MigratedStore(copying: "stores/Recipes.sqlite")
    let error = thrownError { _ = try store.open(Self.moody(1)) }
    #expect(
      [NSMigrationMissingSourceModelError, NSPersistentStoreIncompatibleSchemaError].contains(
        error?.code))
    #expect(try store.values("SELECT count(*) FROM ZRECIPE") == [[.integer(7)]])
    #expect(
      thrownError {
        _ = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: store.url)
      }?
      .code == NSPersistentStoreOpenError)
    let cached = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(
      at: SharedData.url("stores/SampleModel_V1.sqlite"))
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: SharedData.url("stores/SampleModel_V1.sqlite"))
    #expect(cached.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(
      cached.entityVersionHashesByName == metadata[NSStoreModelVersionHashesKey] as? [String: Data])
  }
}
