import Glibc
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// Measures memory in a separate process.
///
/// `CDPROF_MEMORY_OBJECTS` is the number of objects; by default, 50,000 are read and 10,000
/// migrated.
@Suite("Memory of long iterations")
struct MemoryTests {
  /// The most that the process may grow by, in MB: five batches, the IDs of the result, and slack.
  /// The sanitizers of the checked build keep freed blocks.
  #if CHECKED_ROWS
    static let bound = 4_096
  #else
    static let bound = 160
  #endif

  @Test("Reading objects in batches stays within a memory bound, and all are released")
  func memoryStaysBoundedWhileObjectsAreReadInBatches() async {
    await #expect(processExitsWith: .success) {
      let count =
        Int(ProcessInfo.processInfo.environment["CDPROF_MEMORY_OBJECTS"] ?? "") ?? 50_000
      let stack = try TestStack.moody()
      try stack.addMoods(1, countries: 1)
      try stack.multiplyMoods(to: count)
      let context = try stack.coldContext()
      let store = try #require(context.coordinator?.firstStore)
      let before = MemoryTests.residentMegabytes
      try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
        request.fetchBatchSize = 100
        request.returnsObjectsAsFaults = false
        for object in try context.fetchBatched(request) {
          _ = object.value(forKey: "date")
          precondition(context.registry.count <= 501, "more than five batches are registered")
        }
        for start in stride(from: 0, to: count, by: 10_000) {
          // Each page is released at the end of its iteration.
          let page = NSFetchRequest<NSManagedObject>(entityName: "Mood")
          page.predicate = NSPredicate(
            format: "date >= %@", Date(timeIntervalSinceReferenceDate: Double(start) * 60) as NSDate
          )
          page.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
          page.fetchLimit = 1_000
          for object in try context.fetch(page) { _ = object.value(forKey: "colors") }
        }
      }
      context.performAndWait {
        precondition(context.registeredCount == 0 && store.cachedRowCount == 0, "not released")
      }
      let grown = MemoryTests.residentMegabytes - before
      precondition(grown <= MemoryTests.bound, "grown by \(grown) MB")
      let coordinator = try #require(context.persistentStoreCoordinator)
      try coordinator.remove(store)
      let wal = stack.storeURL.path + "-wal"
      let size = (try? FileManager.default.attributesOfItem(atPath: wal)[.size] as? Int) ?? 0
      precondition(size == 0, "the WAL still has \(size) bytes")
    }
  }

  /// The most memory that a process that migrates objects may use in total, in MB.
  #if CHECKED_ROWS
    static let migrationBound = 4_096
  #else
    static let migrationBound = 250
  #endif

  @Test("A migration manager stays within a memory bound, and migrates all objects")
  func memoryStaysBoundedWhileAManagerMigrates() async {
    await #expect(processExitsWith: .success) {
      let count =
        Int(ProcessInfo.processInfo.environment["CDPROF_MEMORY_OBJECTS"] ?? "") ?? 10_000
      let stack = try TestStack.moody()
      try stack.addMoods(1, countries: 1)
      try stack.multiplyMoods(to: count)
      try stack.multiplyCountries(to: 1_000)
      let migrated = try MigratedStore()
      let mapping = try NSMappingModel.inferredMappingModel(
        forSourceModel: stack.model, destinationModel: stack.model)
      let manager = NSMigrationManager(sourceModel: stack.model, destinationModel: stack.model)
      try manager.migrateStore(
        from: stack.storeURL, type: .sqlite, mapping: mapping, to: migrated.url, type: .sqlite)
      let rows = "SELECT count(*), count(ZCOUNTRY), sum(ZCOUNTRY), sum(ZDATE) FROM ZMOOD"
      let wanted = try Connection(path: stack.storeURL.path, access: .inspecting).values(rows)
      let found = try migrated.values(rows)
      precondition(found == wanted, "not migrated: \(found), not \(wanted)")
      precondition(
        MemoryTests.peakMegabytes < MemoryTests.migrationBound,
        "\(MemoryTests.peakMegabytes) MB resident")
    }
  }

  /// The most resident memory that this process has had.
  private static var peakMegabytes: Int {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap {
      Int($0)
    }
    return (kilobytes ?? .max) / 1_024
  }

  /// The resident memory of this process.
  private static var residentMegabytes: Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * sysconf(Int32(_SC_PAGESIZE)) / 1_048_576
  }
}
