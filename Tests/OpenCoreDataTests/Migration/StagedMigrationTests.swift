import Dispatch
import OpenCoreData
import SQLiteDriver
import Synchronization
import Testing

@testable import OpenCoreData

@Suite("Staged migration")
struct StagedMigrationTests {
  private typealias Sample = LightweightMigrationTests

  /// Four versions: each follows from the one before by inference, but 3 doesn't follow from 1.
  private static func version(_ number: Int) -> NSManagedObjectModel {
    Sample.model { person, city in
      person.properties.removeAll { $0.name == "age" && number > 1 }
      switch number {
      case 1: break
      case 2: person.properties.append(Sample.attribute("note", .stringAttributeType))
      case 3: person.properties.append(Sample.attribute("age", .stringAttributeType))
      default:
        person.properties.append(Sample.attribute("age", .stringAttributeType))
        city.properties.append(Sample.attribute("country", .stringAttributeType))
      }
    }
  }

  private static func reference(_ number: Int) -> NSManagedObjectModelReference {
    let model = version(number)
    return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
  }

  private static func light(_ numbers: Int...) -> NSMigrationStage {
    NSLightweightMigrationStage(numbers.map { version($0).versionChecksum })
  }

  private static func custom(_ from: Int, _ to: Int) -> NSCustomMigrationStage {
    NSCustomMigrationStage(migratingFrom: reference(from), to: reference(to))
  }

  private static func open(
    _ store: MigratedStore, _ number: Int, _ stages: [NSMigrationStage]
  ) throws -> NSManagedObjectContext {
    var options = MigratedStore.automatic
    options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager(stages)
    return try store.open(version(number), options: options)
  }

