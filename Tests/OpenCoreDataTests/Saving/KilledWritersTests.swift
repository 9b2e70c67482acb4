import SQLiteDriver
import StoreTools
import Testing

@testable import OpenCoreData

/// The store of a test whose processes are killed.
struct KilledStore: Sendable, CustomTestStringConvertible {
  enum Kind: String, CaseIterable, Sendable {
    case sqlite, history, xml, binary
  }

  let kind: Kind
  let folder: String

  var testDescription: String { kind.rawValue }
  var isDocument: Bool { kind == .xml || kind == .binary }
  var url: URL { URL(fileURLWithPath: folder).appendingPathComponent("Store.\(kind.rawValue)") }

  /// The file in which a writer notes what returned: a byte for each step.
  func note(of writer: Int) -> URL {
    URL(fileURLWithPath: folder).appendingPathComponent("returned-\(writer)")
  }

  func open() throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SavingModels.items())
    var options: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 100]
    if kind == .history { options[NSPersistentHistoryTrackingKey] = true }
    let type: NSPersistentStore.StoreType =
      kind == .xml ? .xml : kind == .binary ? .binary : .sqlite
    try coordinator.addPersistentStore(type: type, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Returns the rows of each writer; the value of rows of one operation that differ is -1.
  func groups() throws -> [Int: [Int: KilledWriter.Group]] {
    let context = try open()
    defer { StoreWork.close(context) }
    return try context.performAndWait {
      let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
      var groups: [Int: [Int: KilledWriter.Group]] = [:]
      for object in objects {
        let numbers = ["a", "b", "c"].map { object.value(forKey: $0) as? Int ?? -1 }
        let first = KilledWriter.Group(count: 0, value: numbers[2])
        var group = groups[numbers[1], default: [:]][numbers[0]] ?? first
        group.count += 1
        if group.value != numbers[2] { group.value = -1 }
        groups[numbers[1], default: [:]][numbers[0]] = group
      }
      return groups
    }
  }
}

/// `CDPROF_KILLS=200` kills as many processes for each kind of store; the default is 4.
@Suite("Processes killed while they change one store")
struct KilledWritersTests {
  @Test(
    "S16-1 What returned is in the store, and the last operation is complete or has no effect",
    arguments: KilledStore.Kind.allCases)
  func operationsOfKilledProcessesAreDurableAndAtomic(kind: KilledStore.Kind) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("KilledWritersTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = KilledStore(kind: kind, folder: folder.path)
    // A document is the whole of what its process has read.
    let writers = store.isDocument ? 1 : 3
    StoreWork.close(try store.open())
    var before: [Int: [Int: KilledWriter.Group]] = [:]
    var steps = 0
    for incarnation in 1...max(1, CrashTests.kills / writers) {
      let processes = (1...writers).map {
        KilledWriter(
          writer: $0, incarnation: incarnation, isDocument: store.isDocument,
          groups: before[$0] ?? [:])
      }
      await withTaskGroup { group in
        for process in processes {
          group.addTask { await Self.run(process, store) }
        }
      }
      let found = try store.groups()
      for process in processes {
        let name = "writer \(process.writer), process \(incarnation)"
        let returned = try Data(contentsOf: store.note(of: process.writer)).count
        var expected = process
        for _ in 0..<returned { _ = expected.advance() }
        var next = expected
        _ = next.advance()
        let rows = found[process.writer] ?? [:]
        #expect(
          rows == expected.groups || rows == next.groups,
          "\(name): \(returned) operations returned")
        before[process.writer] = rows
        steps += returned
      }
      if !store.isDocument, incarnation % 10 == 1 {
        #expect(try StoreDoctor.examine(store.url).findings.map { "\($0)" } == [])
      }
    }
    #expect(steps >= writers)
    if !store.isDocument {
      #expect(try StoreDoctor.examine(store.url).findings.map { "\($0)" } == [])
    }
  }

  private static func run(_ process: KilledWriter, _ store: KilledStore) async {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [
        process = process as KilledWriter, kind = store.kind.rawValue as String,
        folder = store.folder as String
      ] in
      var process = process
      let kind = try #require(KilledStore.Kind(rawValue: kind))
      try process.run(KilledStore(kind: kind, folder: folder))
    }
  }
}
