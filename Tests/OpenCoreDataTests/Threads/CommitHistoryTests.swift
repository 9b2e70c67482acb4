import Foundation
import OpenCoreData
import Synchronization
import Testing

@testable import OpenCoreData

/// `CDPROF_THREAD_SECONDS=3600` changes and reads one store for an hour; the default is a second.
@Suite("What contexts of several processes see of a store's commits")
struct CommitHistoryTests {
  private static let keys = 0..<6
  private static let contexts = 8

  @Test("Everything that eight contexts of two processes saw is explained by one order of commits")
  func contextsSeeOneOrderOfCommits() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("CommitHistoryTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Self.createStore(in: folder)
    await withTaskGroup { group in
      for process in 1...2 {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [process = process as Int, path = folder.path as String] in
            try Self.run(process, in: URL(fileURLWithPath: path))
          }
        }
      }
    }
    var history = CommitHistory()
    for process in 1...2 {
      let part = try JSONDecoder().decode(
        CommitHistory.self, from: Data(contentsOf: Self.note(of: process, folder)))
      history.writes += part.writes
      history.reads += part.reads
    }
    let order = try Self.order(in: folder)
    #expect(history.check(order, keys: Self.keys).prefix(10) == [])
    #expect(order.count > 10 && history.reads.count > 10)
    #expect(history.reads.contains { $0.commits != nil })
  }

  @Test("A history with a lost, invented, or overwritten commit, or a mixed read isn't explained")
  func impossibleHistoriesAreFound() {
    typealias Write = CommitHistory.Write
    let writes = [
      Write(commit: 7, begin: 1, end: 2, replaced: [0: 0, 1: 0], succeeded: true),
      Write(commit: 8, begin: 3, end: 4, replaced: [1: 7], succeeded: true),
    ]
    func problems(_ writes: [Write], _ registers: [Int: Int], _ commits: Int?, _ begin: UInt64 = 5)
      -> Int
    {
      let read = CommitHistory.Read(
        context: 1, begin: begin, end: 6, registers: registers, commits: commits)
      return CommitHistory(writes: writes, reads: [read]).check([7, 8], keys: 0..<2).count
    }
    #expect(problems(writes, [0: 7, 1: 8], 2) == 0)
    #expect(problems(writes, [0: 7, 1: 8], nil) == 0)
    #expect(problems(writes, [0: 7, 1: 7], 1, 2) == 0)
    // Half of the first commit, a commit of the future, a read of the past, a later generation.
    #expect(problems(writes, [0: 0, 1: 7], nil, 1) == 1)
    #expect(problems(writes, [0: 7, 1: 9], nil) == 1)
    #expect(problems(writes, [0: 7, 1: 7], nil) == 1)
    #expect(problems(writes, [0: 7, 1: 7], 2, 2) == 1)
    let unread = Write(commit: 8, begin: 3, end: 4, replaced: [1: 0], succeeded: true)
    #expect(problems([writes[0], unread], [0: 7, 1: 8], 2) == 1)
    let failed = Write(commit: 8, begin: 3, end: 4, replaced: [1: 7], succeeded: false)
    #expect(problems([writes[0], failed], [0: 7, 1: 8], 2) == 1)
    let lost = Write(commit: 9, begin: 3, end: 4, replaced: [1: 7], succeeded: true)
    #expect(problems(writes + [lost], [0: 7, 1: 8], 2) == 1)
  }

  // MARK: The store

  private static func model() -> NSManagedObjectModel {
    let entities = [("Register", ["key", "value"]), ("Commit", ["number", "value"])].map {
      let entity = NSEntityDescription()
      entity.name = $0.0
      entity.properties = $0.1.map { TestModels.attribute($0, .integer64AttributeType) }
      return entity
    }
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  private static func note(of process: Int, _ folder: URL) -> URL {
    folder.appendingPathComponent("history-\(process).json")
  }

  private static func coordinator(in folder: URL) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    try coordinator.addPersistentStore(
      type: .sqlite, at: folder.appendingPathComponent("Store.sqlite"),
      options: [NSPersistentStoreTimeoutOption: 60, NSPersistentHistoryTrackingKey: true])
    return coordinator
  }

  private static func context(
    of coordinator: NSPersistentStoreCoordinator
  ) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func createStore(in folder: URL) throws {
    let context = context(of: try coordinator(in: folder))
    try context.performAndWait {
      for key in keys { _ = context.make("Register", ["key": key, "value": 0]) }
      try context.save()
    }
  }

  /// The commits in the order of the store's history, which the transactions themselves write.
  private static func order(in folder: URL) throws -> [Int] {
    let context = context(of: try coordinator(in: folder))
    return try context.performAndWait {
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
      let result = try context.execute(request) as? NSPersistentHistoryResult
      let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
      var numbers: [Int] = []
      for transaction in transactions.sorted(by: { $0.transactionNumber < $1.transactionNumber }) {
        for change in transaction.changes ?? [] where change.changedObjectID.entity.name == "Commit"
        {
          let commit = try context.existingObject(with: change.changedObjectID)
          numbers.append(commit.value(forKey: "number") as? Int ?? 0)
        }
      }
      return numbers
    }
  }

  // MARK: In each process

  /// Runs half of the contexts on one coordinator until the time is over, and writes what they saw.
  private static func run(_ process: Int, in folder: URL) throws {
    let coordinator = try coordinator(in: folder)
    let deadline = Date().addingTimeInterval(ConcurrentContextTests.seconds)
    let histories = Mutex(CommitHistory())
    let threads = DispatchGroup()
    for index in 1...contexts / 2 {
      threads.enter()
      Thread.detachNewThread {
        let context = context(of: coordinator)
        context.automaticallyMergesChangesFromParent = index == 1
        var own = ContextHistory(number: process * 100 + index)
        var random = SeededRandom(seed: UInt64(own.number))
        while Date() < deadline {
          context.performAndWait { own.step(in: context, &random) }
        }
        let seen = own.history
        histories.withLock {
          $0.writes += seen.writes
          $0.reads += seen.reads
        }
        threads.leave()
      }
    }
    threads.wait()
    try JSONEncoder().encode(histories.withLock { $0 }).write(to: note(of: process, folder))
  }

  /// The steps of one context.
  private struct ContextHistory {
    let number: Int
    var history = CommitHistory()
    private var next = 1

    init(number: Int) { self.number = number }

    mutating func step(
      in context: NSManagedObjectContext, _ random: inout SeededRandom
    ) {
      do {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: try readGeneration(in: context)
        case 1: try read(in: context)
        default: try write(in: context, &random)
        }
      } catch {
        Issue.record("context \(number): \(error)")
      }
      if Int.random(in: 0..<8, using: &random) == 0 { context.reset() }
    }

    /// Saves some registers and the row of the commit; a conflict discards them.
    private mutating func write(
      in context: NSManagedObjectContext, _ random: inout SeededRandom
    ) throws {
      let commit = number * 1_000_000 + next
      next += 1
      let request = NSFetchRequest<NSManagedObject>(entityName: "Register")
      request.predicate = NSPredicate(
        format: "key IN %@",
        keys.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)))
      var replaced: [Int: Int] = [:]
      for register in try context.fetch(request) {
        replaced[register.value(forKey: "key") as? Int ?? -1] =
          register.value(forKey: "value") as? Int
        register.setValue(commit, forKey: "value")
      }
      _ = context.make("Commit", ["number": commit])
      let begin = CommitHistory.now()
      var succeeded = true
      do {
        try context.save()
      } catch let error as NSError where error.code == NSManagedObjectMergeError {
        succeeded = false
        context.rollback()
        context.refreshAllObjects()
      }
      history.writes.append(
        CommitHistory.Write(
          commit: commit, begin: begin, end: CommitHistory.now(), replaced: replaced,
          succeeded: succeeded))
    }

    /// Reads the registers and the number of commits of one generation, in several requests.
    private mutating func readGeneration(in context: NSManagedObjectContext) throws {
      let begin = CommitHistory.now()
      try context.setQueryGenerationFrom(.current)
      let first = try registers(in: context)
      let commits = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Commit"))
      let end = CommitHistory.now()
      usleep(500)
      let again = try registers(in: context)
      if again != first { Issue.record("context \(number): a generation changed") }
      try context.setQueryGenerationFrom(nil)
      history.reads.append(
        CommitHistory.Read(
          context: number, begin: begin, end: end, registers: first, commits: commits))
    }

    private mutating func read(in context: NSManagedObjectContext) throws {
      let begin = CommitHistory.now()
      let registers = try registers(in: context)
      history.reads.append(
        CommitHistory.Read(
          context: number, begin: begin, end: CommitHistory.now(), registers: registers,
          commits: nil))
    }

    /// The values of one request, without registered objects.
    private func registers(in context: NSManagedObjectContext) throws -> [Int: Int] {
      let request = NSFetchRequest<NSDictionary>(entityName: "Register")
      request.resultType = .dictionaryResultType
      let rows = try context.fetch(request)
      return rows.reduce(into: [:]) { result, row in
        result[row["key"] as? Int ?? -1] = row["value"] as? Int
      }
    }
  }
}
