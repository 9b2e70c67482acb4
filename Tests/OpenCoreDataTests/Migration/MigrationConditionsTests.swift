import FailingFiles
import Glibc
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Synchronization
import Testing

@testable import OpenCoreData

@Suite("Migrations of stores in unusual conditions")
struct MigrationConditionsTests {
  static let scenarios = [MigrationScenario.inPlace, .mapped]

  private final class Bed {
    let folder: URL
    let store: URL
    let scenario: MigrationScenario

    init(_ scenario: MigrationScenario, persons: Int = 6) throws {
      self.scenario = scenario
      folder = try ProcessFolder.makeFolder()
      store = MigrationScenario.store(in: folder)
      try scenario.create(store, persons)
    }

    deinit {
      try? FileManager.default.removeItem(at: folder)
    }

    /// Migrates the store, and returns the names of all persons; they have the age of the new
    /// version.
    func names() throws -> [String] {
      try scenario.migrate(store)
      return try MigrationScenario.withContext(MigrationScenario.version(2), store) { context in
        let people = try context.all("Human")
        #expect(people.allSatisfy { $0.value(forKey: "age") != nil })
        return people.compactMap { $0.value(forKey: "name") as? String }
      }
    }

    /// Expects a migration to fail, and a later one to succeed.
    func expectFailure(
      _ words: String..., body: (() throws -> Void) throws -> Void
    ) throws {
      let before = try values()
      try body {
        let error = try #require(thrownError { try scenario.migrate(store) })
        #expect(error.domain == NSCocoaErrorDomain)
        for word in words + [store.path] {
          #expect(error.localizedDescription.contains(word), "\(error.localizedDescription)")
        }
      }
      #expect(try values() == before)
      #expect(try names() == Self.expected(6))
    }

    /// Migrates the store, and returns the number of writes.
    func writes() throws -> Int {
      let (result, report) = FailingFiles.run(below: folder) { try scenario.migrate(store) }
      try result.get()
      return report.counts[.write] ?? 0
    }

    func values() throws -> [[SQLiteValue]] {
      let connection = try Connection(path: store.path, access: .inspecting)
      defer { connection.close() }
      return try connection.values("SELECT Z_PK, ZNAME, ZAGE, ZNOTE FROM ZPERSON ORDER BY 1")
    }

    static func expected(_ count: Int) -> [String] { (0..<count).map { "person \($0)" }.sorted() }
  }

  // MARK: The file system

  @Test(
    "S-H08 An error on a full disk states the space that a migration needs", arguments: scenarios)
  func fullDiskNeedsSpace(scenario: MigrationScenario) throws {
    try #require(FailingFiles.isAvailable)
    let bed = try Bed(scenario)
    let size = try Data(contentsOf: bed.store).count
    let external = try ExternalStorage(storeURL: bed.store).files().values.reduce(0, +)
    #expect(external > 600_000)
    let needed = (Double(2 * size + external) / 100_000).rounded(.up) / 10
    let writes = try Bed(scenario).writes()
    try bed.expectFailure("The disk is full", "free \(needed) MB") { migrate in
      try FailingFiles.run(
        below: bed.folder, counting: [.write],
        failure: .init(.fullDisk, at: writes / 2, isPermanent: true)
      ) { try migrate() }.result.get()
    }
  }

  @Test(
    "An error for a folder or a file that can't be written states that", arguments: scenarios,
    [FailingFiles.Cause.denied, .readOnly])
  func readOnlyFolderNeedsAccess(scenario: MigrationScenario, cause: FailingFiles.Cause) throws {
    try #require(FailingFiles.isAvailable)
    let bed = try Bed(scenario)
    try bed.expectFailure("can't be written", "access") { migrate in
      try FailingFiles.run(
        below: bed.folder, failure: .init(cause, at: 1, isPermanent: true)
      ) { try migrate() }.result.get()
    }
  }

  @Test("A link to a store is migrated in place, but isn't replaced by a new file")
  func linksAreNotReplaced() throws {
    for scenario in Self.scenarios {
      let bed = try Bed(scenario)
      let target = bed.folder.appendingPathComponent("Target.sqlite")
      try FileManager.default.moveItem(at: bed.store, to: target)
      try FileManager.default.createSymbolicLink(at: bed.store, withDestinationURL: target)
      if scenario.testDescription == "in place" {
        #expect(try bed.names() == Bed.expected(6))
      } else {
        let before = try bed.values()
        let error = try #require(thrownError { try scenario.migrate(bed.store) })
        #expect(error.localizedDescription.contains("symbolic link"))
        #expect(error.localizedDescription.contains("Pass the URL of the store itself"))
        #expect(try bed.values() == before)
      }
      let path = try FileManager.default.destinationOfSymbolicLink(atPath: bed.store.path)
      #expect(path == target.path)
    }
  }

  // MARK: Other users of the store

