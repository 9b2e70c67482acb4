import Glibc
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Full disks")
struct FullDiskTests {
  private struct Unexpected: Error {
    let what: String
  }

  /// The limit for file sizes applies to a process, so the migration runs in its own.
  @Test("S-H04 a store that can't be moved is unchanged")
  func failedMigrationLeavesTheStoreUnchanged() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("FullDiskTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      try FullDiskTests.moveWithoutRoom(in: URL(fileURLWithPath: path))
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: path)
    #expect(left.contains("Store.sqlite") && left.allSatisfy { $0.hasPrefix("Store.sqlite") })
  }

  private static func moveWithoutRoom(in folder: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SchemaModels.library())
    let store = try coordinator.addPersistentStore(
      type: .sqlite, at: folder.appendingPathComponent("Store.sqlite"))
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    func add(_ name: String) throws {
      try context.performAndWait {
        NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
          .setValue(name, forKey: "name")
        try context.save()
      }
    }
    try add(String(repeating: "a", count: 400_000))
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit()
    getrlimit(.init(RLIMIT_FSIZE.rawValue), &limit)
    let unlimited = limit.rlim_cur
    limit.rlim_cur = 100_000
    setrlimit(.init(RLIMIT_FSIZE.rawValue), &limit)
    var failure: NSError?
    do {
      try coordinator.migratePersistentStore(
        store, to: folder.appendingPathComponent("Moved.sqlite"), type: .sqlite)
    } catch {
      failure = error as NSError
    }
    limit.rlim_cur = unlimited
    setrlimit(.init(RLIMIT_FSIZE.rawValue), &limit)
    guard let failure, failure.domain == NSCocoaErrorDomain else {
      throw Unexpected(what: "\(String(describing: failure))")
    }
    guard coordinator.persistentStores == [store] else { throw Unexpected(what: "another stack") }
    try add("b")
    let lengths = try context.performAndWait {
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
        .compactMap { ($0.value(forKey: "name") as? String)?.utf8.count }.sorted()
    }
    guard lengths == [1, 400_000] else { throw Unexpected(what: "\(lengths)") }
  }

  @Test("S-H04 a save on a full disk changes nothing and succeeds later")
  func saveOnAFullDiskChangesNothingAndSucceedsLater() throws {
    let stack = try TestStack(model: SchemaModels.library())
    let context = try stack.coldContext()
    let store = try #require(
      context.persistentStoreCoordinator?.persistentStores.first as? SQLiteStore)
    func names() throws -> [Int] {
      let cold = try stack.coldContext()
      return try cold.performAndWait {
        try cold.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
          .compactMap { ($0.value(forKey: "name") as? String)?.utf8.count }.sorted()
      }
    }
    let small = try context.performAndWait {
      let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
      tag.setValue("a", forKey: "name")
      try context.save()
      return tag
    }
    // The limit can't be below the number of pages, so the database is full.
    _ = try store.pool.withWriter { try $0.values("PRAGMA max_page_count = 1") }
    let large = context.performAndWait {
      small.setValue("bb", forKey: "name")
      let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
      tag.setValue(String(repeating: "c", count: 400_000), forKey: "name")
      let error = context.saveError()
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSSQLiteError)
      #expect(error?.userInfo[NSSQLiteErrorDomain] as? Int == Int(ResultCode.full.rawValue))
      #expect(context.insertedObjects == [tag] && context.updatedObjects == [small])
      #expect(tag.objectID.isTemporaryID)
      return tag
    }
    #expect(try names() == [1])
    _ = try store.pool.withWriter { try $0.values("PRAGMA max_page_count = 1000000") }
    try context.performAndWait {
      try context.save()
      #expect(!context.hasChanges && !large.objectID.isTemporaryID)
    }
    #expect(try names() == [2, 400_000])
  }

  @Test func failedReplaceKeepsTheExistingFiles() throws {
    let stack = try TestStack(model: SchemaModels.library())
    let source = stack.folder.appendingPathComponent("Source.sqlite")
    try Data("source".utf8).write(to: source)
    // A folder can't be replaced by a file.
    try FileManager.default.createDirectory(at: stack.storeURL, withIntermediateDirectories: true)
    try Data("log".utf8).write(to: URL(fileURLWithPath: stack.storeURL.path + "-wal"))
    let file = try ExternalStorage(storeURL: stack.storeURL).write(Data([1]))
    let before = try FileManager.default.contentsOfDirectory(atPath: stack.folder.path).sorted()
    #expect(throws: NSError.self) { try StoreFile.move(from: source, to: stack.storeURL) }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: stack.folder.path).sorted() == before)
    #expect(try ExternalStorage(storeURL: stack.storeURL).fileNames() == [file.name])
  }
}
