import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// Files with bytes changed at random: an error or an answer, never a trap.
@Suite("Fuzzed stores")
struct FuzzedStoreTests {
  /// A sound store, whose bytes are damaged.
  private static func bytes() throws -> [UInt8] {
    let stack = try TestStack(model: WorkshopModel.make())
    let writer = try stack.coldContext(options: [NSPersistentHistoryTrackingKey: true])
    try writer.performAndWait {
      for number in 0..<12 as Range<Int64> {
        let team = writer.make("Team", ["name": "T\(number)"])
        let person = writer.make("Person", ["name": "P\(number)", "number": number, "team": team])
        _ = writer.make("Robot", ["name": "R", "boss": person, "team": team])
        _ = writer.make("Gadget", ["name": "G", "owner": person])
      }
      try writer.save()
    }
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    try connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    return Array(try Data(contentsOf: stack.storeURL))
  }

  private static func damaged(
    _ bytes: [UInt8], _ random: inout SeededRandom
  ) -> [UInt8] {
    var bytes = bytes
    switch Int.random(in: 0..<8, using: &random) {
    case 0: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
    case 1:
      // A page in the place of another.
      let pages = bytes.count / 4096
      let (from, to) = (
        Int.random(in: 0..<pages, using: &random), Int.random(in: 0..<pages, using: &random)
      )
      let page = Array(bytes[from * 4096..<(from + 1) * 4096])
      bytes.replaceSubrange(to * 4096..<(to + 1) * 4096, with: page)
    default:
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      }
    }
    return bytes
  }

  /// Does what a program does with a store; what goes wrong may, as an error.
  private func use(_ url: URL, _ model: NSManagedObjectModel, isReadOnly: Bool) {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try? coordinator.addPersistentStore(
      type: .sqlite, at: url,
      options: [
        NSIgnorePersistentStoreVersioningOption: true, NSReadOnlyPersistentStoreOption: isReadOnly,
      ])
    guard let store else { return }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
      for entity in model.entities {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.predicate = NSPredicate(format: "SELF != nil")
        _ = try? context.count(for: request)
        for object in (try? context.fetch(request)) ?? [] {
          for name in object.entity.propertiesByName.keys.sorted() {
            _ = object.value(forKey: name)
          }
        }
      }
      if !isReadOnly {
        for entity in model.entities where !entity.isAbstract {
          let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
          request.fetchLimit = 1
          for object in (try? context.fetch(request)) ?? []
          where object.entity.attributesByName["name"] != nil {
            object.setValue("x", forKey: "name")
          }
        }
        try? context.save()
        context.rollback()
        let history = NSPersistentHistoryChangeRequest.fetchHistory(
          after: nil as NSPersistentHistoryToken?)
        _ = try? context.execute(history)
      }
      context.faultError = nil
    }
    try? coordinator.remove(store)
  }

  /// `CDPROF_FUZZ_SECONDS` goes on longer, `CDPROF_RANDOM_FIRST` begins elsewhere.
  @Test func damagedFilesAreErrorsOrAnswers() throws {
    let environment = ProcessInfo.processInfo.environment
    let seconds = environment["CDPROF_FUZZ_SECONDS"].flatMap(Double.init) ?? 0
    let first = environment["CDPROF_RANDOM_FIRST"].flatMap(UInt64.init) ?? 1
    let end = ContinuousClock.now + .seconds(seconds)
    let sound = try Self.bytes()
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("FuzzedStoreTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var seed = first
    var opened = 0
    repeat {
      for _ in 0..<24 {
        var random = SeededRandom(seed: seed)
        let url = folder.appendingPathComponent("\(seed).sqlite")
        try Data(Self.damaged(sound, &random)).write(to: url)
        let carried = try? NSManagedObjectModel.inStore(at: url)
        if carried != nil { opened += 1 }
        use(url, carried ?? WorkshopModel.make(), isReadOnly: true)
        use(url, WorkshopModel.make(), isReadOnly: false)
        seed += 1
      }
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
      }
    } while ContinuousClock.now < end
    #expect(opened > 0, "seeds \(first)..<\(seed)")
  }
}