  @Test("S-H08 A store that's being read or written elsewhere isn't migrated", arguments: scenarios)
  func openStoresAreNotMigrated(scenario: MigrationScenario) throws {
    for sql in ["SELECT count(*) FROM ZPERSON", "UPDATE ZPERSON SET Z_OPT = Z_OPT + 0"] {
      let bed = try Bed(scenario)
      try bed.expectFailure("open elsewhere", "close it there") { migrate in
        let other = try Connection(path: bed.store.path, access: .writing)
        defer { other.close() }
        try other.execute("BEGIN")
        _ = try other.values(sql)
        try migrate()
        try other.execute("ROLLBACK")
      }
    }
  }

  @Test("A store that another process has open isn't migrated", arguments: [0, 1])
  func storesOfOtherProcessesAreNotMigrated(index: Int) async throws {
    let bed = try Bed(Self.scenarios[index])
    let before = try bed.values()
    let path = bed.store.path
    let other = try Connection(path: path, access: .writing)
    _ = try other.values("SELECT count(*) FROM ZPERSON")
    await #expect(processExitsWith: .success) { [path = path as String, index = index as Int] in
      let url = URL(fileURLWithPath: path)
      let error = thrownError { try MigrationConditionsTests.scenarios[index].migrate(url) }
      guard error?.localizedDescription.contains("open elsewhere") == true else {
        throw error ?? NSError(domain: "migrated", code: 1)
      }
    }
    other.close()
    #expect(try bed.values() == before)
    #expect(try bed.names() == Bed.expected(6))
  }

  // MARK: Interrupted writers

  /// Writes in a transaction that doesn't fit into memory, and kills the process.
  private static func leaveHotJournal(_ path: String) throws {
    let connection = try Connection(
      path: path, access: .writing,
      options: .init(pragmas: [("journal_mode", "DELETE"), ("cache_size", "1")]))
    try connection.execute("BEGIN")
    try connection.execute("UPDATE ZPERSON SET ZNOTE = hex(zeroblob(3000)), ZAGE = 1")
    _ = Glibc.kill(getpid(), SIGKILL)
  }

  @Test(
    "A transaction that was interrupted is rolled back before the migration", arguments: [0, 1])
  func hotJournalsAreRolledBack(index: Int) async throws {
    let bed = try Bed(Self.scenarios[index])
    let before = try bed.values()
    let path = bed.store.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      try MigrationConditionsTests.leaveHotJournal(path)
    }
    #expect(try StoreFileInspection(path: path).journalIsHot)
    #expect(try bed.values() == before)
    #expect(try bed.names() == Bed.expected(6))
    let left = try MigrationScenario.withContext(MigrationScenario.version(2), bed.store) {
      try $0.all("Human").filter { $0.value(forKey: "age") as? Int == 1 }.count
    }
    // Persons 1 and 4 have the ages 1 and 4.
    #expect(left == 1)
    #expect(!FileManager.default.fileExists(atPath: path + "-journal"))
  }

  /// Saves a person into the WAL, and kills the process.
  private static func leaveLog(_ path: String) throws {
    try MigrationScenario.withContext(
      MigrationScenario.version(1), URL(fileURLWithPath: path),
      [NSPersistentHistoryTrackingKey: true]
    ) { context in
      _ = context.make("Person", ["name": "person 6", "age": 3])
      try context.save()
      _ = Glibc.kill(getpid(), SIGKILL)
    }
  }

  @Test(
    "Rows in a WAL that wasn't checkpointed are migrated, also without its index",
    arguments: [0, 1], [true, false])
  func rowsInTheLogAreMigrated(index: Int, hasIndex: Bool) async throws {
    let bed = try Bed(Self.scenarios[index])
    let path = bed.store.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      try MigrationConditionsTests.leaveLog(path)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")).count > 0)
    if !hasIndex { try FileManager.default.removeItem(atPath: path + "-shm") }
    #expect(try bed.names() == Bed.expected(7))
    let left = try FailureFixture.names(in: bed.folder)
    #expect(left.filter { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") } == [])
  }

  @Test("A rehearsal ends at its time limit, and its copy isn't migrated")
  func rehearsalEndsAtItsTimeLimit() throws {
    let store = try LightweightMigrationTests.store()
    let connection = try Connection(path: store.url.path, access: .writing)
    try connection.execute(
      "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
        + "INSERT INTO ZPERSON(Z_PK, Z_ENT, Z_OPT, ZNAME) "
        + "SELECT i, (SELECT Z_ENT FROM ZPERSON LIMIT 1), 1, 'a' FROM n")
    connection.close()
    let rows = try store.rows(of: "ZPERSON")
    let next = LightweightMigrationTests.model { person, _ in
      person.properties.removeAll { $0.name == "age" }
    }
    let error = thrownError {
      _ = try MigrationTrial(
        ofCopyAt: store.url,
        mapping: InferredMapping(from: LightweightMigrationTests.model(), to: next),
        limits: RehearsalLimits(seconds: 0))
    }
    #expect(error?.code == NSMigrationError)
    #expect(error?.localizedDescription.contains("the time limit is 0 s") == true)
    #expect(try store.rows(of: "ZPERSON") == rows)
  }

  @Test("A store that another process migrates first isn't migrated again")
  func migratedStoreIsNotMigratedAgain() throws {
    let store = try LightweightMigrationTests.store()
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: LightweightMigrationTests.model { person, _ in
        person.properties.append(
          LightweightMigrationTests.attribute("nickname", .stringAttributeType))
      })
    let options = MigratedStore.automatic
    var calls = 0
    let opened = try coordinator.migrating(store.url, .sqlite, nil, options) {
      isMigrated -> SQLiteStore in
      calls += 1
      do {
        return try SQLiteStore.open(
          at: store.url, configuration: nil, storeIndex: 0, options: options,
          model: coordinator.managedObjectModel, hub: EventHub(), isMigrated: isMigrated)
      } catch {
        // The other process is faster, and has closed the store.
        if calls == 1 {
          try store.migrate(to: coordinator.managedObjectModel)
          let connection = try Connection(path: store.url.path, access: .writing)
          defer { connection.close() }
          try connection.execute("UPDATE ZPERSON SET ZNICKNAME = 'new'")
        }
        throw error
      }
    }
    opened.close()
    #expect(calls == 2)
    #expect(
      try store.values("SELECT DISTINCT ZNICKNAME FROM ZPERSON") == [[.text("new")]])
  }

  /// Runs the work of another process once.
  private final class OtherProcess: Sendable {
    private let hasRun = Mutex(false)

    func run(_ work: () throws -> Void) {
      let isFirst = hasRun.withLock { hasRun -> Bool in
        defer { hasRun = true }
        return !hasRun
      }
      guard isFirst else { return }
      do { try work() } catch { Issue.record("\(error)") }
    }
  }

  private static func nicknamed() -> NSManagedObjectModel {
    LightweightMigrationTests.model { person, _ in
      person.properties.append(
        LightweightMigrationTests.attribute("nickname", .stringAttributeType))
    }
  }

  /// Opens a store with nicknames, which migrates it.
  private static func withPersons(
    _ url: URL, _ type: NSPersistentStore.StoreType, _ options: [AnyHashable: Any],
    log: MigrationDebugLog? = nil, _ body: ([NSManagedObject]) throws -> Void
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: nicknamed())
    let bundle = url.deletingLastPathComponent().appendingPathComponent("Bundle")
    coordinator.migrationBundles = [Bundle(path: bundle.path)].compactMap { $0 }
    coordinator.migrationLog = log
    let store = try coordinator.addPersistentStore(type: type, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      try body(context.all("Person", by: "name"))
      try context.save()
    }
    try coordinator.remove(store)
  }

  @Test(
    "A stage, or the migration of a document, that another process is done with isn't repeated",
    arguments: [NSPersistentStore.StoreType.sqlite, .xml, .binary])
  func stepOfAnotherProcessIsNotRepeated(type: NSPersistentStore.StoreType) throws {
    let folder = try ProcessFolder.makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("Store.data")
    let source = LightweightMigrationTests.model()
    let former = NSPersistentStoreCoordinator(managedObjectModel: source)
    let store = try former.addPersistentStore(type: type, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = former
    try context.performAndWait {
      _ = context.make("Person", ["name": "Ada"])
      try context.save()
    }
    try former.remove(store)
    // A document doesn't contain its model.
    let model = folder.appendingPathComponent("Bundle/Model.xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    try Data(ModelDocument.text(of: source).text.utf8).write(
      to: model.appendingPathComponent("contents"))

    var options = MigratedStore.automatic
    if type == .sqlite {
      options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([
        NSLightweightMigrationStage([source, Self.nicknamed()].map(\.versionChecksum))
      ])
    }
    let other = OtherProcess()
    let begin = type == .sqlite ? "inferred mapping, in place" : "so it's inferred"
    let log = MigrationDebugLog(level: 1) { line in
      guard line.contains(begin) else { return }
      other.run {
        try Self.withPersons(url, type, MigratedStore.automatic) { persons in
          for person in persons { person.setValue("new", forKey: "nickname") }
        }
      }
    }
    var names: [String] = []
    try Self.withPersons(url, type, options, log: log) { persons in
      names = persons.compactMap { $0.value(forKey: "nickname") as? String }
    }
    #expect(names == ["new"])
  }

  @Test("A migration with a mapping model reports that another process has migrated the store")
  func mappedMigrationOfAMigratedStoreIsReported() throws {
    let store = try LightweightMigrationTests.store()
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: store.url)
    try store.migrate(to: Self.nicknamed())
    let rows = try store.rows(of: "ZPERSON")
    let source = LightweightMigrationTests.model()
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: source, destinationModel: Self.nicknamed())
    var migration = MappedMigration(
      url: store.url, source: source, destination: Self.nicknamed(), mappings: [mapping],
      configuration: nil, options: nil)
    let plain = thrownError { try migration.run() }
    #expect(plain?.code == NSMigrationManagerSourceStoreError)
    migration.expectedHashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
    let compared = thrownError { try migration.run() }
    #expect(compared?.isOfMigrationElsewhere == true)
    #expect(try store.rows(of: "ZPERSON") == rows)
  }
}
