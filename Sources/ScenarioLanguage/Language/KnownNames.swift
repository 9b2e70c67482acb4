import OpenCoreData
import WorkbenchText

/// The names a step may use: named results and contexts.
package struct KnownNames: Sendable, Equatable {
  package var results: [String: HeldShape]
  package var contexts: [String: ContextShape]

  package init(
    results: [String: HeldShape] = [:],
    contexts: [String: ContextShape] = [ContextShape.main: ContextShape()]
  ) {
    self.results = results
    self.contexts = contexts
  }

  /// The context a step runs in: the one it names, else that of the result it works on.
  ///
  /// A merge runs in the main context unless another is named.
  package func context(of step: Step) -> String {
    if let name = step.name(of: .context) { return name }
    guard step.verb.subject == .result, step.verb != .merge else { return ContextShape.main }
    return results[step.subject]?.context ?? ContextShape.main
  }

  /// Whether a context's objects are known in another: it is the same, or below it.
  package func contains(_ context: String, in ancestor: String) -> Bool {
    var name: String? = context
    while let present = name {
      if present == ancestor { return true }
      name = contexts[present]?.parent
    }
    return false
  }

  /// The names known after a step that went well.
  package func after(_ step: Step) -> KnownNames {
    var names = self
    let context = context(of: step)
    switch step.verb {
    case .fetch, .insert, .save, .batchInsert, .batchUpdate, .batchDelete:
      if let name = step.name {
        names.results[name] = HeldShape(
          entity: step.subject, kind: step.heldKind, context: context)
      }
    case .drop where contexts[step.subject] != nil:
      names.contexts[step.subject] = nil
      names.results = results.filter { $0.value.context != step.subject }
    case .drop: names.results[step.subject] = nil
    case .reset: names.results = results.filter { $0.value.context != context }
    case .context:
      names.contexts[step.subject] = ContextShape(
        step, known: contexts[step.subject], among: contexts)
    default: break
    }
    return names
  }
}

extension Step {
  /// What the step's name would hold.
  fileprivate var heldKind: HeldShape.Kind {
    switch verb {
    case .save: .save
    case .batchInsert, .batchUpdate, .batchDelete: .rows
    default:
      switch resultKind {
      case .objects, .count: .objects
      case .ids: .ids
      case .dictionaries: .dictionaries
      }
    }
  }
}

/// What is known of a named result before anything runs.
package struct HeldShape: Sendable, Equatable {
  /// What is held.
  package enum Kind: String, Sendable {
    case objects
    case ids
    case dictionaries
    /// The notification of a save.
    case save
    /// The IDs of rows that a batch request inserted, updated or deleted.
    case rows
  }

  /// The entity that was fetched, inserted or changed; empty for a save.
  package var entity: String
  package var kind: Kind
  /// The context it belongs to.
  package var context: String

  package init(
    entity: String, kind: Kind = .objects, context: String = ContextShape.main
  ) {
    self.entity = entity
    self.kind = kind
    self.context = context
  }

  /// Whether steps can work on its objects, or on the objects of its IDs.
  package var hasObjects: Bool {
    switch kind {
    case .objects, .ids, .rows: true
    case .dictionaries, .save: false
    }
  }

  /// Whether it says what has changed in the store.
  package var canBeMerged: Bool { kind == .save || kind == .rows }

  /// What it holds, for errors.
  package var contents: String {
    switch kind {
    case .objects, .dictionaries: kind.rawValue
    case .ids: "IDs"
    case .save: "a save's notification"
    case .rows: "the IDs of a batch request"
    }
  }
}

/// What is known of a context before anything runs.
package struct ContextShape: Sendable, Equatable {
  /// The context that is there from the beginning, in which a step runs that names no other.
  package static let main = "main"
  /// The coordinator of the main context.
  package static let firstCoordinator = "first"

  /// Nil for a context over a coordinator.
  package var parent: String?
  /// The coordinator's name; contexts that name the same share it.
  package var coordinator: String
  package var queue: ContextQueue
  package var policy: MergePolicyName?
  package var mergesAutomatically: Bool?
  /// Seconds.
  package var staleness: Double?
  package var isUndoable: Bool?
  package var retainsObjects: Bool?

  package init(
    parent: String? = nil, coordinator: String = ContextShape.firstCoordinator,
    queue: ContextQueue = .background
  ) {
    self.parent = parent
    self.coordinator = coordinator
    self.queue = queue
  }

  /// The shape that a `context` step asks for.
  ///
  /// - Parameter known: what the context was; nil for a new one.
  package init(_ step: Step, known: ContextShape?, among contexts: [String: ContextShape]) {
    self = known ?? ContextShape()
    if let name = step.name(of: .parent) {
      parent = name
      coordinator = contexts[name]?.coordinator ?? coordinator
    }
    queue = step.choice(of: .queue) ?? queue
    coordinator = step.name(of: .coordinator) ?? coordinator
    policy = step.choice(of: .policy) ?? policy
    mergesAutomatically = step.flag(of: .merges) ?? mergesAutomatically
    staleness = step.seconds(of: .staleness) ?? staleness
    isUndoable = step.flag(of: .undoable) ?? isUndoable
    retainsObjects = step.flag(of: .retains) ?? retainsObjects
  }
}

