import OpenCoreData
import ProfileEvents
package import ScenarioLanguage

extension Session {
  /// What one step caused.
  ///
  /// Costs a look at its own events, however long the session is.
  package func recording(of step: RecordedStep) -> Recording {
    stack.recorder.recording(of: step, gauges: gauges)
  }

  /// The step that ran last, one that failed included.
  package var lastStep: RecordedStep? { recordedSteps.last }

  /// Cuts off the statement that a step runs; nil where its failure could not be told.
  ///
  /// A fault has nobody to throw to. One that a reading step fires reads as empty, which harms nothing as
  /// the step fails; one that a changing step fires must not, so that of those the writing alone is cut
  /// off.
  package func cut(_ step: Step) -> (@Sendable () -> Void)? {
    let name = knownNames.context(of: step)
    let context = stack.context(name)
    let coordinator = context.persistentStoreCoordinator
    switch step.verb {
    // What cannot be opened tells so when the step runs.
    case .sql, .index, .analyze: return (try? rawConnection())?.interruption
    case .save, .batchInsert, .batchUpdate, .batchDelete:
      return { coordinator?.interruptWriting() }
    // A parent would give its child for a row what it could not read.
    case .touch, .walk: guard stack.shapes[name]?.parent == nil else { return nil }
    case .fetch, .count:
      // Pending objects are compared in memory, where faults may fire.
      guard stack.contexts.count == 1, !context.performAndWait({ context.hasChanges }) else {
        return nil
      }
    default: return nil
    }
    return { coordinator?.interruptStatements() }
  }

  /// Makes faults again of what a step was stopped at.
  func forgetStoppedFaults() {
    for named in stack.contexts {
      named.context.performAndWait { named.context.forgetStoppedFaults() }
    }
  }
}
