import Foundation
import Synchronization

/// Whether the shell is in the middle of a step, and how often Ctrl-C was pressed during it.
final class RunningStep: Sendable {
  private let isRunning = Atomic(false)
  private let presses = Atomic(0)

  /// Runs a step; Ctrl-C is about it meanwhile.
  func run<Result>(_ body: () -> Result) -> Result {
    presses.store(0, ordering: .relaxed)
    isRunning.store(true, ordering: .sequentiallyConsistent)
    defer { isRunning.store(false, ordering: .sequentiallyConsistent) }
    return body()
  }

  /// How often Ctrl-C was pressed during the step, this time included; 0 between steps.
  func press() -> Int {
    guard isRunning.load(ordering: .sequentiallyConsistent) else { return 0 }
    return presses.add(1, ordering: .relaxed).newValue
  }
}