/// Holds what a step says of contexts against those there are.
package struct ContextCheck {
  let names: ModelNames
  let known: KnownNames

  /// Words that `pin to` takes in addition to the names of contexts.
  package static let generations = ["current", "none"]

  /// - Throws: a problem at the first name that isn't a context, or at what the context cannot do.
  func check(_ step: Step) throws(LanguageProblem) {
    if let name = step.name(of: .context) {
      try check(name, at: step.places.place(of: .context))
    }
    switch step.verb {
    case .context: try checkMaking(step)
    case .drop where known.contexts[step.subject] != nil: try checkDropping(step)
    case .pin: try checkPin(step)
    case .undo: try checkUndo(step)
    case .pragma: try checkPragma(step)
    default: break
    }
  }

  private func check(_ name: String, at place: SourceRange) throws(LanguageProblem) {
    guard known.contexts[name] == nil else { return }
    let contexts = known.contexts.keys.sorted()
    throw LanguageProblem(
      "there's no context `\(name)`", at: place,
      didYouMean: NearestName.of(name, among: contexts),
      nextStep: "make it with `context \(name)`; there are: \(ModelNames.list(contexts))")
  }

  private func checkMaking(_ step: Step) throws(LanguageProblem) {
    if ContextCheck.generations.contains(step.subject) {
      throw LanguageProblem(
        "`\(step.subject)` is a keyword of `pin` and can't be the name of a context",
        at: step.places.subject ?? step.places.verb, nextStep: "choose another name")
    }
    if known.contexts[step.subject] != nil {
      for word in [OptionWord.parent, .queue, .coordinator] where step.option(word) != nil {
        throw LanguageProblem(
          "`\(step.subject)` exists, and a context keeps its \(word.rawValue)",
          at: step.places.place(of: word), nextStep: "make another context with it")
      }
    }
    guard let parent = step.name(of: .parent) else { return }
    try check(parent, at: step.places.place(of: .parent))
    guard step.option(.coordinator) == nil else {
      throw LanguageProblem(
        "a child has its parent's coordinator", at: step.places.place(of: .coordinator),
        nextStep: "leave `coordinator` or `parent` out")
    }
  }

  private func checkDropping(_ step: Step) throws(LanguageProblem) {
    let name = step.subject
    let place = step.places.subject ?? step.places.verb
    guard name != ContextShape.main else {
      throw LanguageProblem(
        "the context `\(name)` stays to the end", at: place,
        nextStep: "let its objects go with `reset`")
    }
    if let child = known.contexts.first(where: { $0.value.parent == name })?.key {
      throw LanguageProblem(
        "`\(name)` is the parent of `\(child)`", at: place, nextStep: "drop `\(child)` first")
    }
  }

  private func checkPin(_ step: Step) throws(LanguageProblem) {
    guard let word = step.text(of: .to), !ContextCheck.generations.contains(word),
      known.contexts[word] == nil
    else { return }
    let choices = ContextCheck.generations + known.contexts.keys.sorted()
    throw LanguageProblem(
      "there's no generation or context `\(word)`", at: step.places.place(of: .to),
      didYouMean: NearestName.of(word, among: choices),
      nextStep: "write one of: \(ModelNames.list(choices))")
  }

  private func checkUndo(_ step: Step) throws(LanguageProblem) {
    let context = known.context(of: step)
    guard let shape = known.contexts[context], shape.isUndoable != true else { return }
    throw LanguageProblem(
      "`\(context)` has no undo manager", at: step.places.verb,
      nextStep: "give it one with `context \(context) undoable yes`")
  }

  private func checkPragma(_ step: Step) throws(LanguageProblem) {
    guard let name = known.results.keys.sorted().first else { return }
    throw LanguageProblem(
      "the store can't be reopened while result `\(name)` exists", at: step.places.verb,
      nextStep: "set pragmas before fetching, or `drop \(name)` first")
  }
}
