import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// Records each step, with the instances that exist when it's called.
private final class TracingPolicy: NSEntityMigrationPolicy {
  private func note(_ step: String, _ mapping: NSEntityMapping, _ manager: NSMigrationManager) {
    var steps = manager.userInfo?["steps"] as? [String] ?? []
    steps.append("\(step) \(mapping.destinationEntityName ?? "")")
    manager.userInfo = ["steps": steps]
    #expect(manager.currentEntityMapping === mapping)
  }

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    note("begin", mapping, manager)
  }
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    note("create", mapping, manager)
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
  }
  override func endInstanceCreation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    note("created", mapping, manager)
  }
  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
    manager: NSMigrationManager
  ) throws {
    note("relate", mapping, manager)
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
  }
  override func endRelationshipCreation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    note("related", mapping, manager)
  }
  override func performCustomValidation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    note("validate", mapping, manager)
  }
  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    let steps =
      (manager.userInfo?["steps"] as? [String] ?? []) + [
        "end \(mapping.destinationEntityName ?? "")"
      ]
    manager.userInfo = ["steps": steps]
  }
}

/// Creates instances without associating them.
private final class LoosePolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let copy = NSEntityDescription.insertNewObject(
      forEntityName: mapping.destinationEntityName ?? "", into: manager.destinationContext)
    copy.setValue(sInstance.value(forKey: "name"), forKey: "name")
  }
  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
    manager: NSMigrationManager
  ) throws {
    Issue.record("An instance that isn't associated gets no relationships.")
  }
}

/// Makes one instance of all source instances, and counts for each mapping how often it's related.
private final class JoiningPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let known = manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: nil)
    guard let first = known.first else {
      try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
      return
    }
    manager.associate(sourceInstance: sInstance, withDestinationInstance: first, for: mapping)
  }
  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
    manager: NSMigrationManager
  ) throws {
    var counts = manager.userInfo?["counts"] as? [String: Int] ?? [:]
    counts[mapping.name ?? "", default: 0] += 1
    manager.userInfo = ["counts": counts]
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
  }
}

/// Copies the files of the destination as a process leaves them that's killed.
private final class CopyingPolicy: NSEntityMigrationPolicy {
  override func endInstanceCreation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let urls = manager.userInfo?["urls"] as? [URL] ?? []
    for suffix in ["", "-wal"] {
      let paths = urls.map { $0.path + suffix }
      try? FileManager.default.removeItem(atPath: paths[1])
      try FileManager.default.copyItem(atPath: paths[0], toPath: paths[1])
    }
  }
}

/// Deletes the instances that it has created.
private final class DeletingPolicy: NSEntityMigrationPolicy {
  override func endInstanceCreation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let context = manager.destinationContext
    manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
      .forEach(context.delete)
    context.processPendingChanges()
    #expect(
      manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
        .isEmpty)
  }
  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
    manager: NSMigrationManager
  ) throws {
    Issue.record("An instance that was deleted gets no relationships.")
  }
}

/// Cancels the migration at the second instance, from another thread.
private final class CancellingPolicy: NSEntityMigrationPolicy {
  override func endInstanceCreation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let thread = Thread {
      manager.cancelMigrationWithError(NSError(domain: "Test", code: 42))
    }
    thread.start()
    while !thread.isFinished { usleep(1_000) }
  }
}

/// Greets, for an expression that calls a method.
private final class GreetingPolicy: NSEntityMigrationPolicy {
  override func perform(_ selector: String, with arguments: [Any?]) throws -> Any? {
    guard selector == "greetingFor:" else {
      return try super.perform(selector, with: arguments)
    }
    return "Hello \(arguments.first.flatMap { $0 as? String } ?? "")"
  }
}

@Suite("NSMigrationManager")
struct MigrationManagerTests {
  private typealias Sample = LightweightMigrationTests

  /// Migrates Ada of London, Bo, and Cy to a version of their model.
  private func migrate(
    to model: NSManagedObjectModel = Sample.model(),
    with manager: NSMigrationManager? = nil,
    into destination: MigratedStore? = nil,
    _ edit: (NSMappingModel) -> Void = { _ in }
  ) throws -> (store: MigratedStore, manager: NSMigrationManager) {
    let source = try Sample.store()
    let before = Sample.model()
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: before, destinationModel: model)
    edit(mapping)
    let manager = manager ?? NSMigrationManager(sourceModel: before, destinationModel: model)
    let migrated = try destination ?? MigratedStore()
    let bytes = try source.contents()
    defer { #expect((try? source.contents()) == bytes) }
    try manager.migrateStore(
      from: source.url, type: .sqlite, mapping: mapping, to: migrated.url, type: .sqlite)
    return (migrated, manager)
  }

