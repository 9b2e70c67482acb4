import OpenCoreData
import ProfileEvents
import Synchronization
import Testing

@testable import OpenCoreData

@Suite("Log of migrations")
struct MigrationLogTests {
  private typealias Sample = LightweightMigrationTests

  /// Collects the lines of a log.
  private final class Lines: Sendable {
    private let all = Mutex<[String]>([])
    func add(_ line: String) { all.withLock { $0.append(line) } }
    /// The lines without times and what's different in each run.
    func texts(_ store: MigratedStore) -> [String] {
      all.withLock { $0 }.map { line in
        line.replacingOccurrences(of: store.url.path, with: "STORE")
          .replacing(/[0-9]+\.[0-9]{4}s/, with: "TIME")
          .replacing(/version [^ ]*/, with: "version CHECKSUM")
          .replacing(/\.Store\.sqlite\.migrationdestination_[0-9a-f]{32}/, with: "NEW")
          .replacing(/to [^ ]*\/NEW/, with: "to NEW")
      }
    }
  }

  private static func next() -> NSManagedObjectModel {
    let model = Sample.model { person, _ in
      person.properties.append(
        Sample.attribute("rating", .integer16AttributeType, default: 3))
    }
    model.versionIdentifiers = ["2"]
    return model
  }

  private static func log(
    _ store: MigratedStore, _ level: Int, _ model: NSManagedObjectModel = next(),
    options: [AnyHashable: Any] = MigratedStore.automatic
  ) throws -> [String] {
    let lines = Lines()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    coordinator.migrationBundles = []
    coordinator.migrationLog = MigrationDebugLog(level: level) { lines.add($0) }
    // A store that can't be migrated isn't added; the log has the reason.
    _ = try? coordinator.addPersistentStore(type: .sqlite, at: store.url, options: options)
    try? coordinator.finishDeferredLightweightMigrationTask()
    return lines.texts(store)
  }

  @Test(
    "S14-27 The log has the versions, the mapping, and the result; nothing if it isn't requested")
  func levelsOfTheLog() throws {
    let store = try Sample.store()
    #expect(try Self.log(store, 0, Sample.model()).isEmpty)
    let begin = [
      "cdprof: migration: no mapping model in , so it's inferred",
      "cdprof: migration: store STORE",
      "cdprof: migration: from version CHECKSUM 2 entities",
      "cdprof: migration: to version CHECKSUM (2), 2 entities",
      "cdprof: migration: inferred mapping, in place",
    ]
    let steps = [
      "cdprof: migration: step: Person: add ZRATING: 0 rows, TIME",
      "cdprof: migration: sql: ALTER TABLE ZPERSON ADD COLUMN ZRATING INTEGER",
      "cdprof: migration: step: Person: set values: 3 rows, TIME",
      "cdprof: migration: sql: UPDATE ZPERSON SET ZRATING = 3 WHERE ZRATING IS NOT 3",
    ]
    let end = ["cdprof: migration: complete: TIME"]
    #expect(try Self.log(store, 1) == begin + end)
    #expect(try Self.log(Sample.store(), 0).isEmpty)
    let second = try Sample.store()
    #expect(try Self.log(second, 2) == begin + [steps[0], steps[2]] + end)
    let third = try Sample.store()
    #expect(try Self.log(third, 3) == begin + steps + end)
    // A store of the same version isn't migrated.
    #expect(try Self.log(third, 3).isEmpty)
  }

  @Test("A migration that fails logs the reason")
  func failuresAreLogged() throws {
    let store = try Sample.store()
    let text = Sample.model { person, _ in
      Sample.replace("age", of: person, by: Sample.attribute("age", .stringAttributeType))
    }
    let refused = try Self.log(store, 1, text)
    #expect(refused.count == 2)
    #expect(refused[1].contains("STORE isn't migrated"))
    #expect(refused[1].contains("Person.age"))
    let required = Sample.model { person, _ in
      Sample.replace(
        "age", of: person, by: Sample.attribute("age", .integer16AttributeType, isOptional: false))
    }
    let failed = try Self.log(store, 1, required)
    #expect(failed.contains { $0.contains("failed: ") && $0.contains("1 object has no value") })
  }

  @Test("Deferred work is logged when it's deferred and when it's done")
  func deferredWorkIsLogged() throws {
    let store = try Sample.store()
    let without = Sample.model { person, _ in
      person.properties.removeAll { $0.name == "age" }
    }
    let lines = try Self.log(
      store, 2, without,
      options: MigratedStore.automatic.merging(DeferredMigrationTests.deferred) { $1 })
    #expect(lines.contains("cdprof: migration: deferred: remove columns and indexes of ZPERSON"))
    #expect(lines.contains { $0.contains("STORE: a unit of deferred work") })
    #expect(lines.contains("cdprof: migration: step: Person: copy the rows: 3 rows, TIME"))
  }

  @Test("A manager logs each entity mapping in each pass, with its instances")
  func passesAreLogged() throws {
    let store = try Sample.store()
    let lines = Lines()
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: Sample.model(), destinationModel: Self.next())
    try MappedMigration(
      url: store.url, source: Sample.model(), destination: Self.next(), mappings: [mapping],
      configuration: nil, options: nil, hub: EventHub(),
      log: MigrationDebugLog(level: 2) { lines.add($0) }
    ).run()
    var expected = [
      "cdprof: migration: store STORE", "cdprof: migration: from version CHECKSUM 2 entities",
      "cdprof: migration: to version CHECKSUM (2), 2 entities",
      "cdprof: migration: mapping model with 2 entity mappings, to NEW.sqlite",
    ]
    for pass in ["create instances", "create relationships", "validate"] {
      expected.append("cdprof: migration: step: IEM_Copy_City: \(pass): 1 rows, TIME")
      expected.append("cdprof: migration: step: IEM_Transform_Person: \(pass): 3 rows, TIME")
    }
    expected.append("cdprof: migration: complete: TIME")
    #expect(lines.texts(store) == expected)
  }

  @Test(
    "The level is that of Apple's argument",
    arguments: [
      (["-com.apple.CoreData.MigrationDebug", "2"], 2),
      (["run", "-com.apple.CoreData.MigrationDebug", "x"], 0),
      (["-com.apple.CoreData.MigrationDebug"], 0), (["-com.apple.CoreData.SQLDebug", "3"], 0),
    ])
  func levelIsRead(arguments: [String], level: Int) {
    #expect(MigrationDebugLog.level(in: arguments) == level)
    #expect((MigrationDebugLog(level: level) { _ in } == nil) == (level == 0))
  }
}
