import Dispatch
import ManagedModel
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Migration by an app's own code")
struct CustomMigrationTests {
  private typealias Sample = LightweightMigrationTests

  /// The first version; a second with nicknames; a third without ages, in which a nickname is an
  /// alias.
  private static func version(_ number: Int) -> NSManagedObjectModel {
    Sample.model { person, _ in
      if number > 1 {
        person.properties.append(
          Sample.attribute(number == 2 ? "nickname" : "alias", .stringAttributeType))
      }
      if number == 3 { person.properties.removeAll { $0.name == "age" } }
    }
  }

  /// A mapping model in which a person without a nickname gets the name as one.
  private static func mapping(_ from: Int, _ to: Int) throws -> NSMappingModel {
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: version(from), destinationModel: version(to))
    for property in mapping.entityMappings.flatMap({ $0.attributeMappings ?? [] })
    where property.name == (to == 2 ? "nickname" : "alias") {
      property.valueExpression = NSExpression(
        format: from == 1 ? "$source.name" : "$source.nickname")
    }
    return mapping
  }

  /// The book's function, without its intermediate steps.
  private static func migrateStore(
    from source: URL, to target: URL, deleteSource: Bool
  ) throws {
    let temporary = try MigratedStore()
    try NSMigrationManager(sourceModel: version(1), destinationModel: version(2)).migrateStore(
      from: source, type: .sqlite, mapping: mapping(1, 2), to: temporary.url, type: .sqlite)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version(2))
    try coordinator.replacePersistentStore(
      at: target, withPersistentStoreFrom: temporary.url, type: .sqlite)
    try coordinator.destroyPersistentStore(at: temporary.url, type: .sqlite)
    if target != source, deleteSource {
      try coordinator.destroyPersistentStore(at: source, type: .sqlite)
    }
  }

  @Test(
    "A migrated store has the UUID, the app's metadata, and the new version, also without objects",
    arguments: [true, false])
  func metadataIsMigrated(isEmpty: Bool) throws {
    let store = try isEmpty ? MigratedStore() : Sample.store()
    let source = Self.version(1)
    source.versionIdentifiers = ["1"]
    if isEmpty { try store.migrate(to: source) }
    try NSPersistentStoreCoordinator.setMetadata(["flavor": "sweet"], type: .sqlite, at: store.url)
    func metadata(_ store: MigratedStore) throws -> [String: Any] {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store.url)
    }
    let (migrated, next) = (try MigratedStore(), Self.version(2))
    next.versionIdentifiers = ["2"]
    try NSMigrationManager(sourceModel: source, destinationModel: next).migrateStore(
      from: store.url, type: .sqlite, mapping: Self.mapping(1, 2), to: migrated.url, type: .sqlite)
    let (before, after) = (try metadata(store), try metadata(migrated))
    #expect(after["flavor"] as? String == "sweet")
    #expect(after[NSStoreUUIDKey] as? String == before[NSStoreUUIDKey] as? String)
    #expect(after[NSStoreModelVersionIdentifiersKey] as? [String] == ["2"])
    #expect(
      after[NSStoreModelVersionHashesKey] as? [String: Data] == next.entityVersionHashesByName)
  }

  @Test(
    "S14-22 The source is removed only if the app asks for it and migrates to another file",
    arguments: [true, false], [true, false])
  func sourceIsRemovedOnRequest(isSame: Bool, deletes: Bool) throws {
    let store = try Sample.store()
    let bytes = try store.contents()
    let target = isSame ? store : try MigratedStore()
    try Self.migrateStore(from: store.url, to: target.url, deleteSource: deletes)
    #expect(
      try target.values("SELECT ZNICKNAME FROM ZPERSON ORDER BY 1")
        == ["Ada", "Bo", "Cy"].map { [.text($0)] })
    if !isSame {
      #expect(try store.contents() == (deletes ? [:] : bytes))
    }
    // The manager itself never writes to its source.
    let same = thrownError {
      try NSMigrationManager(sourceModel: Self.version(2), destinationModel: Self.version(3))
        .migrateStore(
          from: target.url, type: .sqlite, mapping: Self.mapping(2, 3), to: target.url,
          type: .sqlite)
    }
    #expect(same?.code == NSMigrationManagerDestinationStoreError)
    #expect(try target.values("SELECT count(*) FROM ZPERSON") == [[.integer(3)]])
  }

  @Test("S14-25 A container whose store can't be migrated calls its block once, and can try again")
  func failingContainerGivesUp() throws {
    let store = try Sample.store()
    let files = try store.contents()
    let text = Sample.model { person, _ in
      Sample.replace("age", of: person, by: Sample.attribute("age", .stringAttributeType))
    }
    let container = NSPersistentContainer(name: "Model", managedObjectModel: text)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: store.url)]
    var errors: [Int] = []
    // As in the book: after a failure, the app migrates and loads once more, and then gives up.
    func load(migrating: Bool) {
      container.loadPersistentStores { _, error in
        guard let error = error as NSError? else { return }
        errors.append(error.code)
        if !migrating { load(migrating: true) }
      }
    }
    load(migrating: false)
    #expect(errors == [NSMigrationMissingMappingModelError, NSMigrationMissingMappingModelError])
    #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
    #expect(try store.contents() == files)
    // Without the flags, the container migrates nothing.
    let next = NSPersistentContainer(name: "Model", managedObjectModel: Self.version(2))
    let description = NSPersistentStoreDescription(url: store.url)
    #expect(description.shouldMigrateStoreAutomatically)
    #expect(description.shouldInferMappingModelAutomatically)
    next.persistentStoreDescriptions = [description]
    func code() -> Int? {
      var code: Int?
      next.loadPersistentStores { code = ($1 as NSError?)?.code }
      return code
    }
    description.shouldMigrateStoreAutomatically = false
    #expect(code() == NSPersistentStoreIncompatibleVersionHashError)
    description.shouldMigrateStoreAutomatically = true
    description.shouldInferMappingModelAutomatically = false
    #expect(code() == NSMigrationMissingMappingModelError)
    #expect(try store.contents() == files)
    description.shouldInferMappingModelAutomatically = true
    #expect(code() == nil)
    #expect(next.persistentStoreCoordinator.persistentStores.count == 1)
  }

  @Test("A store is migrated on another queue if its description requests it")
  func storeIsMigratedOnAnotherQueue() throws {
    let store = try Sample.store()
    let container = NSPersistentContainer(name: "Model", managedObjectModel: Self.version(2))
    let description = NSPersistentStoreDescription(url: store.url)
    description.shouldAddStoreAsynchronously = true
    container.persistentStoreDescriptions = [description]
    let end = DispatchSemaphore(value: 0)
    let caller = MonotonicClock.threadID()
    nonisolated(unsafe) var found: (isOther: Bool, failed: Bool)?
    container.loadPersistentStores { _, error in
      found = (MonotonicClock.threadID() != caller, error != nil)
      end.signal()
    }
    end.wait()
    #expect(found?.isOther == true)
    #expect(found?.failed == false)
    #expect(try store.values("SELECT count(ZNICKNAME) FROM ZPERSON") == [[.integer(0)]])
  }

  @Test("S14-26 A fixture matches in any order, but no store with other rows or values")
  func fixturesMatch() throws {
    func store(_ names: [String]) throws -> [String: [String]] {
      let store = try MigratedStore()
      let context = try store.open(Sample.model())
      try context.performAndWait {
        for name in names {
          NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            .setValue(name, forKey: "name")
          try context.save()
        }
      }
      return try content(of: store.open(Sample.model()))
    }
    let fixture = try store(["Ada", "Bo"])
    #expect(try store(["Ada", "Bo", "Cy"]) != fixture)
    #expect(try store(["Ada", "Bob"]) != fixture)
    #expect(try store(["Bo", "Ada"]) == fixture)
  }

  @Test("S14-30 An added entity has an empty table; one that's removed or isn't mapped has none")
  func entitiesComeAndGo() throws {
    func model(_ names: [String]) -> NSManagedObjectModel {
      let model = NSManagedObjectModel()
      model.entities = names.map { name in
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = [Sample.attribute("name", .stringAttributeType)]
        return entity
      }
      return model
    }
    let (old, new) = (model(["Kept", "Removed", "Unmapped"]), model(["Kept", "Added"]))
    let store = try MigratedStore()
    let context = try store.open(old)
    try context.performAndWait {
      for name in ["Kept", "Removed", "Unmapped"] {
        NSEntityDescription.insertNewObject(forEntityName: name, into: context)
          .setValue(name, forKey: "name")
      }
      try context.save()
    }
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: old, destinationModel: new)
    mapping.entityMappings.removeAll { $0.sourceEntityName == "Unmapped" }
    #expect(
      mapping.entityMappings.map(\.mappingType) == [
        .addEntityMappingType, .copyEntityMappingType, .removeEntityMappingType,
      ])
    let migrated = try MigratedStore()
    try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
      from: store.url, type: .sqlite, mapping: mapping, to: migrated.url, type: .sqlite)
    #expect(try migrated.values("SELECT ZNAME FROM ZKEPT") == [[.text("Kept")]])
    #expect(try migrated.values("SELECT * FROM ZADDED") == [])
    #expect(
      try migrated.values("SELECT name FROM sqlite_master WHERE name IN ('ZREMOVED', 'ZUNMAPPED')")
        == [])
  }

  @Test("S-H09 Every path of a chain passes in the background, with progress that never decreases")
  func chainsPassInTheBackground() throws {
    for path in [[1, 2], [2, 3], [1, 2, 3], [1, 3]] {
      let store = try Sample.store(Self.version(path[0]))
      if path[0] == 2 {
        let connection = try Connection(path: store.url.path, access: .writing)
        try connection.execute("UPDATE ZPERSON SET ZNICKNAME = ZNAME")
        connection.close()
      }
      let url = store.url
      let end = DispatchSemaphore(value: 0)
      nonisolated(unsafe) var seen: (fractions: [[Float]], mappings: [String], error: NSError?)
      seen = ([], [], nil)
      DispatchQueue.global().async {
        seen.error = thrownError {
          for (from, to) in zip(path, path.dropFirst()) {
            seen.fractions.append([])
            let new = try MigratedStore()
            let manager = NSMigrationManager(
              sourceModel: Self.version(from), destinationModel: Self.version(to))
            manager.progressHandler = { manager in
              seen.fractions[seen.fractions.count - 1].append(manager.migrationProgress)
              seen.mappings.append(manager.currentEntityMapping.destinationEntityName ?? "")
            }
            try manager.migrateStore(
              from: url, type: .sqlite, mapping: Self.mapping(from, to), to: new.url,
              type: .sqlite)
            try NSPersistentStoreCoordinator(managedObjectModel: Self.version(to))
              .replacePersistentStore(
                at: url, withPersistentStoreFrom: new.url, type: .sqlite)
          }
        }
        end.signal()
      }
      end.wait()
      #expect(seen.error == nil, "\(path)")
      #expect(seen.fractions.count == path.count - 1)
      for fractions in seen.fractions {
        #expect(fractions == fractions.sorted())
        #expect(fractions.first == 0)
        #expect(fractions.last == 1)
        #expect(Set(fractions).count > 5)
      }
      #expect(Set(seen.mappings) == ["City", "Person", ""])
      #expect(seen.mappings.last == "")
      let column = path.last == 2 ? "ZNICKNAME" : "ZALIAS"
      #expect(
        try store.values("SELECT \(column), ZHOME FROM ZPERSON ORDER BY ZNAME") == [
          [.text("Ada"), .integer(1)], [.text("Bo"), .null], [.text("Cy"), .null],
        ], "\(path)")
    }
  }

  @Test("A migrated file has the access permissions of the store", arguments: ["sqlite", "xml"])
  func permissionsAreKept(name: String) throws {
    let type: NSPersistentStore.StoreType = name == "xml" ? .xml : .sqlite
    let store = try MigratedStore()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.version(1))
    let opened = try coordinator.addPersistentStore(type: type, at: store.url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      _ = context.make("Person", ["name": "Ada"])
      try context.save()
    }
    try coordinator.remove(opened)
    #expect(chmod(store.url.path, 0o660) == 0)
    try MappedMigration(
      url: store.url, source: Self.version(1), destination: Self.version(2),
      mappings: [Self.mapping(1, 2)], configuration: nil, options: nil, type: type
    ).run()
    var info = stat()
    #expect(stat(store.url.path, &info) == 0)
    #expect(info.st_mode & 0o777 == 0o660)
  }

  @Test("Every type of store has the class of its migration manager")
  func storesNameTheirManager() {
    for type in NSPersistentStoreCoordinator.registeredStoreTypes.values {
      #expect(
        (type as? NSPersistentStore.Type)?.migrationManagerClass() == NSMigrationManager.self)
    }
  }
}
