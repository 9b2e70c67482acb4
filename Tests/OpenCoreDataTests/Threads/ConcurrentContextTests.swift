import Dispatch
import OpenCoreData
import Synchronization
import Testing

@testable import OpenCoreData

@Suite("Contexts on several threads")
struct ConcurrentContextTests {
  /// The duration in seconds: `CDPROF_THREAD_SECONDS`, or 1.
  static let seconds =
    Double(ProcessInfo.processInfo.environment["CDPROF_THREAD_SECONDS"] ?? "") ?? 1

  /// What the threads have done.
  private final class Progress: Sendable {
    /// The number of saves that succeeded.
    let saves = Atomic(0)
    /// The number of objects whose values were compared.
    let reads = Atomic(0)
  }

  @Test("Eight threads of readers and writers: rows are consistent, and caches match the store")
  func concurrentReadsAndSavesLeaveConsistentContexts() throws {
    let stack = try TestStack(model: WorkshopModel.make())
    let first = try stack.coldContext()
    try first.performAndWait {
      let teams = (0..<4).map { first.make("Team", ["serial": Int64($0)]) }
      for index in 0..<40 {
        _ = first.make(
          "Person",
          ["serial": Int64(100 + index), "number": Int64(0), "name": "0", "team": teams[index % 4]])
      }
      try first.save()
    }
    let coordinator = try #require(first.persistentStoreCoordinator)
    let deadline = Date().addingTimeInterval(Self.seconds)
    let progress = Progress()
    let threads = DispatchGroup()
    // `concurrentPerform` runs only as many iterations at once as there are cores.
    for worker in 0..<8 {
      threads.enter()
      Thread.detachNewThread {
        work(as: worker, on: coordinator, until: deadline, progress)
        threads.leave()
      }
    }
    threads.wait()
    #expect(progress.saves.load(ordering: .relaxed) > 0)
    #expect(progress.reads.load(ordering: .relaxed) > 0)
    let warm = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    warm.persistentStoreCoordinator = coordinator
    let cached = try first.performAndWait { try state(in: first, refreshing: true) }
    let fetched = try warm.performAndWait { try state(in: warm, refreshing: false) }
    let cold = try stack.coldContext()
    let stored = try cold.performAndWait { try state(in: cold, refreshing: false) }
    #expect(cached == stored)
    #expect(fetched == stored)
    let store = try #require(coordinator.persistentStores.first as? SQLiteStore)
    first.performAndWait { first.reset() }
    warm.performAndWait { warm.reset() }
    #expect(store.withShared { $0.rows.ownerCount } == 0)
  }

  /// Writes on three of the threads, and reads on the others.
  private func work(
    as worker: Int, on coordinator: NSPersistentStoreCoordinator, until deadline: Date,
    _ progress: Progress
  ) {
    var random = SeededRandom(seed: UInt64(worker))
    while Date() < deadline {
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      for _ in 0..<10 {
        context.performAndWait {
          if worker < 3 {
            if write(in: context, &random) { progress.saves.add(1, ordering: .relaxed) }
          } else {
            progress.reads.add(read(in: context, &random), ordering: .relaxed)
          }
        }
      }
    }
  }

  /// Moves a person to another team and writes two values that belong together.
  private func write(
    in context: NSManagedObjectContext, _ random: inout SeededRandom
  ) -> Bool {
    do {
      let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
      let teams = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team"))
      guard let person = people.randomElement(using: &random) else { return false }
      let number = (person.value(forKey: "number") as? Int64 ?? 0) + 1
      person.setValue(number, forKey: "number")
      person.setValue("\(number)", forKey: "name")
      person.setValue(teams.randomElement(using: &random), forKey: "team")
      try context.save()
      return true
    } catch let error as NSError {
      #expect(error.code == NSManagedObjectMergeError, "\(error)")
      context.rollback()
      return false
    }
  }

  /// Returns the number of objects whose values were compared.
  private func read(in context: NSManagedObjectContext, _ random: inout SeededRandom) -> Int {
    do {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.includesPropertyValues = Bool.random(using: &random)
      request.returnsObjectsAsFaults = Bool.random(using: &random)
      if Bool.random(using: &random) { request.relationshipKeyPathsForPrefetching = ["team"] }
      if Bool.random(using: &random) { request.fetchBatchSize = 7 }
      let workers = try context.fetch(request)
      for person in workers {
        let number = person.value(forKey: "number") as? Int64
        #expect(number != nil)
        #expect(person.value(forKey: "name") as? String == number.map { "\($0)" })
        let team = person.value(forKey: "team") as? NSManagedObject
        #expect((team?.value(forKey: "members") as? Set<NSManagedObject>) != nil)
      }
      if Bool.random(using: &random) { context.refreshAllObjects() } else { context.reset() }
      return workers.count
    } catch {
      Issue.record(error)
      return 0
    }
  }

  /// Each person's values and each team's members, by serial.
  private func state(
    in context: NSManagedObjectContext, refreshing: Bool
  ) throws -> [Int64: [Int64]] {
    if refreshing { context.refreshAllObjects() }
    var state: [Int64: [Int64]] = [:]
    func serial(_ object: NSManagedObject?) -> Int64 {
      object?.value(forKey: "serial") as? Int64 ?? -1
    }
    for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
      state[serial(person)] = [
        person.value(forKey: "number") as? Int64 ?? -1,
        serial(person.value(forKey: "team") as? NSManagedObject),
      ]
    }
    for team in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team")) {
      let members = team.value(forKey: "members") as? Set<NSManagedObject> ?? []
      state[serial(team)] = members.map { serial($0) }.sorted()
    }
    return state
  }
}