  /// Which version a store has.
  private static func version(of store: MigratedStore) throws -> Int? {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: store.url)
    return (1...4).first {
      version($0).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }
  }

  /// A row of the table of stages that a forum thread about Apple's framework gives (M-19).
  struct Row: Sendable, CustomStringConvertible {
    let description: String
    let target: Int
    let stages: @Sendable () -> [NSMigrationStage]
    /// The error; `nil` if the store is migrated.
    let code: Int?
  }

  static let rows = [
    Row(
      description: "lightweight 1, 2, 3, 4", target: 4, stages: { [light(1, 2, 3, 4)] },
      code: NSMigrationMissingMappingModelError),
    Row(
      description: "lightweight 1, 2 and 3, 4", target: 4, stages: { [light(1, 2), light(3, 4)] },
      code: NSMigrationMissingMappingModelError),
    Row(
      description: "custom 1 to 2, lightweight 3", target: 3,
      stages: { [custom(1, 2), light(3)] }, code: nil),
    Row(
      description: "lightweight 1, custom 2 to 3", target: 3,
      stages: { [light(1), custom(2, 3)] }, code: nil),
    Row(
      description: "custom 1 to 2, custom 2 to 3", target: 3,
      stages: { [custom(1, 2), custom(2, 3)] }, code: nil),
    Row(
      description: "custom 1 to 2, lightweight 3, 4", target: 4,
      stages: { [custom(1, 2), light(3, 4)] }, code: nil),
    Row(
      description: "lightweight 1, custom 2 to 3, lightweight 4", target: 4,
      stages: { [light(1), custom(2, 3), light(4)] }, code: nil),
    Row(
      description: "lightweight 1, 4, custom 2 to 3", target: 4,
      stages: { [light(1, 4), custom(2, 3)] }, code: nil),
    Row(
      description: "lightweight 3, 4, custom 1 to 2", target: 4,
      stages: { [light(3, 4), custom(1, 2)] }, code: NSStagedMigrationBackwardMigrationError),
    Row(
      description: "custom 2 to 3, lightweight 1, 4", target: 4,
      stages: { [custom(2, 3), light(1, 4)] }, code: NSMigrationMissingMappingModelError),
  ]

  @Test(
    "M-19 Custom stages are the steps; lightweight stages go straight to the next of them",
    arguments: rows)
  func stagesAreSteps(row: Row) throws {
    let store = try Sample.store(Self.version(1))
    let bytes = try store.contents()
    let error = thrownError { _ = try Self.open(store, row.target, row.stages()) }
    #expect(error?.code == row.code)
    if row.code == nil {
      #expect(try Self.version(of: store) == row.target)
      #expect(try store.values("SELECT count(*) FROM ZPERSON") == [[.integer(3)]])
    } else {
      #expect(try store.contents() == bytes)
    }
  }

  @Test("Handlers get a store of a configuration with the entities that it contains")
  func handlersGetTheConfiguration() throws {
    func version(_ names: String...) -> NSManagedObjectModel {
      let (person, place) = (NSEntityDescription(), NSEntityDescription())
      (person.name, place.name) = ("Person", "Place")
      person.properties = names.map { Sample.attribute($0, .stringAttributeType) }
      place.properties = [Sample.attribute("name", .stringAttributeType)]
      let model = NSManagedObjectModel()
      model.entities = [person, place]
      model.setEntities([person], forConfigurationName: "People")
      model.setEntities([place], forConfigurationName: "Places")
      return model
    }
    let store = try MigratedStore()
    func withStore(
      _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]? = nil,
      _ body: (NSManagedObjectContext) throws -> Void
    ) throws {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let opened = try coordinator.addPersistentStore(
        type: .sqlite, configuration: "People", at: store.url, options: options)
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait { try body(context) }
      try coordinator.remove(opened)
    }
    func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
      NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }
    func setNames(_ key: String, _ manager: NSStagedMigrationManager) throws {
      let context = try #require(manager.container).newBackgroundContext()
      try context.performAndWait {
        for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
          person.setValue("\(key) \(person.value(forKey: "name") ?? "nil")", forKey: key)
        }
        try context.save()
      }
    }
    try withStore(version("name")) { context in
      NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        .setValue("Ada", forKey: "name")
      try context.save()
    }
    let stage = NSCustomMigrationStage(
      migratingFrom: reference(version("name")), to: reference(version("name", "note")))
    stage.willMigrateHandler = { manager, _ in try setNames("name", manager) }
    stage.didMigrateHandler = { manager, _ in try setNames("note", manager) }
    var options = MigratedStore.automatic
    options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([stage])
    try withStore(version("name", "note"), options) { _ in }
    #expect(
      try store.values("SELECT ZNAME, ZNOTE FROM ZPERSON")
        == [[.text("name Ada"), .text("note name Ada")]])
  }

  /// Opens a store of a configuration, after a stage between versions of which the second doesn't
  /// have it, and the first may not.
  private static func openConfiguration(
    _ store: MigratedStore, since first: Bool, age: NSAttributeType = .integer16AttributeType
  ) throws {
    func version(_ number: Int) -> NSManagedObjectModel {
      let model = Sample.model { person, city in
        person.properties.removeAll { $0.name == "home" }
        city.properties.removeAll { $0.name == "residents" }
        if number > 1 { Sample.replace("age", of: person, by: Sample.attribute("age", age)) }
        for name in ["note", "more"].prefix(number - 1) {
          person.properties.append(Sample.attribute(name, .stringAttributeType))
        }
      }
      if number == 3 || (first && number == 1) {
        let people = model.entities.filter { $0.name == "Person" }
        model.setEntities(people, forConfigurationName: "People")
      }
      return model
    }
    func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
      NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version(1))
    let opened = try coordinator.addPersistentStore(
      type: .sqlite, configuration: first ? "People" : nil, at: store.url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      _ = context.make("Person", ["name": "Ada", "age": 36])
      try context.save()
    }
    try coordinator.remove(opened)
    let stage = NSCustomMigrationStage(
      migratingFrom: reference(version(1)), to: reference(version(2)))
    stage.didMigrateHandler = { manager, _ in
      let context = try #require(manager.container).newBackgroundContext()
      try context.performAndWait {
        for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
          person.setValue("checked", forKey: "note")
        }
        try context.save()
      }
    }
    var options = MigratedStore.automatic
    options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([
      stage, NSLightweightMigrationStage([version(3).versionChecksum]),
    ])
    try NSPersistentStoreCoordinator(managedObjectModel: version(3)).addPersistentStore(
      type: .sqlite, configuration: "People", at: store.url, options: options)
  }

  @Test(
    "A stage to a version without the store's configuration loses no objects",
    arguments: [true, false])
  func stagesWithoutTheConfigurationKeepObjects(first: Bool) throws {
    let store = try MigratedStore()
    try Self.openConfiguration(store, since: first)
    #expect(
      try store.values("SELECT ZNAME, ZAGE, ZNOTE FROM ZPERSON")
        == [[.text("Ada"), .integer(36), .text("checked")]])
  }

  @Test("A stage between versions without the store's configuration must be inferable")
  func stagesWithoutTheConfigurationAreChecked() throws {
    let store = try MigratedStore()
    let error = thrownError {
      try Self.openConfiguration(store, since: false, age: .stringAttributeType)
    }
    #expect(error?.code == NSMigrationMissingMappingModelError)
    #expect(try store.values("SELECT ZNAME, ZAGE FROM ZPERSON") == [[.text("Ada"), .integer(36)]])
  }

  @Test("Handlers run before and after their stage, with the store under its model")
  func handlersConvertValues() throws {
    let store = try Sample.store(Self.version(1))
    let first = Self.custom(1, 2)
    // The first stage saves what the change of type would lose.
    var ages: [String: Int] = [:]
    first.willMigrateHandler = { manager, stage in
      #expect(stage === first)
      let context = try #require(manager.container).newBackgroundContext()
      try context.performAndWait {
        for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
          #expect(type(of: person) == NSManagedObject.self)
          ages[person.value(forKey: "name") as? String ?? ""] = person.value(forKey: "age") as? Int
        }
      }
    }
    first.didMigrateHandler = { manager, _ in
      let context = try #require(manager.container).newBackgroundContext()
      try context.performAndWait {
        for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
          person.setValue("checked", forKey: "note")
        }
        try context.save()
      }
      #expect(
        try store.values("SELECT count(*) FROM ZPERSON WHERE ZNOTE = 'checked'") == [[.integer(3)]])
    }
    let second = Self.custom(2, 3)
    second.didMigrateHandler = { manager, _ in
      let context = try #require(manager.container).newBackgroundContext()
      try context.performAndWait {
        for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
          let age = ages[person.value(forKey: "name") as? String ?? ""]
          person.setValue(age.map { "\($0) years" }, forKey: "age")
        }
        try context.save()
      }
    }
    let context = try Self.open(store, 4, [first, second, Self.light(4)])
    #expect(context.persistentStoreCoordinator?.persistentStores.count == 1)
    #expect(
      try store.values("SELECT ZNAME, ZAGE FROM ZPERSON ORDER BY ZNAME") == [
        [.text("Ada"), .text("36 years")], [.text("Bo"), .null], [.text("Cy"), .text("7 years")],
      ])
  }

  @Test("Stages after the version of the model don't run")
  func laterStagesDoNotRun() throws {
    for stages in [
      [Self.custom(1, 2), Self.custom(2, 3)], [Self.light(1, 2), Self.custom(2, 3)],
      [Self.custom(1, 2), Self.light(2, 3), Self.custom(3, 4)],
    ] {
      let store = try Sample.store(Self.version(1))
      for case let stage as NSCustomMigrationStage in stages.suffix(1) {
        stage.willMigrateHandler = { _, _ in Issue.record("The stage isn't needed.") }
      }
      let context = try Self.open(store, 2, stages)
      #expect(context.persistentStoreCoordinator?.persistentStores.count == 1)
      #expect(try Self.version(of: store) == 2)
    }
  }

  @Test(
    "M-21 A handler that throws leaves the version it was called with; the next attempt goes on from there"
  )
  func failedStageIsResumed() throws {
    let store = try Sample.store(Self.version(1))
    let (first, second) = (Self.custom(1, 2), Self.custom(2, 3))
    var calls: [String] = []
    var fails = true
    first.willMigrateHandler = { _, _ in calls.append("first") }
    second.willMigrateHandler = { _, _ in
      calls.append("second")
      if fails { throw NSError(domain: "Test", code: 7) }
    }
    let stages: [NSMigrationStage] = [first, second, Self.light(4)]
    #expect(thrownError { _ = try Self.open(store, 4, stages) }?.code == 7)
    #expect(try Self.version(of: store) == 2)
    fails = false
    _ = try Self.open(store, 4, stages)
    #expect(try Self.version(of: store) == 4)
    #expect(calls == ["first", "second", "second"])
  }

  /// The calls of handlers on several threads.
  private final class Calls: Sendable {
    private let list = Mutex<[String]>([])

    var names: [String] { list.withLock { $0 } }

    func add(_ name: String) {
      list.withLock { $0.append(name) }
    }
  }

  /// Opens a store as the second version, by one stage.
  private static func open(
    _ url: URL, _ calls: Calls, timeout: Double = 300, _ body: @escaping @Sendable () -> Void = {}
  ) throws {
    let stage = custom(1, 2)
    stage.willMigrateHandler = { _, _ in
      calls.add("will")
      body()
    }
    stage.didMigrateHandler = { _, _ in calls.add("did") }
    var options = MigratedStore.automatic
    options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([stage])
    options[NSPersistentStoreTimeoutOption] = timeout
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version(2))
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
    try coordinator.remove(store)
  }

  @Test("Handlers are called once if two coordinators open a store at the same time")
  func handlersAreCalledOnce() throws {
    let store = try Sample.store(Self.version(1))
    let (url, calls, end) = (store.url, Calls(), DispatchSemaphore(value: 0))
    try Self.open(url, calls) {
      let error = thrownError { try Self.open(url, calls, timeout: 0.05) }
      #expect(error?.code == NSMigrationError)
      DispatchQueue.global().async {
        do { try Self.open(url, calls) } catch { Issue.record("\(error)") }
        end.signal()
      }
      // The other coordinator begins to wait.
      usleep(100_000)
    }
    #expect(end.waitForSignal())
    #expect(calls.names == ["will", "did"])
    #expect(try Self.version(of: store) == 2)
    #expect(try !store.contents().keys.contains(".Store.sqlite.stages"))
  }

  @Test("The file that a killed process has left next to a store doesn't keep stages from running")
  func abandonedLockIsRemoved() throws {
    let store = try Sample.store(Self.version(1))
    let lock = store.url.deletingLastPathComponent().appendingPathComponent(".Store.sqlite.stages")
    try Data().write(to: lock)
    let context = try store.open(Self.version(1), options: nil)
    #expect(!FileManager.default.fileExists(atPath: lock.path))
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    try Data().write(to: lock)
    let calls = Calls()
    try Self.open(store.url, calls)
    #expect(calls.names == ["will", "did"])
    #expect(!FileManager.default.fileExists(atPath: lock.path))
  }

  @Test("M-20 Wrong stages are errors that change nothing")
  func wrongStagesAreErrors() throws {
    let store = try Sample.store(Self.version(1))
    let bytes = try store.contents()
    let twice = thrownError { _ = try Self.open(store, 4, [Self.light(1, 2), Self.light(2, 4)]) }
    #expect(twice?.localizedDescription.contains("Duplicate checksums across stages") == true)
    let unknown = thrownError { _ = try Self.open(store, 4, [Self.custom(2, 3), Self.light(4)]) }
    #expect(unknown?.code == NSManagedObjectModelReferenceNotFoundError)
    #expect(unknown?.localizedDescription.contains("unknown model version") == true)
    let wrong = NSCustomMigrationStage(
      migratingFrom: NSManagedObjectModelReference(
        model: Self.version(2), versionChecksum: Self.version(1).versionChecksum),
      to: Self.reference(3))
    let reference = thrownError { _ = try Self.open(store, 3, [wrong]) }
    #expect(reference?.code == NSManagedObjectModelReferenceNotFoundError)
    let missing = NSCustomMigrationStage(
      migratingFrom: NSManagedObjectModelReference(
        name: "Missing", in: nil, versionChecksum: Self.version(1).versionChecksum),
      to: Self.reference(2))
    let notFound = thrownError { _ = try Self.open(store, 2, [missing]) }
    #expect(notFound?.code == NSManagedObjectModelReferenceNotFoundError)
    let late = NSCustomMigrationStage(
      migratingFrom: Self.reference(2),
      to: NSManagedObjectModelReference(
        name: "Missing", in: nil, versionChecksum: Self.version(3).versionChecksum))
    let noNext = thrownError { _ = try Self.open(store, 3, [Self.light(1), late]) }
    #expect(noNext?.code == NSManagedObjectModelReferenceNotFoundError)
    #expect(try store.contents() == bytes)
    _ = try Self.open(store, 4, [Self.custom(1, 2), Self.light(3, 4)])
    let error = thrownError { _ = try Self.open(store, 3, [Self.light(3, 4)]) }
    #expect(error?.code == NSStagedMigrationBackwardMigrationError)
  }

  @Test("Both options of automatic migration are needed")
  func stagesNeedBothOptions() throws {
    let store = try Sample.store(Self.version(1))
    let manager = NSStagedMigrationManager([Self.light(1, 2)])
    let none = thrownError {
      _ = try store.open(
        Self.version(2), options: [NSPersistentStoreStagedMigrationManagerOptionKey: manager])
    }
    #expect(none?.code == NSPersistentStoreIncompatibleVersionHashError)
    let noInference = thrownError {
      _ = try store.open(
        Self.version(2),
        options: [
          NSPersistentStoreStagedMigrationManagerOptionKey: manager,
          NSMigratePersistentStoresAutomaticallyOption: true,
        ])
    }
    #expect(noInference?.code == NSMigrationMissingMappingModelError)
  }
}

