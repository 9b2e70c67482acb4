import Dispatch
import Testing

extension DispatchSemaphore {
  /// Waits for a signal that must come.
  ///
  /// On a busy machine, the threads of other tests keep a block waiting in its queue for many
  /// seconds; only a block that never runs takes this long.
  /// - Returns: Whether the signal came within five minutes.
  func waitForSignal() -> Bool { wait(timeout: .now() + .seconds(300)) == .success }
}

/// Waits for something that must happen on another thread, without blocking this one.
///
/// - Returns: Whether it happened within five minutes.
func eventually(_ condition: () throws -> Bool) async throws -> Bool {
  let end = ContinuousClock.now + .seconds(300)
  while try !condition() {
    guard ContinuousClock.now < end else { return false }
    try await Task.sleep(for: .milliseconds(10))
  }
  return true
}