  private func use(_ type: NSEntityMigrationPolicy.Type, in mapping: NSMappingModel) {
    let name = "Tests.\(type)"
    type.registerClass(named: name)
    for mapping in mapping.entityMappings { mapping.entityMigrationPolicyClassName = name }
  }

  @Test("M-15 The passes follow each other, and each calls the steps of every mapping in order")
  func stepsAreInOrder() throws {
    let (store, manager) = try migrate { use(TracingPolicy.self, in: $0) }
    #expect(
      manager.userInfo?["steps"] as? [String] == [
        "begin City", "create City", "created City", "begin Person", "create Person",
        "create Person", "create Person", "created Person", "relate City", "related City",
        "relate Person", "relate Person", "relate Person", "related Person", "validate City",
        "validate Person", "end City", "end Person",
      ])
    let model = Sample.model()
    #expect(
      try content(of: store.open(model, options: nil))
        == content(of: Sample.store(model).open(model, options: nil)))
  }

  @Test(
    "M-16 An instance that isn't associated is created, but isn't found and gets no relationships")
  func looseInstancesAreNotFound() throws {
    let (store, manager) = try migrate { use(LoosePolicy.self, in: $0) }
    #expect(
      manager.destinationInstances(forEntityMappingName: "IEM_Copy_Person", sourceInstances: nil)
        .isEmpty)
    #expect(
      try store.values("SELECT count(*), count(ZHOME) FROM ZPERSON") == [
        [3, 0].map { .integer($0) }
      ])
  }

  @Test(
    "An instance of several source instances is related once, in whichever batches they are",
    arguments: [1, 2, 1_000])
  func instancesAreRelatedOnce(batchSize: Int) throws {
    let model = Sample.model()
    let manager = NSMigrationManager(sourceModel: Sample.model(), destinationModel: model)
    manager.batchSize = batchSize
    let (store, _) = try migrate(to: model, with: manager) { use(JoiningPolicy.self, in: $0) }
    #expect(
      manager.userInfo?["counts"] as? [String: Int]
        == ["IEM_Copy_City": 1, "IEM_Copy_Person": 1])
    #expect(try store.values("SELECT count(*) FROM ZPERSON") == [[.integer(1)]])
  }

  @Test(
    "An instance that a policy deletes isn't found afterward, and nothing refers to it",
    arguments: [1, 1_000])
  func deletedInstancesAreNotFound(batchSize: Int) throws {
    let model = Sample.model()
    let manager = NSMigrationManager(sourceModel: Sample.model(), destinationModel: model)
    manager.batchSize = batchSize
    DeletingPolicy.registerClass(named: "Tests.DeletingPolicy")
    let (store, _) = try migrate(to: model, with: manager) { mapping in
      for mapping in mapping.entityMappings where mapping.destinationEntityName == "City" {
        mapping.entityMigrationPolicyClassName = "Tests.DeletingPolicy"
      }
    }
    #expect(
      manager.destinationInstances(forEntityMappingName: "IEM_Copy_City", sourceInstances: nil)
        .isEmpty)
    #expect(try store.values("SELECT count(*) FROM ZCITY") == [[.integer(0)]])
    #expect(
      try store.values("SELECT count(*), count(ZHOME) FROM ZPERSON") == [
        [3, 0].map { .integer($0) }
      ])
  }

  @Test("A destination that a killed process has left is removed before the next migration")
  func incompleteDestinationsAreRemoved() throws {
    let (model, killed) = (Sample.model(), try MigratedStore())
    let (source, complete) = (try Sample.store(), try MigratedStore())
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: model, destinationModel: model)
    use(CopyingPolicy.self, in: mapping)
    let manager = NSMigrationManager(sourceModel: model, destinationModel: model)
    manager.batchSize = 1
    manager.userInfo = ["urls": [complete.url, killed.url]]
    try manager.migrateStore(
      from: source.url, type: .sqlite, mapping: mapping, to: complete.url, type: .sqlite)
    #expect(try killed.values("SELECT count(*) FROM ZPERSON") == [[.integer(3)]])
    _ = try migrate(into: killed)
    let expected = try content(of: Sample.store(model).open(model, options: nil))
    for store in [complete, killed] {
      let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        type: .sqlite, at: store.url)
      #expect(!metadata.keys.contains { $0.hasPrefix("OpenCoreData.") })
      #expect(try content(of: store.open(model, options: nil)) == expected)
    }
  }

  @Test("A destination that a killed process has left is kept once the program saves to it")
  func savedIncompleteDestinationsAreKept() throws {
    let (model, key) = (Sample.model(), "OpenCoreData.incompleteMigration")
    let store = try MigratedStore()
    func isIncomplete() throws -> Bool {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store.url)[key]
        != nil
    }
    let killed = try store.open(model, options: nil)
    killed.persistentStoreCoordinator?.persistentStores.first?.metadata[key] = true
    try killed.performAndWait { try killed.save() }
    let context = try store.open(model, options: nil)
    #expect(try isIncomplete())
    try context.performAndWait { try context.save() }
    #expect(try !isIncomplete())
  }

  @Test("M-17 A migration that's cancelled throws the error and leaves no file")
  func cancelledMigrationLeavesNothing() throws {
    let destination = try MigratedStore()
    let error = thrownError {
      _ = try migrate(into: destination) { use(CancellingPolicy.self, in: $0) }
    }
    #expect(error?.domain == "Test")
    #expect(error?.code == 42)
    #expect(try destination.contents().isEmpty)
    let (store, _) = try migrate(into: destination)
    #expect(try store.values("SELECT count(*) FROM ZPERSON") == [[.integer(3)]])
  }

  @Test("A cancelled progress cancels the migration with 134120")
  func cancelledProgressCancels() throws {
    let model = Sample.model()
    let manager = NSMigrationManager(sourceModel: Sample.model(), destinationModel: model)
    manager.progress.cancel()
    let error = thrownError { _ = try migrate(to: model, with: manager) }
    #expect(error?.code == NSMigrationCancelledError)
  }

  @Test(
    "S14-29 M-18 Two mapping models of one manager add to the same store, and relate their instances"
  )
  func twoMappingModelsFillOneStore() throws {
    let model = Sample.model()
    let manager = NSMigrationManager(sourceModel: Sample.model(), destinationModel: model)
    let destination = try MigratedStore()
    let source = try Sample.store()
    let whole = try NSMappingModel.inferredMappingModel(
      forSourceModel: Sample.model(), destinationModel: model)
    for name in ["City", "Person"] {
      let part = NSMappingModel()
      part.entityMappings = whole.entityMappings.filter { $0.sourceEntityName == name }
      if name == "Person" {
        // The first part has created the cities.
        let home = part.entityMappings.first?.relationshipMappings?.first { $0.name == "home" }
        home?.valueExpression = NSExpression(
          format:
            "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'IEM_Copy_City', $source.home)"
        )
      }
      try manager.migrateStore(
        from: source.url, type: .sqlite, mapping: part, to: destination.url, type: .sqlite)
    }
    let found = try content(of: destination.open(model, options: nil))
    #expect(try found == content(of: Sample.store(model).open(model, options: nil)))
  }

  @Test("A relationship mapping finds the instances of mapping models that were used before")
  func inferredPartsRelateTheirInstances() throws {
    let model = Sample.model()
    let manager = NSMigrationManager(sourceModel: Sample.model(), destinationModel: model)
    let (source, destination) = (try Sample.store(), try MigratedStore())
    let whole = try NSMappingModel.inferredMappingModel(
      forSourceModel: Sample.model(), destinationModel: model)
    for name in ["City", "Person"] {
      let part = NSMappingModel()
      part.entityMappings = whole.entityMappings.filter { $0.sourceEntityName == name }
      try manager.migrateStore(
        from: source.url, type: .sqlite, mapping: part, to: destination.url, type: .sqlite)
    }
    let found = try content(of: destination.open(model, options: nil))
    #expect(try found == content(of: Sample.store(model).open(model, options: nil)))
  }

  @Test("A manager migrates several stores, one after the other")
  func managerMigratesSeveralStores() throws {
    let model = Sample.model()
    let manager = NSMigrationManager(sourceModel: Sample.model(), destinationModel: model)
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: Sample.model(), destinationModel: model)
    for name in ["Ada", "Cy"] {
      let (source, destination) = (try Sample.store(), try MigratedStore())
      let connection = try Connection(path: source.url.path, access: .writing)
      try connection.execute("DELETE FROM ZPERSON WHERE ZNAME = '\(name)'")
      connection.close()
      let expected = try content(of: source.open(model, options: nil))
      try manager.migrateStore(
        from: source.url, type: .sqlite, mapping: mapping, to: destination.url, type: .sqlite)
      #expect(try content(of: destination.open(model, options: nil)) == expected)
    }
  }

  @Test("An expression calls a method of the policy, and converts values")
  func expressionsCallPolicies() throws {
    let model = Sample.model { person, _ in
      person.properties.append(Sample.attribute("greeting", .stringAttributeType))
      person.properties.append(Sample.attribute("ageInMonths", .integer32AttributeType))
    }
    let (store, _) = try migrate(to: model) { mapping in
      use(GreetingPolicy.self, in: mapping)
      for property in mapping.entityMappings.flatMap({ $0.attributeMappings ?? [] }) {
        switch property.name {
        case "greeting":
          property.valueExpression = NSExpression(
            format: "FUNCTION($entityPolicy, 'greetingFor:', $source.name)")
        case "ageInMonths":
          property.valueExpression = NSExpression(format: "$source.age * 12")
        default: break
        }
      }
    }
    #expect(
      try store.values("SELECT ZGREETING, ZAGEINMONTHS FROM ZPERSON ORDER BY ZNAME") == [
        [.text("Hello Ada"), .integer(432)], [.text("Hello Bo"), .null],
        [.text("Hello Cy"), .integer(84)],
      ])
  }

  @Test("A mapping without a source expression migrates all instances of its entity")
  func mappingWithoutSourceExpressionFetchesAll() throws {
    let (store, _) = try migrate { mapping in
      for mapping in mapping.entityMappings { mapping.sourceExpression = nil }
    }
    let model = Sample.model()
    #expect(
      try content(of: store.open(model, options: nil))
        == content(of: Sample.store(model).open(model, options: nil)))
  }

  @Test("Instances of subentities are migrated once, by their own mapping or else by the parent's")
  func subentitiesAreMigratedOnce() throws {
    func version() -> NSManagedObjectModel {
      let (animal, dog, cat) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
      (animal.name, dog.name, cat.name) = ("Animal", "Dog", "Cat")
      animal.properties = [Sample.attribute("name", .stringAttributeType)]
      animal.subentities = [dog, cat]
      let model = NSManagedObjectModel()
      model.entities = [animal, dog, cat]
      return model
    }
    let (source, destination) = (try MigratedStore(), try MigratedStore())
    let context = try source.open(version())
    try context.performAndWait {
      for (entity, name) in [("Animal", "A"), ("Dog", "D"), ("Cat", "C")] {
        NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
          .setValue(name, forKey: "name")
      }
      try context.save()
    }
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: version(), destinationModel: version())
    mapping.entityMappings.removeAll { $0.sourceEntityName == "Cat" }
    try NSMigrationManager(sourceModel: version(), destinationModel: version()).migrateStore(
      from: source.url, type: .sqlite, mapping: mapping, to: destination.url, type: .sqlite)
    let migrated = try content(of: destination.open(version(), options: nil))
    #expect(migrated == ["Animal": ["name: A", "name: C"], "Cat": [], "Dog": ["name: D"]])
  }

  @Test("A required attribute gets its default value where the source has none")
  func defaultValueReplacesNil() throws {
    let model = Sample.model { person, _ in
      Sample.replace(
        "age", of: person,
        by: Sample.attribute("age", .integer16AttributeType, default: 18, isOptional: false))
    }
    let (store, _) = try migrate(to: model)
    #expect(
      try store.values("SELECT ZAGE FROM ZPERSON ORDER BY ZNAME")
        == [[.integer(36)], [.integer(18)], [.integer(7)]])
  }

  @Test(
    "The store of one configuration is migrated without the entities of others, even if it's new",
    arguments: [true, false])
  func storeOfConfigurationIsMigrated(isKnown: Bool) throws {
    func version(_ note: Bool) -> NSManagedObjectModel {
      let (person, city) = (NSEntityDescription(), NSEntityDescription())
      (person.name, city.name) = ("Person", "City")
      person.properties = [Sample.attribute("name", .stringAttributeType)]
      city.properties = [Sample.attribute("name", .stringAttributeType)]
      if note { person.properties.append(Sample.attribute("note", .stringAttributeType)) }
      let model = NSManagedObjectModel()
      model.entities = [person, city]
      if isKnown || note { model.setEntities([person], forConfigurationName: "People") }
      return model
    }
    let store = try MigratedStore()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version(false))
    let former = try coordinator.addPersistentStore(
      type: .sqlite, configuration: isKnown ? "People" : nil, at: store.url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        .setValue("Ada", forKey: "name")
      try context.save()
    }
    try coordinator.remove(former)
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: version(false), destinationModel: version(true))
    try MappedMigration(
      url: store.url, source: version(false), destination: version(true), mappings: [mapping],
      configuration: "People", options: nil
    ).run()
    #expect(try store.values("SELECT ZNAME, ZNOTE FROM ZPERSON") == [[.text("Ada"), .null]])
    let later = NSPersistentStoreCoordinator(managedObjectModel: version(true))
    try later.addPersistentStore(type: .sqlite, configuration: "People", at: store.url)
  }
}
