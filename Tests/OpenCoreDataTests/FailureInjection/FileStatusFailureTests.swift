import FailingFiles
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData
@testable import SQLiteDriver

@Suite(
  "Attributes of files that can't be read",
  .enabled(if: FailingFiles.isAvailable, "The sanitizers replace the functions."))
struct FileStatusFailureTests {
  private static let limit = max(FailingFiles.limit, 12)

  private static func store(_ folder: URL) -> URL { MigrationScenario.store(in: folder) }

  private static func contents(_ url: URL) throws -> [String: [String]] {
    try MigrationScenario.withContext(MigrationScenario.version(1), url) {
      try content(of: $0)
    }
  }

  @Test("An external data file whose attributes can't be read isn't left out of a copy")
  func externalFilesAreCopiedOrTheCopyFails() throws {
    let fixture = try FailureFixture()
    let source = Self.store(fixture.template)
    for byte: UInt8 in 1...3 {
      try ExternalStorage(storeURL: source).write(Data(repeating: byte, count: 100))
    }
    let names = try ExternalStorage(storeURL: source).fileNames()
    func other(_ folder: URL) -> URL { folder.appendingPathComponent("Other.sqlite") }
    let copies: [(URL) throws -> Void] = [
      { try StoreFile.copyExternalFiles(from: Self.store($0), to: other($0)) },
      {
        try ExternalStorage(storeURL: Self.store($0))
          .shareFiles(with: ExternalStorage(storeURL: other($0)))
      },
    ]
    for copy in copies {
      let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch, copy)
      let attempts = try sweep.run(.inputOutput, failing: [.status], limit: .max) { attempt in
        guard attempt.error == nil else { return }
        let copied = try ExternalStorage(storeURL: other(attempt.folder)).fileNames()
        #expect(copied == names, "\(attempt.description)")
      }
      // One for each file, once and permanently.
      #expect(attempts >= 2 * names.count)
    }
  }

  @Test("A replacement leaves the old or the new store")
  func replacementLeavesAStore() throws {
    let fixture = try FailureFixture()
    func other(_ folder: URL) -> URL { folder.appendingPathComponent("Other.sqlite") }
    try MigrationScenario.create(Self.store(fixture.template), persons: 6)
    try MigrationScenario.create(other(fixture.template), persons: 3)
    let contents = try (
      old: Self.contents(Self.store(fixture.template)), new: Self.contents(other(fixture.template))
    )
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
      try NSPersistentStoreCoordinator(managedObjectModel: MigrationScenario.version(1))
        .replacePersistentStore(
          at: Self.store(folder), withPersistentStoreFrom: other(folder), type: .sqlite)
    }
    try sweep.run(.inputOutput, failing: [.status], limit: Self.limit) { attempt in
      let name = attempt.description
      let found = try Self.contents(Self.store(attempt.folder))
      #expect(found == contents.new || attempt.error != nil && found == contents.old, "\(name)")
      #expect(try Self.contents(other(attempt.folder)) == contents.new, "\(name)")
      #expect(try FailureFixture.findings(Self.store(attempt.folder)) == [], "\(name)")
    }
  }

  @Test("A destruction removes all files, or reports an error, and the next one ends it")
  func destructionIsCompleted() throws {
    let fixture = try FailureFixture()
    try MigrationScenario.create(Self.store(fixture.template), persons: 6)
    func destroy(_ folder: URL) throws {
      try NSPersistentStoreCoordinator(managedObjectModel: MigrationScenario.version(1))
        .destroyPersistentStore(at: Self.store(folder), type: .sqlite)
    }
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch, destroy)
    try sweep.run(.inputOutput, failing: [.status], limit: Self.limit) { attempt in
      let name = attempt.description
      if attempt.error != nil { try destroy(attempt.folder) }
      #expect(try FailureFixture.names(in: attempt.folder) == [], "\(name)")
    }
  }

  @Test("A folder that can't be listed loses no external data of a store with another extension")
  func destructionKeepsDataOfOthers() throws {
    let fixture = try FailureFixture()
    func other(_ folder: URL) -> URL { folder.appendingPathComponent("Store.database") }
    try MigrationScenario.create(other(fixture.template), persons: 6)
    let before = try Self.contents(other(fixture.template))
    for number in 1...4 {
      let folder = fixture.scratch.appendingPathComponent("\(number)")
      try FileManager.default.copyItem(at: fixture.template, to: folder)
      let (result, _) = FailingFiles.run(
        below: FileManager.default.temporaryDirectory, counting: [.list],
        failure: .init(.inputOutput, at: number)
      ) {
        try NSPersistentStoreCoordinator(managedObjectModel: MigrationScenario.version(1))
          .destroyPersistentStore(at: Self.store(folder), type: .sqlite)
      }
      #expect(throws: NSError.self) { try result.get() }
      #expect(try Self.contents(other(folder)) == before, "\(number)")
    }
  }

  @Test(
    "A document whose attributes can't be read isn't replaced by a new one",
    arguments: [NSPersistentStore.StoreType.xml, .binary])
  func documentIsNotReplacedByANewOne(type: NSPersistentStore.StoreType) throws {
    let fixture = try FailureFixture()
    let work = StoreWork(testDescription: type.rawValue, type: type)
    try work.create(in: fixture.template)
    let before = try work.content(fixture.template)
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
      StoreWork.close(try work.open(folder))
    }
    let attempts = try sweep.run(.inputOutput, failing: [.status], limit: .max) { attempt in
      if let error = attempt.error { FailureFixture.check(error, attempt.description) }
      let content = try work.content(attempt.folder)
      #expect(content == before, "\(attempt.description)")
    }
    #expect(attempts >= 2)
  }

  @Test(
    "A save of a document keeps the file's permissions, and the next save succeeds",
    arguments: [NSPersistentStore.StoreType.xml, .binary])
  func savedDocumentKeepsItsPermissions(type: NSPersistentStore.StoreType) throws {
    let fixture = try FailureFixture()
    let work = StoreWork(testDescription: type.rawValue, type: type)
    try work.create(in: fixture.template)
    func rename(_ context: NSManagedObjectContext, to name: String) throws {
      let cities = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "City"))
      for city in cities { city.setValue(name, forKey: "name") }
    }
    func names(_ folder: URL) throws -> [String?] {
      let context = try work.open(folder)
      defer { StoreWork.close(context) }
      return try context.performAndWait {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "City"))
          .map { $0.value(forKey: "name") as? String }
      }
    }
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
      let file = folder.appendingPathComponent(work.fileName)
      guard chmod(file.path, 0o600) == 0 else { throw FileProblem(errno) }
      let context = try work.open(folder)
      try context.performAndWait { try rename(context, to: "first") }
      return context
    } _: { context in
      try context.performAndWait { try context.save() }
    }
    let attempts = try sweep.run(.inputOutput, failing: [.status], limit: .max) { attempt in
      let (name, context) = (attempt.description, attempt.prepared)
      defer { StoreWork.close(context) }
      let saved = try names(attempt.folder)
      #expect(attempt.error != nil || saved == ["first", "first"], "\(name)")
      do {
        try context.performAndWait {
          try rename(context, to: "second")
          try context.save()
        }
      } catch {
        Issue.record("\(name): \(error)")
      }
      #expect(try names(attempt.folder) == ["second", "second"], "\(name)")
      var info = stat()
      let path = attempt.folder.appendingPathComponent(work.fileName).path
      #expect(stat(path, &info) == 0 && info.st_mode & 0o777 == 0o600, "\(name)")
    }
    #expect(attempts >= 2)
  }

  /// Renames all cities.
  private static func rename(_ context: NSManagedObjectContext, to name: String) throws {
    try context.performAndWait {
      let cities = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "City"))
      for city in cities { city.setValue(name, forKey: "name") }
    }
  }

  @Test("A document's link is kept by a save, which changes its target or fails")
  func savedDocumentKeepsItsLink() throws {
    let fixture = try FailureFixture()
    let work = StoreWork(testDescription: "XML", type: .xml)
    try work.create(in: fixture.template)
    let link = fixture.template.appendingPathComponent(work.fileName).path
    try FileManager.default.moveItem(atPath: link, toPath: link + ".target")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: work.fileName + ".target")
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) {
      (folder: URL) throws -> NSManagedObjectContext in
      let context = try work.open(folder)
      try Self.rename(context, to: "new")
      return context
    } _: { (context: NSManagedObjectContext) in
      try context.performAndWait { try context.save() }
    }
    let attempts = try sweep.run(.inputOutput, failing: [.status], limit: .max) { attempt in
      StoreWork.close(attempt.prepared)
      let path = attempt.folder.appendingPathComponent(work.fileName).path
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
      #expect(target == work.fileName + ".target", "\(attempt.description)")
      guard attempt.error == nil else { return }
      let content = try work.content(attempt.folder)
      #expect(content["City"]?.allSatisfy { $0.contains("name: new") } == true)
    }
    #expect(attempts > 2)
  }

  @Test("A temporary folder that can't be listed to its end is recognized, and removed later")
  func unlistedTemporaryFolderKeepsItsMark() throws {
    let fixture = try FailureFixture()
    let parent = fixture.scratch
    // Names are listed in any order.
    for number in 0..<24 {
      let folder = try TemporaryFolders.make(outside: nil, in: [parent.path])
      for name in ["a", "b"] { try Data().write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
      let (_, report) = FailingFiles.run(
        below: parent, counting: [.list],
        failure: .init(.inputOutput, at: number % 3 + 1, isPermanent: true)
      ) { TemporaryFolders.remove(folder) }
      #expect(report.failures > 1)
      #expect(FileManager.default.fileExists(atPath: folder + "/.cdprof-scratch"), "\(number)")
      try FileManager.default.removeItem(atPath: folder)
    }
  }

  @Test(
    "A temporary folder is removed although an operation fails once",
    arguments: [FailingFiles.Kind.list, .remove])
  func temporaryFolderIsRemovedAfterAFailure(kind: FailingFiles.Kind) throws {
    let fixture = try FailureFixture()
    for number in 1...2 {
      let folder = try TemporaryFolders.make(outside: nil, in: [fixture.scratch.path])
      for name in ["a", "b"] { try Data().write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
      let (_, report) = FailingFiles.run(
        below: fixture.scratch, counting: [kind], failure: .init(.inputOutput, at: number)
      ) { TemporaryFolders.remove(folder) }
      #expect(report.failures == 1)
      #expect(!FileManager.default.fileExists(atPath: folder), "\(number)")
    }
  }

  @Test("A database is read through a link with its WAL, or isn't read")
  func linkedDatabaseIsReadWithItsWAL() throws {
    let fixture = try FailureFixture()
    let original = fixture.scratch.appendingPathComponent("original.sqlite").path
    let writer = try Connection(path: original, access: .writing)
    defer { writer.close() }
    try writer.execute("CREATE TABLE t(a)")
    _ = try writer.values("PRAGMA wal_checkpoint(TRUNCATE)")
    try writer.execute("INSERT INTO t VALUES(1)")
    let folder = fixture.template.appendingPathComponent("Folder")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(
        atPath: original + suffix, toPath: folder.path + "/Target.sqlite" + suffix)
    }
    try FileManager.default.createSymbolicLink(
      atPath: fixture.template.path + "/Link.sqlite", withDestinationPath: "Folder/Target.sqlite")
    var rows: [[SQLiteValue]] = []
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
      let connection = try Connection(path: folder.path + "/Link.sqlite", access: .inspecting)
      defer { connection.close() }
      rows = try connection.values("SELECT a FROM t")
    }
    let attempts = try sweep.run(.inputOutput, failing: [.status], limit: .max) { attempt in
      #expect(attempt.error != nil || rows == [[.integer(1)]], "\(attempt.description)")
    }
    #expect(attempts > 2)
  }

  @Test("A store that can't be copied into memory stays open, with all of its values")
  func copyInMemoryHasAllValues() throws {
    let fixture = try FailureFixture()
    try MigrationScenario.create(Self.store(fixture.template), persons: 6)
    let before = try Self.contents(Self.store(fixture.template))
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
      let coordinator = NSPersistentStoreCoordinator(
        managedObjectModel: MigrationScenario.version(1))
      try coordinator.addPersistentStore(type: .sqlite, at: Self.store(folder))
      return coordinator
    } _: { (coordinator: NSPersistentStoreCoordinator) in
      _ = try coordinator.migratePersistentStore(
        coordinator.persistentStores[0], to: URL(fileURLWithPath: "/dev/null"), type: .sqlite)
    }
    // Each external data file is opened once.
    let all: [(kind: FailingFiles.Kind, limit: Int)] = [(.readOpen, .max), (.status, Self.limit)]
    var errors = 0
    for (kind, limit) in all {
      try sweep.run(.inputOutput, failing: [kind], limit: limit) { attempt in
        let (name, coordinator) = (attempt.description, attempt.prepared)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        defer { StoreWork.close(context) }
        if let error = attempt.error {
          let error = error as NSError
          #expect(error.domain == NSCocoaErrorDomain && error.code > 0, "\(name): \(error)")
          let url = coordinator.persistentStores.first?.url
          #expect(url?.path == Self.store(attempt.folder).path, "\(name)")
          errors += 1
        }
        let content = try content(of: context)
        #expect(content == before, "\(name)")
      }
    }
    #expect(errors > 0)
  }

  @Test(
    "A migration leaves the old or the new version",
    arguments: [MigrationScenario.inPlace, .mapped])
  func migrationLeavesAVersion(scenario: MigrationScenario) throws {
    let fixture = try MigrationFailureFixture(scenario)
    try fixture.sweep.run(.inputOutput, failing: [.status], limit: Self.limit) { attempt in
      let name = "\(scenario.testDescription), \(attempt.description)"
      do {
        try fixture.check(attempt.folder, isComplete: attempt.error == nil, name)
      } catch {
        Issue.record("\(name): \(error)")
      }
    }
  }
}
