package import OpenCoreData
import ProfileEvents

/// The steps of a variant, or of a shell's try, with everything they caused.
package struct FinishedWork: Sendable {
  /// One step that is over.
  package struct Part: Sendable {
    package var step: Step
    /// Which events are its own.
    package var recorded: RecordedStep
  }

  package var recording: Recording
  package var parts: [Part]
  package var model: NSManagedObjectModel

  /// Puts the recorded steps to the steps they were.
  ///
  /// - Parameter steps: In the order in which they ran; a recorded step that is not among them is left
  ///   out, as one that was interrupted.
  package init(recording: Recording, steps: [Step], model: NSManagedObjectModel) {
    self.recording = recording
    self.model = model
    var open = steps[...]
    parts = recording.steps.compactMap { recorded in
      guard let step = open.first, step.location == recorded.location, step.text == recorded.text
      else { return nil }
      open.removeFirst()
      return Part(step: step, recorded: recorded)
    }
  }

  /// The events of a part.
  func events(of part: Part) -> [Event] {
    recording.slice(after: part.recorded.after, through: part.recorded.through).events
  }

  /// The events after a part.
  func events(after part: Part) -> [Event] {
    recording.slice(after: part.recorded.through, through: Int.max - 1).events
  }

  /// The parts that work on the result which the part at a place has named.
  ///
  /// They end where the name is let go or given to something else.
  func users(ofResultAt place: Int) -> [Part] {
    guard let name = parts[place].step.name else { return [] }
    var users: [Part] = []
    for part in parts[(place + 1)...] {
      if part.step.verb == .reset || part.step.name == name { break }
      guard part.step.subject == name else { continue }
      if part.step.verb == .drop { break }
      users.append(part)
    }
    return users
  }
}

extension Finding.Rule {
  /// The rules that speak after each step.
  static var ofSteps: [any StepRule.Type] {
    [
      FaultStorm.self, IneffectivePrefetch.self, BatchWalked.self,
    ]
  }

  /// The rules that speak when the work is over.
  static var ofWork: [any WorkRule.Type] {
    [
      UnusedPrefetch.self, FetchToCount.self, FetchLoop.self, PartlyRead.self, ChattySaves.self,
      UnmergedBatch.self,
    ]
  }

  /// What the rules find in one step.
  package static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    ofSteps.flatMap { $0.findings(in: recording, context: context) }
  }

  /// What the rules find in a whole piece of work, apart from what its steps have found.
  package static func findings(in work: FinishedWork) -> [Finding] {
    ofWork.flatMap { $0.findings(in: work) }
  }
}
