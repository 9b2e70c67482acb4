import Foundation
import Synchronization

/// The state of the shell's current step: whether it's running, and how often Ctrl-C was pressed.
final class RunningStep: Sendable {
  private let running = Atomic(false)
  private let presses = Atomic(0)
  /// The number of steps started so far.
  private let steps = Atomic(0)

  /// Runs a step; until it returns, Ctrl-C applies to the step.
  func run<Result>(_ body: () -> Result) -> Result {
    presses.store(0, ordering: .relaxed)
    steps.add(1, ordering: .relaxed)
    running.store(true, ordering: .sequentiallyConsistent)
    defer { running.store(false, ordering: .sequentiallyConsistent) }
    return body()
  }

  /// Calls a closure after a delay in seconds, unless the current step has ended by then.
  func ifStillRunning(after seconds: Double, _ body: @escaping @Sendable () -> Void) {
    let number = steps.load(ordering: .relaxed)
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [self] in
      if isRunning, steps.load(ordering: .relaxed) == number { body() }
    }
  }

  var isRunning: Bool { running.load(ordering: .sequentiallyConsistent) }

  /// Records a Ctrl-C and returns how often it was pressed during the current step.
  func press() -> Int {
    presses.add(1, ordering: .relaxed).newValue
  }
}