@Suite(
  "Staged migration of a public model",
  .enabled(if: SharedData.isHere, SharedData.absence))
struct PublicStagedMigrationTests {
  private static let folder = SharedData.url("coredataplus/SampleModel3.momd")
  private static let checksums = [
    "u970QgYhRHEJGIt0zQr1UhuZL2ZJ1KxBS+B7rkAx0ik=", "rzn6eNBLyn8k3AoC3kH3yymPT0vSUPaVcgi0v2SuHS8=",
    "HFFd7j8Z9/s0tJ1vqPzVSPX/pNYEbNAlXayypitIFow=",
  ]

  private static func model(_ version: Int) throws -> NSManagedObjectModel {
    try NSManagedObjectModel.read(
      contentsOf: folder,
      version: ["SampleModel3", "SampleModel3_v2", "SampleModel3_v3"][version - 1])
  }

  @Test("S14-20 The pets of all users become objects, by Core Data's own checksums")
  func petsBecomeObjects() throws {
    let store = try MigratedStore(copying: "coredataplus/SampleModel3_V1.sqlite")
    let users = try store.values("SELECT ZPETNAME FROM ZUSER ORDER BY 1")
    let stage = NSCustomMigrationStage(
      migratingFrom: NSManagedObjectModelReference(
        model: try Self.model(1), versionChecksum: Self.checksums[0]),
      to: NSManagedObjectModelReference(
        model: try Self.model(2), versionChecksum: Self.checksums[1]))
    stage.didMigrateHandler = { manager, _ in
      let context = try #require(manager.container).newBackgroundContext()
      try context.performAndWait {
        for user in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "User")) {
          guard let name = user.value(forKey: "petName") as? String else { continue }
          let pet = NSEntityDescription.insertNewObject(forEntityName: "Pet", into: context)
          pet.setValue(name, forKey: "name")
          user.setValue(pet, forKey: "pet")
        }
        try context.save()
      }
    }
    var options = MigratedStore.automatic
    options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([
      stage, NSLightweightMigrationStage([Self.checksums[2]]),
    ])
    _ = try store.open(Self.model(3), options: options)
    #expect(users.count == 12)
    #expect(try store.values("SELECT ZNAME FROM ZPET ORDER BY 1") == users)
    #expect(try store.values("SELECT count(*) FROM ZUSER WHERE ZPET IS NULL") == [[.integer(0)]])
    let columns = try store.values("SELECT name FROM pragma_table_info('ZUSER')")
    #expect(!columns.contains([.text("ZPETNAME")]))
  }
}
