import ManagedModel
import Synchronization

/// How much of a migration is complete, and whether it was cancelled.
///
/// Any thread can read and cancel it.
final class MigrationProgress: Sendable {
  /// The units of a complete migration.
  static let unitCount: Int64 = 10_000

  private struct State {
    var isRunning = false
    var parts = 1
    var part = 0
    var fraction = 1.0
    var cancellation: (any Error)?
  }

  private let state = Mutex(State())
  private let progress: Progress

  init(_ progress: Progress) {
    self.progress = progress
  }

  /// From 0 to 1; 1 if no migration is running.
  var fraction: Float { state.withLock { Float($0.fraction) } }

  /// Starts a migration.
  func begin() {
    state.withLock { $0 = State(isRunning: true, fraction: 0) }
    progress.completedUnitCount = 0
  }

  /// Ends the migration.
  func end() {
    state.withLock { $0 = State() }
    progress.completedUnitCount = Self.unitCount
  }

  /// Sets the number of parts of the migration.
  func expect(_ parts: Int) {
    state.withLock {
      $0.parts = max(parts, 1)
      $0.part = -1
    }
  }

  /// Starts the next part.
  func beginPart() {
    state.withLock { $0.part += 1 }
    complete(0, of: 1)
  }

  /// Records how much of the current part is complete.
  func complete(_ count: Int, of total: Int) {
    let fraction = state.withLock { state in
      let share = total > 0 ? Double(count) / Double(total) : 1
      state.fraction = min((Double(max(state.part, 0)) + share) / Double(state.parts), 1)
      return state.fraction
    }
    progress.completedUnitCount = Int64(fraction * Double(Self.unitCount))
  }

  /// Cancels the running migration.
  func cancel(_ error: any Error) {
    state.withLock { state in
      if state.isRunning, state.cancellation == nil { state.cancellation = error }
    }
  }

  /// Throws if the migration was cancelled.
  func check() throws {
    if let error = state.withLock({ $0.cancellation }) { throw error }
    guard progress.isCancelled else { return }
    throw NSError.coreData(NSMigrationCancelledError, "The migration was cancelled.")
  }
}
