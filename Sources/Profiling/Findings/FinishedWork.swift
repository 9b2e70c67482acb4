package import OpenCoreData
import ProfileEvents
package import ScenarioLanguage

/// The steps of a variant, or of a shell's try, with everything they caused.
package struct FinishedWork: Sendable {
  /// One step that is over.
  package struct Part: Sendable {
    package var step: Step
    /// Which events are its own.
    package var recorded: RecordedStep
    /// The name of the context it ran in.
    package var context: String
    /// What is known of that context when the step begins.
    var shape: ContextShape
  }

  package var recording: Recording
  package var parts: [Part]
  package var model: NSManagedObjectModel
  /// The results and contexts that are left.
  package var names: KnownNames

  /// Puts the recorded steps to the steps they were.
  ///
  /// - Parameter steps: In the order in which they ran; a recorded step that is not among them is left
  ///   out, as one that was interrupted.
  package init(recording: Recording, steps: [Step], model: NSManagedObjectModel) {
    self.recording = recording
    self.model = model
    var open = steps[...]
    var known = KnownNames()
    parts = recording.steps.compactMap { recorded in
      guard let step = open.first, step.location == recorded.location, step.text == recorded.text
      else { return nil }
      open.removeFirst()
      let context = known.context(of: step)
      let shape = known.contexts[context] ?? ContextShape()
      known = known.after(step)
      return Part(step: step, recorded: recorded, context: context, shape: shape)
    }
    names = known
  }

  /// The events of a part.
  func events(of part: Part) -> [Event] {
    recording.slice(after: part.recorded.after, through: part.recorded.through).events
  }

  /// The events after a part.
  func events(after part: Part) -> [Event] {
    recording.slice(after: part.recorded.through, through: Int.max - 1).events
  }

  /// The fetch behind the subject of the part at a place, and the rows that it brought.
  ///
  /// Nil when no fetch of objects brought it.
  func source(ofResultAt place: Int) -> (place: Int, rows: Int)? {
    let name = parts[place].step.subject
    guard let source = parts[..<place].lastIndex(where: { $0.step.name == name }),
      parts[source].step.verb == .fetch, parts[source].step.resultKind == .objects,
      let rows = events(of: parts[source]).first(where: { $0.kind == .fetch })?.rows
    else { return nil }
    return (source, rows)
  }

  /// The parts that work on the result which the part at a place has named, or give it to others.
  ///
  /// They end where the name is let go or given to something else.
  func users(ofResultAt place: Int) -> [Part] {
    guard let name = parts[place].step.name else { return [] }
    var users: [Part] = []
    for part in parts[(place + 1)...] {
      if part.step.verb == .reset || part.step.name == name { break }
      let isGiven = (part.step.assignments + part.step.removals).contains { $0.value == name }
      guard part.step.subject == name || isGiven else { continue }
      if part.step.verb == .drop { break }
      users.append(part)
    }
    return users
  }
}

extension RuleName {
  /// The rules that speak after each step.
  static var ofSteps: [any StepRule.Type] {
    [
      FaultStorm.self, CountPerRow.self, IneffectivePrefetch.self, BatchWalked.self,
      SortedInMemory.self,
    ]
  }

  /// The rules that speak when the work is over.
  static var ofWork: [any WorkRule.Type] {
    [
      UnusedPrefetch.self, FetchToCount.self, FetchLoop.self, PartlyRead.self, ChattySaves.self,
      UnmergedBatch.self, LostChanges.self, NeedlessUpdate.self, KeptAlive.self, BusyMainQueue.self,
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
