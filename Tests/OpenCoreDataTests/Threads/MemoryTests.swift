import Glibc
import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

/// A process of its own, so that its memory is nobody else's.
///
/// `CDPROF_MEMORY_OBJECTS=1000000` takes a million objects; 50,000 by default.
@Suite("Memory of long iterations")
struct MemoryTests {
  /// The most that the process may grow by, in MB: five pages, the keys of the result, and slack. The
  /// sanitizers of the checked build keep memory of their own, freed blocks too.
  #if CHECKED_ROWS
    static let bound = 4_096
  #else
    static let bound = 160
  #endif

  @Test("Objects fetched, read and dropped in batches stay under a bound, and all comes to rest")
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
          precondition(context.registry.count <= 501, "more than five pages are registered")
        }
        for start in stride(from: 0, to: count, by: 10_000) {
          // Dropped at the end of each round, and let go before the table has doubled twice.
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
        precondition(context.registeredCount == 0 && store.cachedRowCount == 0, "not at rest")
      }
      let grown = MemoryTests.residentMegabytes - before
      precondition(grown <= MemoryTests.bound, "grown by \(grown) MB")
      let coordinator = try #require(context.persistentStoreCoordinator)
      try coordinator.remove(store)
      let log = stack.storeURL.path + "-wal"
      let size = (try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int) ?? 0
      precondition(size == 0, "the log still has \(size) bytes")
    }
  }

  /// Of this process, from the system.
  private static var residentMegabytes: Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * sysconf(Int32(_SC_PAGESIZE)) / 1_048_576
  }
}
