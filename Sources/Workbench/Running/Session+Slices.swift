import OpenCoreData
import ProfileEvents

extension Session {
  /// What one step caused.
  ///
  /// Costs a look at its own events, however long the session is.
  func recording(of step: RecordedStep) -> Recording {
    stack.recorder.recording(of: step, gauges: gauges)
  }

  /// The step that ran last, one that failed included.
  var lastStep: RecordedStep? { recordedSteps.last }

  /// Cuts off the statement that a step of this verb runs; nil where its failure could not be thrown.
  ///
  /// A fault cannot throw, so only steps that fire none, in this context or in a parent, are cut off.
  func cut(_ verb: Verb) -> (@Sendable () -> Void)? {
    switch verb {
    // What cannot be opened tells so when the step runs.
    case .sql, .index, .analyze: return (try? rawConnection())?.interruption
    case .fetch, .count: break
    default: return nil
    }
    guard stack.contexts.count == 1 else { return nil }
    let context = stack.main
    // Pending objects are compared in memory, where faults may fire.
    guard !context.performAndWait({ context.hasChanges }) else { return nil }
    let coordinator = context.persistentStoreCoordinator
    return { coordinator?.interruptStatements() }
  }
}
