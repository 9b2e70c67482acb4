/// A context's undo manager, and the changes since the last `processPendingChanges` while there is
/// one.
struct UndoState {
  private let registration: UndoRegistration?
  let recorder: UndoRecorder?

  /// Creates a state without an undo manager: nothing is recorded.
  init() {
    registration = nil
    recorder = nil
  }

  init(of context: NSManagedObjectContext, with manager: UndoManager?) {
    registration = manager.map { UndoRegistration(of: context, with: $0) }
    recorder = manager.map { _ in UndoRecorder() }
  }

  var manager: UndoManager? { registration?.manager }

  /// Runs a block whose changes undo doesn't restore.
  func withoutRecording<Result>(_ body: () throws -> Result) rethrows -> Result {
    let wasPaused = recorder?.isPaused ?? false
    recorder?.isPaused = true
    defer { recorder?.isPaused = wasPaused }
    return try body()
  }
}
