import ManagedModel
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Kills during a migration")
struct MigrationCrashTests {
  private static func next() -> NSManagedObjectModel {
    LightweightMigrationTests.model { person, city in
      person.properties.removeAll { $0.name == "age" }
      city.properties.append(
        LightweightMigrationTests.attribute("area", .doubleAttributeType, default: 1.5))
      (city.name, city.renamingIdentifier) = ("Town", "City")
    }
  }

  /// Migrates a store, and kills the process after a number of statements.
  private static func migrate(_ url: URL, killedAfter place: Int) throws {
    var migration = LightweightMigration(
      url: url, mapping: InferredMapping(from: LightweightMigrationTests.model(), to: next()),
      configuration: nil, options: nil, hub: EventHub())
    migration.progress = { completed, _ in
      if completed == place { _ = Glibc.kill(getpid(), SIGKILL) }
    }
    try migration.run()
  }

  /// Migrates a store with a mapping model, and kills the process when a part is complete.
  private static func migrateWithMapping(_ url: URL, killedAfter part: Int) throws {
    let (before, after) = (LightweightMigrationTests.model(), next())
    var calls = 0
    let migration = MappedMigration(
      url: url, source: before, destination: after,
      mappings: [
        try NSMappingModel.inferredMappingModel(forSourceModel: before, destinationModel: after)
      ], configuration: nil, options: nil, hub: EventHub(),
      report: { _ in
        if calls == part { _ = Glibc.kill(getpid(), SIGKILL) }
        calls += 1
      })
    try migration.run()
  }

  @Test("A process that's killed during a mapped migration leaves the old version, and no remains")
  func killedMappedMigrationLeavesTheOldVersion() async throws {
    let store = try LightweightMigrationTests.store()
    let rows = try store.rows(of: "ZPERSON")
    let path = store.url.path
    // Three passes over two mappings, and the end.
    for part in 0...6 {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, part = part as Int] in
        try MigrationCrashTests.migrateWithMapping(URL(fileURLWithPath: path), killedAfter: part)
      }
      #expect(try store.rows(of: "ZPERSON") == rows)
    }
    try Self.migrateWithMapping(store.url, killedAfter: -1)
    #expect(try store.values("PRAGMA integrity_check") == [[.text("ok")]])
    #expect(try store.values("SELECT ZNAME, ZAREA FROM ZTOWN") == [[.text("London"), .real(1.5)]])
    #expect(try Set(store.contents().keys) == ["Store.sqlite", "Store~.sqlite"])
  }

  @Test(
    "M-26 A process that's killed before any statement leaves the old version, which is then migrated"
  )
  func killLeavesTheOldVersion() async throws {
    let store = try LightweightMigrationTests.store()
    let rows = try (store.rows(of: "ZPERSON"), store.rows(of: "ZCITY"))
    var total = 0
    var counted = LightweightMigration(
      url: store.url,
      mapping: InferredMapping(from: LightweightMigrationTests.model(), to: Self.next()),
      configuration: nil, options: nil, hub: EventHub())
    struct Stop: Error {}
    counted.progress = {
      total = $1
      throw Stop()
    }
    #expect(throws: Stop.self) { try counted.run() }
    let path = store.url.path
    for place in 0...total {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, place = place as Int] in
        try MigrationCrashTests.migrate(URL(fileURLWithPath: path), killedAfter: place)
      }
      #expect(try store.rows(of: "ZPERSON") == rows.0)
      #expect(try store.rows(of: "ZCITY") == rows.1)
    }
    try store.migrate(to: Self.next())
    #expect(try store.values("PRAGMA integrity_check") == [[.text("ok")]])
    #expect(try store.values("SELECT ZNAME, ZAREA FROM ZTOWN") == [[.text("London"), .real(1.5)]])
    #expect(try store.values("SELECT COUNT(*) FROM ZPERSON") == [[.integer(3)]])
  }

  // MARK: Random times

  /// Migrates a store, and kills the process at a random time.
  private static func migrateUntilKilled(_ scenario: MigrationScenario, in folder: URL) throws {
    // A migration of a copy takes about as long.
    let copy = folder.appendingPathExtension("copy")
    try FileManager.default.copyItem(at: folder, to: copy)
    let start = MonotonicClock.now()
    try scenario.migrate(MigrationScenario.store(in: copy))
    let duration = (MonotonicClock.now() - start) / 1_000
    try FileManager.default.removeItem(at: copy)
    let delay = UInt32.random(in: 0...UInt32(duration))
    Thread.detachNewThread {
      usleep(delay)
      _ = Glibc.kill(getpid(), SIGKILL)
    }
    try scenario.migrate(MigrationScenario.store(in: folder))
    while true { pause() }
  }

  @Test(
    "S-H08 A process that's killed at any time leaves a version, which is then migrated, and no remains",
    arguments: MigrationFailureTests.scenarios.indices)
  func killsAtRandomTimesLeaveAVersion(index: Int) async throws {
    let scenario = MigrationFailureTests.scenarios[index]
    let scenarios = MigrationFailureTests.scenarios.count
    let kills = max(CrashTests.kills / scenarios, 1)
    for (place, persons) in [10, 60, 300].enumerated() where place < kills {
      let bed = try MigrationFailureFixture(scenario, persons: persons)
      for kill in stride(from: place, to: kills, by: 3) {
        let folder = bed.scratch.appendingPathComponent(UUID().uuidString)
        try FileManager.default.copyItem(at: bed.template, to: folder)
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [path = path as String, index = index as Int] in
          try MigrationCrashTests.migrateUntilKilled(
            MigrationFailureTests.scenarios[index], in: URL(fileURLWithPath: path))
        }
        try bed.check(
          folder, isComplete: false, "\(scenario.testDescription), \(persons), kill \(kill)")
        try FileManager.default.removeItem(at: folder)
        try? FileManager.default.removeItem(at: folder.appendingPathExtension("copy"))
      }
    }
  }
}
