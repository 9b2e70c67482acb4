import Foundation
import OpenCoreData
import Synchronization
import Testing

@testable import OpenCoreData

/// `CDPROF_THREAD_SECONDS=3600` changes and reads one store for an hour; the default is a second.
@Suite("What contexts of several processes see of a store's commits")
struct CommitHistoryTests {
  private static let contexts = 8
  /// How often the processes are started; in between, the store is migrated.
  private static let rounds = max(2, Int(ConcurrentContextTests.seconds / 10))

  @Test("Everything that eight contexts of two processes saw is explained by one order of commits")
  func contextsSeeOneOrderOfCommits() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("CommitHistoryTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var state = try Self.createStore(in: folder)
    for round in 0..<Self.rounds {
      await withTaskGroup { group in
        for process in 1...2 {
          group.addTask {
            await #expect(processExitsWith: .success) {
              [process = process as Int, round = round as Int, path = folder.path as String] in
              try Self.run(process, round, in: URL(fileURLWithPath: path))
            }
          }
        }
      }
      let history = try (1...2).map { process in
        let note = try Data(contentsOf: Self.note(of: process, folder))
        return try JSONDecoder().decode(CommitHistory.self, from: note)
      }.reduce(CommitHistory(), +)
      // Migrates the store, which keeps its history.
      let (order, next) = try Self.finish(round, in: folder)
      #expect(history.check(order, from: state, to: next).prefix(10) == [], "round \(round)")
      #expect(order.count > 10 && history.reads.count > 10)
      #expect(history.reads.contains { $0.entryCount != nil })
      #expect(history.rejectedMigrations > 0)
      #expect(try FailureFixture.findings(Self.store(in: folder)) == [], "round \(round)")
      state = next
    }
  }

  // MARK: Impossible histories

  private typealias Register = CommitHistory.Register

  /// Two saves, a batch request that sets a register and one that doesn't exist, and a deletion.
  private static let writes = [
    CommitHistory.Write(
      commit: 7, context: 1, replaced: [0: Register(), 1: Register()], begin: 1, end: 2),
    CommitHistory.Write(
      commit: 8, context: 1, replaced: [1: Register(value: 7)], entries: 1, begin: 3, end: 4),
    CommitHistory.Write(commit: 9, context: 2, unread: [0, 2], rows: 1, begin: 5, end: 6),
    CommitHistory.Write(
      commit: 10, context: 2, replaced: [1: Register(value: 8)], isDeletion: true,
      begin: 7, end: 8),
  ]

  /// The number of problems of a history with one read; no row is inserted in it.
  private static func problems(
    _ writes: [CommitHistory.Write], _ last: [Int: Int], read: [Int: Int]? = nil,
    entries: Int? = nil, begin: UInt64 = 20
  ) -> Int {
    let read = CommitHistory.Read(
      context: 1, begin: begin, end: 21,
      registers: (read ?? last).mapValues { Register(value: $0) },
      entryCount: entries)
    let order = writes.filter { $0.succeeded && $0.rows != 0 }.map(\.commit)
    let last = CommitHistory.State(
      registers: last.mapValues { Register(value: $0) }, entries: [1: 1])
    let first = CommitHistory.State(registers: [0: Register(), 1: Register()])
    return CommitHistory(writes: writes, reads: [read]).check(order, from: first, to: last).count
  }

  @Test("A lost, invented, or mixed read isn't explained")
  func impossibleReadsAreFound() {
    func problems(_ read: [Int: Int], entries: Int? = nil, begin: UInt64 = 20) -> Int {
      Self.problems(Self.writes, [0: 9], read: read, entries: entries, begin: begin)
    }
    #expect(problems([0: 9]) == 0)
    #expect(problems([0: 9], entries: 1) == 0)
    #expect(problems([0: 7, 1: 7], begin: 2) == 0)
    #expect(problems([0: 7, 1: 7], entries: 0, begin: 2) == 0)
    // Half of the first commit, a commit that isn't made, a read of the past, a later generation.
    #expect(problems([0: 0, 1: 7], begin: 1) == 1)
    #expect(problems([0: 11]) == 1)
    #expect(problems([0: 9, 1: 8]) == 1)
    #expect(problems([0: 7, 1: 7], entries: 1, begin: 2) == 1)
  }

  @Test("Overwritten values, wrong counts of batch requests, and lost content are found")
  func impossibleWritesAreFound() {
    func problems(
      _ last: [Int: Int], _ count: Int = 2,
      _ change: (inout [CommitHistory.Write]) -> Void = { _ in }
    ) -> Int {
      var writes = Array(Self.writes.prefix(count))
      change(&writes)
      return Self.problems(writes, last)
    }
    #expect(problems([0: 7, 1: 8]) == 0)
    // The value of an older commit, a register that was there, a lost register.
    #expect(problems([0: 7, 1: 8]) { $0[1].replaced = [1: Register()] } == 1)
    #expect(problems([0: 7, 1: 8]) { $0[1].replaced = [1: nil] } >= 1)
    #expect(problems([0: 7], 2) == 2)
    // A batch request that changes two registers, or none.
    #expect(problems([0: 9, 1: 8], 3) == 0)
    #expect(problems([0: 9, 1: 8], 3) { $0[2].rows = 2 } == 1)
    #expect(problems([0: 7, 1: 8], 3) { $0[2].rows = 0 } == 0)
    // The deletion of another value, and that of a row that's already deleted.
    #expect(problems([0: 9], 4) == 0)
    #expect(problems([0: 9], 4) { $0[3].replaced = [1: Register(value: 7)] } == 1)
    #expect(problems([0: 9, 1: 8], 4) { $0[3].replaced = [1: Register(row: 5, value: 7)] } == 0)
    // A commit that is lost, and one that's there after its error.
    let writes = Array(Self.writes.prefix(2))
    let first = CommitHistory.State(registers: [0: Register(), 1: Register()])
    let last = CommitHistory.State(registers: [0: Register(value: 7), 1: Register(value: 7)])
    #expect(CommitHistory(writes: writes).check([7], from: first, to: last).count == 1)
    var failed = writes[0]
    failed.succeeded = false
    #expect(CommitHistory(writes: [failed]).check([7], from: first, to: last).count == 1)
  }

  // MARK: The store

  /// The versions that follow each other: an attribute is added, renamed, and removed.
  private static func model(_ round: Int) -> NSManagedObjectModel {
    let entities = [("Register", ["key", "row", "value"]), ("Entry", ["context"])].map {
      let entity = NSEntityDescription()
      entity.name = $0.0
      entity.properties = $0.1.map { TestModels.attribute($0, .integer64AttributeType) }
      return entity
    }
    entities[0].uniquenessConstraints = [["key"]]
    if round % 3 > 0 {
      let note = TestModels.attribute(round % 3 == 1 ? "note" : "remark", .stringAttributeType)
      (note.isOptional, note.defaultValue, note.renamingIdentifier) = (false, "none", "note")
      entities[0].properties.append(note)
    }
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  private static func store(in folder: URL) -> URL {
    folder.appendingPathComponent("Store.sqlite")
  }

  private static func note(of process: Int, _ folder: URL) -> URL {
    folder.appendingPathComponent("history-\(process).json")
  }

  private static func coordinator(
    _ round: Int, in folder: URL, timeout: Double = 60
  ) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(round))
    try coordinator.addPersistentStore(
      type: .sqlite, at: store(in: folder),
      options: [
        NSPersistentStoreTimeoutOption: timeout, NSPersistentHistoryTrackingKey: true,
        NSMigratePersistentStoresAutomaticallyOption: true,
        NSInferMappingModelAutomaticallyOption: true,
      ])
    return coordinator
  }

  private static func context(
    of coordinator: NSPersistentStoreCoordinator
  ) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func createStore(in folder: URL) throws -> CommitHistory.State {
    let context = context(of: try coordinator(0, in: folder))
    return try context.performAndWait {
      for key in ContextHistory.keys {
        _ = context.make("Register", ["key": key, "row": 0, "value": 0])
      }
      try context.save()
      _ = try order(in: context)
      return try state(in: context)
    }
  }

  /// Migrates the store to the version of the next round, and returns the commits and the content.
  private static func finish(
    _ round: Int, in folder: URL
  ) throws -> (order: [Int], state: CommitHistory.State) {
    let context = context(of: try coordinator(round + 1, in: folder))
    return try context.performAndWait { (try order(in: context), try state(in: context)) }
  }

  private static func state(in context: NSManagedObjectContext) throws -> CommitHistory.State {
    var state = CommitHistory.State()
    func number(_ object: NSManagedObject, _ key: String) -> Int {
      object.value(forKey: key) as? Int ?? -1
    }
    for register in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Register")) {
      let value = Register(row: number(register, "row"), value: number(register, "value"))
      #expect(state.registers.updateValue(value, forKey: number(register, "key")) == nil)
    }
    for entry in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Entry")) {
      state.entries[number(entry, "context"), default: 0] += 1
    }
    return state
  }

  /// Returns the commits in the order of the store's history, which the transactions themselves
  /// write, and deletes the history.
  private static func order(in context: NSManagedObjectContext) throws -> [Int] {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
    let result = try context.execute(request) as? NSPersistentHistoryResult
    let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
    _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: .distantFuture))
    return transactions.sorted { $0.transactionNumber < $1.transactionNumber }
      .map { $0.author.flatMap { Int($0) } ?? -1 }
  }

  // MARK: In each process

  /// Runs half of the contexts on one coordinator until the time is over, and writes what they saw.
  private static func run(_ process: Int, _ round: Int, in folder: URL) throws {
    let coordinator = try coordinator(round, in: folder)
    let deadline = Date().addingTimeInterval(
      ConcurrentContextTests.seconds / Double(rounds))
    let histories = Mutex(CommitHistory())
    let threads = DispatchGroup()
    func start(_ work: @escaping @Sendable () -> CommitHistory) {
      threads.enter()
      Thread.detachNewThread {
        let seen = work()
        histories.withLock { $0 = $0 + seen }
        threads.leave()
      }
    }
    for index in 1...contexts / 2 {
      start {
        let context = context(of: coordinator)
        context.automaticallyMergesChangesFromParent = index == 1
        if index == 2 {
          context.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        }
        var own = ContextHistory(number: process * 100 + index, round: round)
        while Date() < deadline { context.performAndWait { own.step(in: context) } }
        return own.history
      }
    }
    start { rejectedMigrations(to: round + 1, in: folder, until: deadline) }
    threads.wait()
    try JSONEncoder().encode(histories.withLock { $0 }).write(to: note(of: process, folder))
  }

  /// Tries to migrate the store to a version while it's open.
  private static func rejectedMigrations(
    to round: Int, in folder: URL, until deadline: Date
  ) -> CommitHistory {
    var history = CommitHistory()
    repeat {
      let error = thrownError { _ = try coordinator(round, in: folder, timeout: 0.01) }
      #expect(error?.code == NSMigrationError, "\(String(describing: error))")
      #expect(error?.localizedDescription.contains("open elsewhere") == true)
      history.rejectedMigrations += 1
      usleep(20_000)
    } while Date() < deadline
    return history
  }
}
