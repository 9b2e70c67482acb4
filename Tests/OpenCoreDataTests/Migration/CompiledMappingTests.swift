import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// Makes one maker of the cars with the same maker's name, as the mapping model requires.
final class MakerPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    guard let name = sInstance.value(forKey: "maker") as? String else { return }
    var makers = manager.userInfo?["makers"] as? [String: NSManagedObject] ?? [:]
    if makers[name] == nil {
      let maker = NSEntityDescription.insertNewObject(
        forEntityName: "Maker", into: manager.destinationContext)
      maker.setValue(name, forKey: "name")
      makers[name] = maker
      manager.userInfo = ["makers": makers]
    }
    let car = manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: [sInstance])
    car.first?.setValue(makers[name], forKey: "createdBy")
  }
}

@Suite(
  "Migration with a mapping model that Xcode compiled",
  .enabled(if: SharedData.isHere, SharedData.absence))
struct CompiledMappingTests {
  private static let makers = [
    "Alfa Romeo": 3, "BMW": 2, "FIAT": 103, "Kia": 4, "Lamborghini": 2, "Maserati": 2,
    "McLaren": 2, "Mercedes-Benz": 2, "Renault": 3, "Volkswagen": 2,
  ]

  private static func model(_ version: Int) throws -> NSManagedObjectModel {
    try NSManagedObjectModel.read(
      contentsOf: SharedData.url("coredataplus/SampleModel.momd"), version: "SampleModel\(version)")
  }

  private static func counts(_ context: NSManagedObjectContext) throws -> [String: Int] {
    let makers = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Maker"))
    return Dictionary(
      uniqueKeysWithValues: makers.map { maker in
        (
          maker.value(forKey: "name") as? String ?? "",
          (maker.value(forKey: "cars") as? Set<NSManagedObject>)?.count ?? 0
        )
      })
  }

  /// The makers that the store has as an attribute, each with the number of its cars.
  private static func namedMakers(_ store: MigratedStore) throws -> [String: Int] {
    try store.values("SELECT ZMAKER, count(*) FROM ZCAR GROUP BY 1").reduce(into: [:]) {
      if case .text(let name) = $1[0], case .integer(let count) = $1[1] { $0[name] = Int(count) }
    }
  }

  @Test(
    "S14-18 The makers of all cars become objects, with instances that the policy keeps across batches",
    arguments: [1_000, 7])
  func makersBecomeObjects(batchSize: Int) throws {
    MakerPolicy.registerClass(named: "REPLACE_AT_RUNTIME.V2to3MakerPolicy")
    let source = try MigratedStore(copying: "stores/SampleModel_V2.sqlite")
    #expect(try Self.namedMakers(source) == Self.makers)
    let mapping = try #require(
      NSMappingModel(contentsOf: SharedData.url("coredataplus/V2toV3.cdm")))
    let manager = try NSMigrationManager(
      sourceModel: Self.model(2), destinationModel: Self.model(3))
    manager.batchSize = batchSize
    let migrated = try MigratedStore()
    try manager.migrateStore(
      from: source.url, type: .sqlite, mapping: mapping, to: migrated.url, type: .sqlite)
    let context = try migrated.open(Self.model(3), options: nil)
    try context.performAndWait {
      #expect(try Self.counts(context) == Self.makers)
      let cars = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Car"))
      #expect(cars.count == 125)
      for car in cars {
        #expect(car.value(forKey: "createdBy") != nil)
        let owner = car.value(forKey: "owner") as? NSManagedObject
        let previous = car.value(forKey: "previousOwners") as? Set<NSManagedObject>
        #expect(previous == Set([owner].compactMap { $0 }))
      }
      let persons = NSFetchRequest<NSManagedObject>(entityName: "Person")
      #expect(try context.count(for: persons) == 20)
    }
    // An entity's instances keep their class.
    for entity in ["Car", "SportCar", "LuxuryCar"] {
      #expect(
        try Self.count(entity, in: migrated, Self.model(3))
          == Self.count(entity, in: source, Self.model(2)))
    }
  }

  @Test("A compiled mapping model is found by the version hashes of the store and the model")
  func compiledMappingModelIsFound() throws {
    MakerPolicy.registerClass(named: "REPLACE_AT_RUNTIME.V2to3MakerPolicy")
    let store = try MigratedStore(copying: "stores/SampleModel_V2.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try Self.model(3))
    coordinator.migrationBundles = [
      try #require(Bundle(path: SharedData.url("coredataplus").path))
    ]
    try coordinator.addPersistentStore(
      type: .sqlite, at: store.url, options: [NSMigratePersistentStoresAutomaticallyOption: true])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    #expect(try context.performAndWait { try Self.counts(context) } == Self.makers)
  }

  private static func count(
    _ entity: String, in store: MigratedStore, _ model: NSManagedObjectModel
  ) throws -> Int {
    let context = try store.open(model, options: nil)
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.includesSubentities = false
    return try context.performAndWait { try context.count(for: request) }
  }
}
