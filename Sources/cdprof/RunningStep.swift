import Foundation
import Synchronization

/// Whether the shell is in the middle of a step, and how often Ctrl-C was pressed during it.
final class RunningStep: Sendable {
  private let running = Atomic(false)
  private let presses = Atomic(0)
  /// Steps begun.
  private let steps = Atomic(0)

  /// Runs a step; Ctrl-C is about it meanwhile.
  func run<Result>(_ body: () -> Result) -> Result {
    presses.store(0, ordering: .relaxed)
    steps.add(1, ordering: .relaxed)
    running.store(true, ordering: .sequentiallyConsistent)
    defer { running.store(false, ordering: .sequentiallyConsistent) }
    return body()
  }

  /// Runs a body in some seconds, unless the step is over by then.
  func ifStillRunning(after seconds: Double, _ body: @escaping @Sendable () -> Void) {
    let number = steps.load(ordering: .relaxed)
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [self] in
      if isRunning, steps.load(ordering: .relaxed) == number { body() }
    }
  }

  var isRunning: Bool { running.load(ordering: .sequentiallyConsistent) }

  /// How often Ctrl-C was pressed during this step, this time included.
  func press() -> Int {
    presses.add(1, ordering: .relaxed).newValue
  }
}
