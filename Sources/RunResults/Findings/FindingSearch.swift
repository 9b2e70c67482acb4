package import ManagedModel
import ProfileEvents
package import ScenarioLanguage
package import StatementAnalysis
import WorkbenchText

/// Searches the work of a variant or of a shell run for findings.
package enum FindingSearch {
  /// The result of a search.
  package struct Found: Sendable, Equatable {
    /// The findings, grouped by name, line, and kind of event: those of single steps in the order
    /// of the steps, then those of the other rules in the order of `Rule.all`.
    package var findings: [Finding] = []
    /// The findings that fired but are suppressed by the scenario, grouped in the same way.
    package var silenced: [Finding] = []

    package init(findings: [Finding] = [], silenced: [Finding] = []) {
      self.findings = findings
      self.silenced = silenced
    }

    /// The distinct names of the suppressed findings.
    package var silencedNames: [String] {
      silenced.map(\.name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
  }

  /// Returns all findings in a piece of work.
  ///
  /// **Cost:** one pass over the events for each rule; with a store, also the cost of
  /// `MissingIndexRule`.
  ///
  /// - Parameters:
  ///   - work: The steps and their events.
  ///   - steps: The findings of the rules for single steps (`StepOutcome.findings`).
  ///   - statements: The statements of the work with their plans.
  ///   - advisor: Returns an advisor on a copy of the store, or `nil` to try no indexes.
  ///   - silence: The findings that the scenario suppresses.
  package static func all(
    of work: FinishedWork, steps: [Finding], statements: [StatementShape] = [],
    advisor: (() throws -> IndexAdvisor)? = nil, silence: [FindingSuppression] = []
  ) -> Found {
    let found = Rule.all.flatMap { rule -> [Finding] in
      switch rule.search {
      case .step: []
      case .work(let search): search(work)
      case .store(let search): advisor.map { search(statements, $0) } ?? []
      }
    }
    return grouped(CountPerRowRule.reconsidered(steps, in: work) + found, silence: silence)
  }

  /// Returns the findings in the events of one step.
  ///
  /// **Cost:** one pass over the events for each rule for single steps.
  package static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    Rule.all.flatMap { rule -> [Finding] in
      if case .step(let search) = rule.search { search(recording, context) } else { [] }
    }
  }

  /// Groups findings, and separates those that are suppressed.
  ///
  /// Findings with the same rule, subject, line, and kind of event become one, with the sum of
  /// their counts, or the greatest one if the rule `countsOne`.
  package static func grouped(_ findings: [Finding], silence: [FindingSuppression]) -> Found {
    struct Key: Hashable {
      var name: String
      var callSite: CallSite?
      var what: String
    }
    var positions: [Key: Int] = [:]
    let grouped = findings.reduce(into: [Finding]()) { grouped, finding in
      let key = Key(name: finding.name, callSite: finding.callSite, what: finding.what)
      if let position = positions[key] {
        let count = grouped[position].count
        grouped[position].count =
          Rule.named(finding.rule)?.countsOne == true
          ? max(count, finding.count) : count + finding.count
      } else {
        positions[key] = grouped.count
        grouped.append(finding)
      }
    }
    func isSilenced(_ finding: Finding) -> Bool { silence.contains { $0.hides(finding) } }
    return Found(
      findings: grouped.filter { !isSilenced($0) }, silenced: grouped.filter(isSilenced))
  }
}

/// The completed steps of a variant or of a shell run, with all recorded events.
package struct FinishedWork: Sendable {
  /// A completed step.
  package struct Part: Sendable {
    package var step: Step
    /// The recorded step, which determines its range of events.
    package var recorded: RecordedStep
    /// The name of the context that the step ran in.
    package var context: String
    /// The configuration of that context when the step began.
    var shape: ContextShape
    /// The names of the results that the step's predicate refers to.
    var references: Set<String>
  }

  package var recording: Recording
  package var parts: [Part]
  package var model: NSManagedObjectModel
  /// The names of the results and contexts that exist after the last step.
  package var names: KnownNames
  /// The numbers of objects that are registered after the last step, by context and entity; empty
  /// if they aren't known.
  package var registered: [String: [String: Int]]

  /// Matches recorded steps with the steps of a scenario or shell run.
  ///
  /// - Parameters:
  ///   - recording: The recorded events and steps.
  ///   - steps: The steps in the order in which they ran. A recorded step that isn't among them,
  ///     such as an interrupted one, is omitted.
  ///   - model: The model of the store.
  ///   - registered: The numbers of registered objects, by context and entity, if they're known.
  package init(
    recording: Recording, steps: [Step], model: NSManagedObjectModel,
    registered: [String: [String: Int]] = [:]
  ) {
    self.recording = recording
    self.model = model
    self.registered = registered
    var open = steps[...]
    var known = KnownNames()
    parts = recording.steps.compactMap { recorded in
      guard let step = open.first, step.location == recorded.location,
        step.isRecorded(as: recorded.text)
      else { return nil }
      open.removeFirst()
      let context = known.context(of: step)
      let shape = known.contexts[context] ?? ContextShape()
      known = known.after(step)
      return Part(
        step: step, recorded: recorded, context: context, shape: shape,
        references: Set(step.predicateReferences.map(\.name)))
    }
    names = known
  }

  /// Returns the events of a part.
  func events(of part: Part) -> RecordedEvents {
    recording.slice(after: part.recorded.after, through: part.recorded.through).events
  }

  /// Returns the events after a part.
  func events(after part: Part) -> RecordedEvents {
    recording.slice(after: part.recorded.through, through: Int.max - 1).events
  }

  /// Returns the position of the fetch that created the result a part works on, and its number of
  /// rows.
  ///
  /// Returns `nil` if the result isn't from a fetch of objects.
  func source(ofResultAt position: Int) -> (position: Int, rows: Int)? {
    let name = parts[position].step.subject
    guard let source = parts[..<position].lastIndex(where: { $0.step.name == name }),
      parts[source].step.verb == .fetch, parts[source].step.resultKind == .objects,
      let rows = events(of: parts[source]).first(where: { $0.kind == .fetch })?.rows
    else { return nil }
    return (source, rows)
  }

  /// Returns the later parts that work on the named result of a part, assign it to other objects,
  /// or refer to it in a predicate.
  ///
  /// The search ends where the name is released or reused, or the part's context is reset.
  func users(ofResultAt position: Int) -> [Part] {
    guard let name = parts[position].step.name else { return [] }
    var users: [Part] = []
    for part in parts[(position + 1)...] {
      if part.step.verb == .reset, part.context == parts[position].context { break }
      if part.references.contains(name) {
        users.append(part)
        if part.step.name == name { break }
        continue
      }
      if part.step.name == name { break }
      let isGiven = (part.step.assignments + part.step.removals).contains {
        !$0.isExpression && $0.value == name
      }
      guard part.step.subject == name || isGiven else { continue }
      if part.step.verb == .drop { break }
      users.append(part)
    }
    return users
  }

  /// Returns whether a later part uses the rows that the fetch of a part loaded, while its result
  /// exists.
  ///
  /// It reads objects of the entity through a relationship, or those of another result that was
  /// fetched without property values.
  func usesRows(ofFetchAt position: Int) -> Bool {
    let fetch = parts[position]
    guard let fetched = model.entitiesByName[fetch.step.subject],
      fetch.step.flag(of: .values) != false
    else { return false }
    var entities: [String: NSEntityDescription] = [:]
    // The results without rows of their own.
    var bare: Set<String> = []
    for (index, part) in parts.enumerated() {
      let step = part.step
      let entity = model.entitiesByName[step.subject]
      if index > position {
        if step.verb == .reset, part.context == fetch.context { return false }
        if step.verb == .drop, step.subject == fetch.step.name { return false }
        // Another coordinator has a row cache of its own.
        let isShared = part.shape.coordinator == fetch.shape.coordinator
        if isShared, bare.contains(step.subject), step.readsValues { return true }
        let owner = step.verb == .results ? entity : entities[step.subject]
        let keyPaths = step.reads + (step.sortKeys(of: .sort) ?? []).map(\.keyPath)
        if isShared, let owner, keyPaths.contains(where: { owner.reads($0, through: fetched) }) {
          return true
        }
        if let name = step.name, name == fetch.step.name { return false }
      }
      if let name = step.name {
        entities[name] = entity
        bare.remove(name)
        if step.isBareFetch, entity?.sharesObjects(with: fetched) == true { bare.insert(name) }
      }
    }
    return false
  }
}

extension NSEntityDescription {
  /// Returns whether a key path reads an attribute of another entity's objects, or what they refer
  /// to, through a relationship.
  fileprivate func reads(_ keyPath: String, through other: NSEntityDescription) -> Bool {
    let names = keyPath.split(separator: ".").map(String.init)
    var owner: NSEntityDescription? = self
    for (name, next) in zip(names, names.dropFirst()) {
      guard next != "@count", let entity = owner?.relationshipsByName[name]?.destinationEntity
      else { return false }
      if entity.sharesObjects(with: other) { return true }
      owner = entity
    }
    return false
  }

  /// Returns whether an object can be of both entities.
  fileprivate func sharesObjects(with other: NSEntityDescription) -> Bool {
    namesWithSubentities.contains(other.name ?? "")
      || other.namesWithSubentities.contains(name ?? "")
  }
}

extension Step {
  /// Whether the step is a fetch that loads no rows.
  fileprivate var isBareFetch: Bool {
    (verb == .fetch || verb == .results) && flag(of: .values) == false
  }

  /// Whether the step needs the values of its result's objects.
  fileprivate var readsValues: Bool {
    switch verb {
    case .touch, .set, .relate, .delete: true
    case .walk: !reads.isEmpty || option(.sort) != nil
    default: false
    }
  }

  /// Returns whether an option has a number other than 0, which has the same effect as none.
  func limits(_ word: OptionWord) -> Bool {
    guard let found = option(word) else { return false }
    return found.number?.value != 0
  }

  /// Returns whether a text is that of the recorded step, whose `fails` can differ: the shell sets
  /// it to the error that occurred.
  fileprivate func isRecorded(as text: String) -> Bool {
    var step = self
    step.fails = nil
    return text == step.text || text.hasPrefix("\(step.text) fails ")
  }
}
