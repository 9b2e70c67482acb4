package import Foundation
package import OpenCoreData
import ProfileEvents
package import ScenarioLanguage
package import StatementAnalysis

/// The one search for findings: of a variant that ran, of a run in the shell, and of its report.
package enum FindingSearch {
  /// What a search found.
  package struct Found: Sendable, Equatable {
    /// Those of the same name, line, and kind of event as one, in the order in which they began.
    package var findings: [Finding] = []
    /// Those that fired and that a scenario suppresses, put together in the same way.
    package var silenced: [Finding] = []

    package init(findings: [Finding] = [], silenced: [Finding] = []) {
      self.findings = findings
      self.silenced = silenced
    }

    /// The names of the suppressed ones, each once.
    package var silencedNames: [String] {
      silenced.map(\.name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
  }

  /// Everything that the rules find in a piece of work.
  ///
  /// Cost: a pass over the events for each rule; with a store, what `MissingIndexRule` does.
  /// - Parameters:
  ///   - work: The steps and their events.
  ///   - steps: What the rules of single steps found while these ran (`StepOutcome.findings`).
  ///   - statements: The statements of the work with their plans.
  ///   - store: Where indexes are tried for these, on a copy; nil to try none.
  ///   - silence: What a scenario suppresses.
  package static func all(
    of work: FinishedWork, steps: [Finding], statements: [StatementShape] = [],
    store: URL? = nil, silence: [FindingSuppression] = []
  ) -> Found {
    let found = Rule.all.flatMap { rule -> [Finding] in
      switch rule.search {
      case .step: []
      case .work(let search): search(work)
      case .store(let search): store.map { search(statements, $0) } ?? []
      }
    }
    return grouped(steps + found, silence: silence)
  }

  /// What the rules find in the events of one step.
  ///
  /// Cost: a pass over the events for each rule of steps.
  package static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    Rule.all.flatMap { rule -> [Finding] in
      if case .step(let search) = rule.search { search(recording, context) } else { [] }
    }
  }

  /// Findings put together, apart from those that are suppressed.
  ///
  /// The same rule on the same subject is one finding where line and kind of event are the same too.
  package static func grouped(_ findings: [Finding], silence: [FindingSuppression]) -> Found {
    struct Key: Hashable {
      var name: String
      var callSite: CallSite?
      var what: String
    }
    var places: [Key: Int] = [:]
    let grouped = findings.reduce(into: [Finding]()) { grouped, finding in
      let key = Key(name: finding.name, callSite: finding.callSite, what: finding.what)
      if let place = places[key] {
        grouped[place].count += finding.count
      } else {
        places[key] = grouped.count
        grouped.append(finding)
      }
    }
    func isSilenced(_ finding: Finding) -> Bool { silence.contains { $0.hides(finding) } }
    return Found(
      findings: grouped.filter { !isSilenced($0) }, silenced: grouped.filter(isSilenced))
  }
}

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
  /// They end where the name is released or reused.
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
