import Glibc
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// Processes that save until they kill themselves at a random time.
///
/// `CDPROF_KILLS=200` runs 200 of them; the default is 4.
@Suite("Processes killed while they save")
struct CrashTests {
  static let kills = ProcessInfo.processInfo.environment["CDPROF_KILLS"].flatMap(Int.init) ?? 4
  /// Rows of one save.
  static let rows = 40

  @Test("S16-1 saves are durable and atomic")
  func savesOfKilledProcessesAreDurableAndAtomic() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("CrashTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.path
    var last = 0
    for _ in 0..<CrashTests.kills {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        try CrashTests.saveUntilKilled(in: URL(fileURLWithPath: path))
      }
      last = try check(folder, after: last)
    }
    #expect(last > 0, "nothing was saved before the first kill")
  }

  @Test(
    "A file without tables, as a process leaves it that's killed while it creates a store, is a new store",
    arguments: [true, false])
  func fileWithoutTablesIsANewStore(migratesAutomatically: Bool) throws {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("CrashTests-\(UUID().uuidString).sqlite")
    defer {
      for suffix in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: url.path + suffix)
      }
    }
    var options = Connection.Options()
    options.pragmas = SchemaBuilder.newFilePragmas
    try Connection(path: url.path, access: .writing, options: options).close()
    let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int
    #expect(size == 4_096)
    let description = NSPersistentStoreDescription(url: url)
    description.shouldMigrateStoreAutomatically = migratesAutomatically
    let container = NSPersistentContainer(name: "Items", managedObjectModel: SavingModels.items())
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    #expect(failure == nil)
    let context = container.newBackgroundContext()
    let count = try context.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      try context.save()
      return try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
    }
    #expect(count == 1)
  }

  /// Checks the store after a kill; returns the number of its last save.
  private func check(_ folder: URL, after previous: Int) throws -> Int {
    let returned =
      (try? String(contentsOf: folder.appendingPathComponent("returned"), encoding: .utf8))
      .flatMap { Int($0.split(separator: "\n").last ?? "") } ?? 0
    let store = folder.appendingPathComponent("Store.sqlite").path
    let connection = try Connection(path: store, access: .writing)
    defer { connection.close() }
    #expect(try connection.values("PRAGMA integrity_check") == [[.text("ok")]])
    let saves = try connection.values("SELECT ZA, COUNT(*) FROM ZITEM GROUP BY ZA ORDER BY ZA")
    #expect(saves.allSatisfy { $0[1] == .integer(Int64(CrashTests.rows)) }, "half a save")
    #expect(saves.count >= returned, "save \(returned) returned, but isn't in the store")
    #expect(
      try connection.values("SELECT COUNT(*) FROM ATRANSACTION") == [[.integer(Int64(saves.count))]]
    )
    #expect(
      try connection.values("SELECT COUNT(*) FROM ACHANGE")
        == [[.integer(Int64(saves.count * CrashTests.rows))]])
    let keys = try connection.values(
      "SELECT MAX(Z_PK) <= (SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item') FROM ZITEM")
    #expect(keys == [[.integer(1)]] || saves.isEmpty)
    #expect(saves.count >= previous)
    return saves.count
  }

  /// Saves repeatedly, and records each save that returned.
  private static func saveUntilKilled(in folder: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SavingModels.items())
    try coordinator.addPersistentStore(
      type: .sqlite, at: folder.appendingPathComponent("Store.sqlite"),
      options: [NSPersistentHistoryTrackingKey: true])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let note = open(
      folder.appendingPathComponent("returned").path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.sortDescriptors = [NSSortDescriptor(key: "a", ascending: false)]
      request.fetchLimit = 1
      var number = Int(try context.fetch(request).first?.value(forKey: "a") as? Int32 ?? 0)
      // The first process doesn't die before its first save has returned.
      if number > 0 { dieSoon() }
      while true {
        number += 1
        for _ in 0..<rows { _ = context.make("Item", ["a": Int32(number)]) }
        try context.save()
        let line = Array("\(number)\n".utf8)
        _ = write(note, line, line.count)
        if number == 1 { dieSoon() }
      }
    }
  }

  private static func dieSoon() {
    let delay = UInt32.random(in: 0...120_000)
    Thread.detachNewThread {
      usleep(delay)
      _ = Glibc.kill(getpid(), SIGKILL)
    }
  }
}
