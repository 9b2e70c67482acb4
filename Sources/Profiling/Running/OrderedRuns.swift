import Foundation
import Synchronization

/// Runs tasks on several threads, and hands what came of them over in the order of the tasks.
package enum OrderedRuns {
  /// Runs all tasks.
  ///
  /// With one job they run on the caller's thread, one after the other.
  /// - Parameters:
  ///   - jobs: how many threads take tasks; at least 1.
  ///   - work: called on any of the threads, for several tasks at once.
  ///   - done: called on the caller's thread, for one result after the other.
  package static func run<Task: Sendable, Outcome: Sendable>(
    _ tasks: [Task], jobs: Int, work: @escaping @Sendable (Task) -> Outcome,
    done: (Outcome) -> Void
  ) {
    guard jobs > 1, tasks.count > 1 else {
      for task in tasks { done(work(task)) }
      return
    }
    let board = Board<Outcome>(count: tasks.count)
    let counter = Counter()
    for _ in 0..<min(jobs, tasks.count) {
      let thread = Thread {
        while let index = counter.next(below: tasks.count) {
          board.post(work(tasks[index]), at: index)
        }
      }
      // As large as that of the program's own worker: predicates may be nested deeply.
      thread.stackSize = 8 << 20
      thread.start()
    }
    for index in tasks.indices { done(board.wait(for: index)) }
  }

  /// Gives each number once.
  private final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    func next(below limit: Int) -> Int? {
      let index = value.add(1, ordering: .relaxed).oldValue
      return index < limit ? index : nil
    }
  }

  /// Where threads leave what they have.
  private final class Board<Outcome: Sendable>: @unchecked Sendable {
    // `outcomes` is behind `condition`
    private let condition = NSCondition()
    private var outcomes: [Outcome?]

    init(count: Int) {
      outcomes = Array(repeating: nil, count: count)
    }

    func post(_ outcome: Outcome, at index: Int) {
      condition.lock()
      outcomes[index] = outcome
      condition.broadcast()
      condition.unlock()
    }

    func wait(for index: Int) -> Outcome {
      condition.lock()
      defer { condition.unlock() }
      while true {
        if let outcome = outcomes[index] { return outcome }
        condition.wait()
      }
    }
  }
}
