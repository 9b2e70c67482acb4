import Glibc
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Two processes with one file")
struct TwoProcessesTests {
  private struct Unexpected: Error {
    let what: String
  }

  /// Work that starts at once, even if many tests wait for a thread of the pool.
  private final class OwnThread: @unchecked Sendable {  // uses `result` only on the queue
    private let queue = DispatchQueue(label: "TwoProcessesTests")
    private var result: Result<Void, any Error> = .success(())

    init(_ work: @escaping @Sendable () throws -> Void) {
      queue.async { self.result = Result(catching: work) }
    }

    func finish() async throws {
      try await withCheckedThrowingContinuation { done in
        queue.async { done.resume(with: self.result) }
      }
    }
  }

  private func makeFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("TwoProcessesTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  @Test("S-H12 two processes that save at the same time wait for each other, and lose no row")
  func concurrentSavesOfTwoProcessesLoseNoRow() async throws {
    let folder = try makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = folder.appendingPathComponent("Store.sqlite")
    try Self.open(store) { _ in }
    let path = store.path
    let mine = OwnThread { try Self.save("mine", until: "theirs", in: store) }
    await #expect(processExitsWith: .success) { [path = path as String] in
      try TwoProcessesTests.save("theirs", until: "mine", in: URL(fileURLWithPath: path))
    }
    try await mine.finish()
    try Self.open(store) { context in
      let items = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
      for name in ["mine", "theirs"] {
        let numbers = items.filter { $0.value(forKey: "name") as? String == name }
          .compactMap { $0.value(forKey: "a") as? Int32 }.sorted()
        #expect(numbers.count >= Self.least)
        #expect(numbers == Array(0..<Int32(numbers.count)), "\(name)")
      }
    }
    let connection = try Connection(path: path, access: .inspecting)
    defer { connection.close() }
    #expect(try connection.values("PRAGMA integrity_check") == [[.text("ok")]])
  }

  /// The minimum number of saves of each process.
  private static let least = 20

  /// Saves row by row until both processes have enough rows; fails after five minutes.
  private static func save(_ name: String, until other: String, in store: URL) throws {
    let end = Date(timeIntervalSinceNow: 300)
    try open(store) { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.predicate = NSPredicate(format: "name == %@", other)
      var number: Int32 = 0
      while try number < least || context.count(for: request) < least {
        guard Date() < end else { throw Unexpected(what: "\(other) has stopped") }
        _ = context.make("Item", ["a": number, "name": name])
        try context.save()
        number += 1
      }
    }
  }

  private static func open(
    _ store: URL, options: [AnyHashable: Any]? = nil,
    _ work: (NSManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SavingModels.items())
    try coordinator.addPersistentStore(type: .sqlite, at: store, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { try work(context) }
  }

  /// Root can write anywhere, so the process switches to another user.
  @Test("S-H12 a file without write permission can be read, and a save is an error")
  func fileWithoutWritePermissionIsReadAndSavingIsAnError() async throws {
    let folder = try makeFolder()
    let store = folder.appendingPathComponent("Store.sqlite")
    try Self.open(store) { context in
      _ = context.make("Item", ["a": Int32(7)])
      try context.save()
    }
    let bytes = try Data(contentsOf: store)
    chmod(store.path, 0o444)
    chmod(folder.path, 0o555)
    defer {
      chmod(folder.path, 0o755)
      try? FileManager.default.removeItem(at: folder)
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    let path = store.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      if geteuid() == 0 { seteuid(65_534) }
      let store = URL(fileURLWithPath: path)
      try TwoProcessesTests.open(store, options: [NSReadOnlyPersistentStoreOption: true]) {
        let item = try $0.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first
        guard let item, item.value(forKey: "a") as? Int32 == 7 else {
          throw Unexpected(what: "\(String(describing: item))")
        }
        item.setValue(Int32(8), forKey: "a")
        guard $0.saveError() != nil else { throw Unexpected(what: "saved read-only") }
      }
      do {
        try TwoProcessesTests.open(store) {
          _ = $0.make("Item")
          try $0.save()
        }
      } catch {
        // Exits at once: a leak checker can't inspect a process that has switched users.
        _exit(EXIT_SUCCESS)
      }
      throw Unexpected(what: "saved")
    }
    #expect(try Data(contentsOf: store) == bytes)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == left)
  }
}
