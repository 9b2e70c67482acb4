import FailingFiles
import OpenCoreData
import SQLiteDriver
import Synchronization
import Testing

@testable import OpenCoreData

@Suite(
  "Failures while stores are converted, moved, replaced, and destroyed",
  .enabled(if: FailingFiles.isAvailable, "The sanitizers replace the functions."))
struct StoreFileFailureTests {
  private static func store(_ folder: URL) -> URL { MigrationScenario.store(in: folder) }

  private static func other(_ folder: URL) -> URL {
    folder.appendingPathComponent("Other.sqlite")
  }

  private static func add(
    _ url: URL, _ type: NSPersistentStore.StoreType = .sqlite
  ) throws -> (context: NSManagedObjectContext, store: NSPersistentStore) {
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: MigrationScenario.version(1))
    let store = try coordinator.addPersistentStore(
      type: type, at: url, options: [NSPersistentStoreTimeoutOption: 0.1])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return (context, store)
  }

  private static func contents(
    _ url: URL, _ type: NSPersistentStore.StoreType = .sqlite
  ) throws -> [String: [String]] {
    let (context, _) = try add(url, type)
    defer { StoreWork.close(context) }
    // Documents don't have derived values.
    return try content(of: context, leavingOut: ["residentCount"])
  }

  /// Copies a store to another type; a failure before it's open isn't reported.
  private static func convert(_ folder: URL, _ type: NSPersistentStore.StoreType) throws {
    let (context, former) = try add(store(folder))
    defer { StoreWork.close(context) }
    let coordinator = try #require(context.persistentStoreCoordinator)
    do {
      let new = try coordinator.migratePersistentStore(former, to: other(folder), type: type)
      #expect(coordinator.persistentStores == [new])
    } catch {
      #expect(coordinator.persistentStores == [former])
      throw error
    }
  }

  @Test(
    "S-H03 A failed conversion leaves the store and what was at the URL; the next one succeeds",
    arguments: [NSPersistentStore.StoreType.sqlite, .xml, .binary], [false, true])
  func failedConversionLeavesBothStores(
    type: NSPersistentStore.StoreType, replaces: Bool
  ) throws {
    let fixture = try FailureFixture()
    try MigrationScenario.create(Self.store(fixture.template), persons: 6)
    let before = try Self.contents(Self.store(fixture.template))
    var replaced: [String: [String]]?
    if replaces {
      let (context, _) = try Self.add(Self.other(fixture.template), type)
      try context.performAndWait {
        let photo = Data(repeating: 1, count: 110_000)
        _ = context.make("Person", ["name": "replaced", "photo": photo])
        try context.save()
      }
      StoreWork.close(context)
      replaced = try Self.contents(Self.other(fixture.template), type)
    }
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) {
      try Self.convert($0, type)
    }
    let converted = try sweep.withoutFailure().folder
    let names = try FailureFixture.names(in: converted)
    for cause in FailingFiles.Cause.allCases {
      try sweep.run(cause) { attempt in
        let name = "\(type.rawValue), \(attempt.description)"
        if let error = attempt.error {
          FailureFixture.check(error, name)
          // The temporary copies are gone.
          let message = error.localizedDescription
          #expect(!message.contains("cdprof-scratch-"), "\(name): \(message)")
          #expect(!message.contains("migrationdestination_"), "\(name): \(message)")
        }
        do {
          #expect(try Self.contents(Self.store(attempt.folder)) == before, "\(name)")
          let target = Self.other(attempt.folder)
          if FileManager.default.fileExists(atPath: target.path) {
            let found = try Self.contents(target, type)
            #expect(found == before || attempt.error != nil && found == replaced, "\(name)")
          } else {
            #expect(attempt.error != nil && !replaces, "\(name)")
          }
          try Self.convert(attempt.folder, type)
          #expect(try Self.contents(target, type) == before, "\(name)")
          #expect(try FailureFixture.names(in: attempt.folder) == names, "\(name)")
        } catch {
          Issue.record("\(name): \(error)")
        }
      }
    }
  }

  @Test("A failed replacement leaves the old or the new store; the next one succeeds")
  func failedReplacementLeavesAStore() throws {
    let fixture = try FailureFixture()
    try MigrationScenario.create(Self.store(fixture.template), persons: 6)
    try MigrationScenario.create(Self.other(fixture.template), persons: 3)
    let contents = try (
      old: Self.contents(Self.store(fixture.template)),
      new: Self.contents(Self.other(fixture.template))
    )
    func replace(_ folder: URL) throws {
      try NSPersistentStoreCoordinator(managedObjectModel: MigrationScenario.version(1))
        .replacePersistentStore(
          at: Self.store(folder), withPersistentStoreFrom: Self.other(folder), type: .sqlite)
    }
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch, replace)
    let names = try FailureFixture.names(in: sweep.withoutFailure().folder)
    for cause in FailingFiles.Cause.allCases {
      try sweep.run(cause) { attempt in
        let name = attempt.description
        if let error = attempt.error { FailureFixture.check(error, name) }
        do {
          let found = try Self.contents(Self.store(attempt.folder))
          #expect(found == contents.new || attempt.error != nil && found == contents.old, "\(name)")
          #expect(try Self.contents(Self.other(attempt.folder)) == contents.new, "\(name)")
          try replace(attempt.folder)
          #expect(try Self.contents(Self.store(attempt.folder)) == contents.new, "\(name)")
          #expect(try FailureFixture.names(in: attempt.folder) == names, "\(name)")
          #expect(try FailureFixture.findings(Self.store(attempt.folder)) == [], "\(name)")
        } catch {
          Issue.record("\(name): \(error)")
        }
      }
    }
  }

  @Test("A store that a failed move doesn't replace keeps the rows in its WAL")
  func failedMoveKeepsTheRowsInTheWAL() throws {
    let fixture = try FailureFixture()
    let store = Self.store(fixture.template)
    try MigrationScenario.create(store, persons: 6)
    try MigrationScenario.create(Self.other(fixture.template), persons: 3)
    let new = try Self.contents(Self.other(fixture.template))
    let files = ["", "-wal"].map { URL(fileURLWithPath: store.path + $0) }
    let (context, _) = try Self.add(store)
    try context.performAndWait {
      _ = context.make("Person", ["name": "in the WAL"])
      try context.save()
    }
    // As a process leaves them that's killed.
    let bytes = try files.map { try Data(contentsOf: $0) }
    StoreWork.close(context)
    let old = try Self.contents(store)
    for (file, bytes) in zip(files, bytes) { try bytes.write(to: file) }
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
      try StoreFile.move(from: Self.other(folder), to: Self.store(folder))
    }
    try sweep.run(.inputOutput, failing: [.rename], limit: .max) { attempt in
      let found = try Self.contents(Self.store(attempt.folder))
      #expect(found == (attempt.error == nil ? new : old), "\(attempt.description)")
    }
  }

  @Test("A store whose new name can't be synced to disk is complete, and the error says so")
  func unsyncedNamesAreErrors() throws {
    let fixture = try FailureFixture()
    try MigrationScenario.create(Self.store(fixture.template), persons: 6)
    try MigrationScenario.create(Self.other(fixture.template), persons: 3)
    let old = try Self.contents(Self.store(fixture.template))
    let new = try Self.contents(Self.other(fixture.template))
    func check(
      _ name: String, _ former: [String: [String]]?, _ move: @escaping (URL, URL) throws -> Void
    ) throws {
      let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
        try move(Self.other(folder), folder.appendingPathComponent(name))
      }
      var unsynced = 0
      try sweep.run(.inputOutput, failing: [.sync], limit: .max) { attempt in
        let target = attempt.folder.appendingPathComponent(name)
        let isThere = attempt.error.map { ($0 as NSError).isOfUnsyncedFile } ?? true
        if isThere, let error = attempt.error {
          unsynced += 1
          FailureFixture.check(error, attempt.description)
        }
        guard isThere || former != nil else {
          #expect(!FileManager.default.fileExists(atPath: target.path), "\(attempt.description)")
          return
        }
        let found = try Self.contents(target)
        #expect(found == (isThere ? new : former), "\(attempt.description)")
        #expect(try FailureFixture.findings(target) == [], "\(attempt.description)")
      }
      // Once alone, and once with everything after it.
      #expect(unsynced == 2, "\(name)")
    }
    try check("Store.sqlite", old) { try StoreFile.move(from: $0, to: $1) }
    try check("New.sqlite", nil) { try StoreFile.place($0, at: $1) }
  }

  @Test(
    "On a file system without links, the copy of an old store is synced before it's replaced",
    arguments: [NSPersistentStore.StoreType.sqlite, .xml])
  func copyOfAnOldStoreIsSynced(type: NSPersistentStore.StoreType) throws {
    let source = LightweightMigrationTests.model()
    let destination = LightweightMigrationTests.model { person, _ in
      person.properties.append(
        LightweightMigrationTests.attribute("nickname", .stringAttributeType))
    }
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: source, destinationModel: destination)
    func syncs(hasLinks: Bool) throws -> Int {
      let folder = try ProcessFolder.makeFolder()
      defer { try? FileManager.default.removeItem(at: folder) }
      let url = folder.appendingPathComponent("Store.data")
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: source)
      try coordinator.addPersistentStore(type: type, at: url)
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        _ = context.make("Person", ["name": "Ada"])
        try context.save()
      }
      StoreWork.close(context)
      let migration = MappedMigration(
        url: url, source: source, destination: destination, mappings: [mapping],
        configuration: nil, options: nil, type: type)
      func migrate() throws {
        if hasLinks { return try migration.run() }
        let failure = FailingFiles.Failure(.denied, at: 1, isPermanent: true)
        try FailingFiles.run(below: folder, counting: [.link], failure: failure) {
          try migration.run()
        }.result.get()
      }
      let (result, report) = FailingFiles.run(below: folder, counting: [.sync], migrate)
      try result.get()
      #expect(FileManager.default.fileExists(atPath: migration.oldFile().path))
      return report.counts[.sync] ?? 0
    }
    let counts = try (copied: syncs(hasLinks: false), linked: syncs(hasLinks: true))
    #expect(counts.copied == counts.linked + 1)
  }

  @Test("A store whose destruction fails has all of its values, or is gone; the next one ends it")
  func failedDestructionIsCompleted() throws {
    let fixture = try FailureFixture()
    try MigrationScenario.create(Self.store(fixture.template), persons: 6)
    let before = try Self.contents(Self.store(fixture.template))
    func destroy(_ folder: URL) throws {
      try NSPersistentStoreCoordinator(managedObjectModel: MigrationScenario.version(1))
        .destroyPersistentStore(at: Self.store(folder), type: .sqlite)
    }
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch, destroy)
    for cause in [FailingFiles.Cause.inputOutput, .denied, .readOnly] {
      try sweep.run(cause, limit: max(FailingFiles.limit, 8)) { attempt in
        let name = attempt.description
        do {
          if let error = attempt.error {
            FailureFixture.check(error, name)
            if FileManager.default.fileExists(atPath: Self.store(attempt.folder).path) {
              #expect(try Self.contents(Self.store(attempt.folder)) == before, "\(name)")
            }
            try destroy(attempt.folder)
          }
          #expect(try FailureFixture.names(in: attempt.folder) == [], "\(name)")
        } catch {
          Issue.record("\(name): \(error)")
        }
      }
    }
  }
}
