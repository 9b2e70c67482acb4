import CoreDataCosts
import OpenCoreData
import Synchronization
import Testing

/// What a program knows of the request that it's answering.
private enum Request {
  @TaskLocal static var name = "none"
}

@Suite("Task-local values in the blocks of contexts")
struct TaskLocalTests {
  /// Returns the values that an observer saw while a body used a context.
  private func observed(
    _ body: (NSManagedObjectContext) async throws -> Void
  ) async throws -> [String] {
    let stack = try TestStack.moody()
    try stack.addMoods(2, countries: 1)
    let context = try stack.coldContext()
    let names = LineList()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let observation = coordinator.observeOperations { _ in names.add(Request.name) }
    try await body(context)
    observation.cancel()
    return names.lines
  }

  @Test func aBlockHasTheValuesOfItsCaller() async throws {
    let names = try await observed { context in
      try await Request.$name.withValue("first") {
        _ = try await context.perform { try Mood.fetch(in: context).count }
        try context.performAndWait { _ = try Mood.fetch(in: context) }
        _ = try await context.perform(schedule: .enqueued) { try Mood.fetch(in: context).count }
      }
      _ = try await context.perform { try Mood.fetch(in: context).count }
      try await context.persistentStoreCoordinator?.perform {
        try Request.$name.withValue("inner") {
          try context.performAndWait { _ = try Mood.fetch(in: context) }
        }
      }
    }
    #expect(names == ["first", "first", "first", "none", "inner"])
  }

  @Test func blocksOfSeveralTasksKeepTheirOwnValues() async throws {
    let names = try await observed { context in
      await withTaskGroup { group in
        for number in 0..<200 {
          group.addTask {
            await Request.$name.withValue("\(number)") {
              await context.perform { _ = try? Mood.fetch(in: context) }
            }
          }
        }
      }
    }
    #expect(Set(names).count == 200 && names.count == 200)
  }

  @Test func blocksRunInOrderOnTheirQueue() async throws {
    let stack = try TestStack.moody()
    let context = try stack.coldContext()
    let order = Mutex<[Int]>([])
    func scheduleFirst() {
      context.perform {
        usleep(20_000)
        order.withLock { $0.append(1) }
      }
    }
    scheduleFirst()
    await context.perform(schedule: .enqueued) { order.withLock { $0.append(2) } }
    context.performAndWait { order.withLock { $0.append(3) } }
    #expect(order.withLock { $0 } == [1, 2, 3])
    // A block may use the context synchronously again.
    let value = await context.perform { context.performAndWait { context.performAndWait { 7 } } }
    #expect(value == 7)
  }

  @Test func aBlockThrowsItsOwnErrorAndKeepsRunningInACanceledTask() async throws {
    struct Refusal: Error {}
    let stack = try TestStack.moody()
    let context = try stack.coldContext()
    await #expect(throws: Refusal.self) {
      try await context.perform { throw Refusal() }
    }
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await context.perform { 3 }
    }
    #expect(await task.value == 3)
  }
}
