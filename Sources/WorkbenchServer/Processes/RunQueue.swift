import Foundation
import WorkbenchText

/// Limits how many scenarios run at once; the others wait in order.
actor RunQueue {
  /// An error for a run that would wait for too many others.
  struct Full: Error {}

  private var running = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Runs a closure when it's its turn.
  ///
  /// - Throws: `Full` if too many others are waiting; the closure's error.
  func run<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    if running < InputLimits.browserRuns {
      running += 1
    } else {
      guard waiting.count < InputLimits.waitingRuns else { throw Full() }
      await withCheckedContinuation { waiting.append($0) }
    }
    defer {
      // The next one takes over this one's place.
      if waiting.isEmpty { running -= 1 } else { waiting.removeFirst().resume() }
    }
    return try await BlockingWork.run(body)
  }
}
