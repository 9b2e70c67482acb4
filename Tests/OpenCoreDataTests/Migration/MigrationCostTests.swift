import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("The cost of a migration")
struct MigrationCostTests {
  private typealias Sample = LightweightMigrationTests

  /// A store with a number of persons, each at home in one of a tenth as many cities.
  private func store(_ count: Int) throws -> MigratedStore {
    let store = try MigratedStore()
    let context = try store.open(Sample.model())
    try context.performAndWait {
      var home: NSManagedObject?
      for index in 0..<count {
        if index.isMultiple(of: 10) {
          home = NSEntityDescription.insertNewObject(forEntityName: "City", into: context)
          home?.setValue("City \(index)", forKey: "name")
        }
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        person.setValuesForKeys(["name": "Person \(index)", "age": index % 90])
        person.setValue(home, forKey: "home")
      }
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    return store
  }

  /// What each context of a manager counted while it migrated a store, 100 objects at a time.
  private func counts(of persons: Int) throws -> (source: Counters, destination: Counters) {
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: Sample.model(), destinationModel: Sample.model())
    let manager = NSMigrationManager(
      sourceModel: Sample.model(), destinationModel: Sample.model())
    manager.batchSize = 100
    let (source, migrated) = (try store(persons), try MigratedStore())
    try manager.migrateStore(
      from: source.url, type: .sqlite, mapping: mapping, to: migrated.url, type: .sqlite)
    return withExtendedLifetime(source) {
      (manager.sourceContext.scope.counters, manager.destinationContext.scope.counters)
    }
  }

  @Test("The cost of a manager grows with the rows, one INSERT and at most one UPDATE for each")
  func costOfAManagerIsLinear() throws {
    let runs = try [1_000, 2_000, 3_000].map(counts)
    let (source, destination) = (
      runs[1].source - runs[0].source, runs[1].destination - runs[0].destination
    )
    // 1,000 persons and 100 cities more, in batches of 100.
    #expect(destination.inserts == 1_100)
    #expect(destination.updates == 1_000)
    #expect(source.faults + destination.faults == 0)
    #expect(runs[2].source - runs[1].source == source)
    #expect(runs[2].destination - runs[1].destination == destination)
  }

  @Test("Instances that the mapping of a subentity migrates aren't kept by that of its superentity")
  func skippedInstancesAreReleased() throws {
    func version() -> NSManagedObjectModel {
      let (animal, dog, cat) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
      (animal.name, dog.name, cat.name) = ("Animal", "Dog", "Cat")
      animal.properties = [Sample.attribute("name", .stringAttributeType)]
      animal.subentities = [dog, cat]
      let model = NSManagedObjectModel()
      model.entities = [animal, dog, cat]
      return model
    }
    let (source, migrated) = (try MigratedStore(), try MigratedStore())
    let context = try source.open(version())
    try context.performAndWait {
      for _ in 0..<200 {
        _ = NSEntityDescription.insertNewObject(forEntityName: "Dog", into: context)
      }
      try context.save()
    }
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: version(), destinationModel: version())
    mapping.entityMappings.removeAll { $0.sourceEntityName == "Cat" }
    let manager = NSMigrationManager(sourceModel: version(), destinationModel: version())
    manager.batchSize = 10
    try manager.migrateStore(
      from: source.url, type: .sqlite, mapping: mapping, to: migrated.url, type: .sqlite)
    #expect(try migrated.values("SELECT count(*) FROM ZANIMAL") == [[.integer(200)]])
    #expect(manager.sourceContext.peakRegisteredCount < 100)
  }

  @Test("Lightweight migration runs the same statements for any number of rows")
  func statementsOfLightweightMigrationAreConstant() throws {
    let after = Sample.model { person, _ in person.properties.removeFirst() }
    let runs = try [10, 1_000].map { count in
      let source = try store(count)
      var ran: [(sql: String, rows: Int)] = []
      var migration = LightweightMigration(
        url: source.url, mapping: InferredMapping(from: Sample.model(), to: after),
        configuration: nil, options: nil, hub: EventHub())
      migration.completed = { statement, rows, _ in ran.append((statement.sql, rows)) }
      try migration.run()
      return withExtendedLifetime(source) { ran }
    }
    #expect(runs[0].map(\.sql) == runs[1].map(\.sql))
    // Only the persons' table is copied.
    #expect(runs.map { $0.map(\.rows).reduce(0, +) } == [10, 1_000])
  }
}
