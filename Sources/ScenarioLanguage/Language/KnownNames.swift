import ManagedModel
import WorkbenchText

/// The named results and contexts that a step can refer to.
package struct KnownNames: Sendable, Equatable {
  package var results: [String: ResultShape]
  package var contexts: [String: ContextShape]

  package init(
    results: [String: ResultShape] = [:],
    contexts: [String: ContextShape] = [ContextShape.main: ContextShape()]
  ) {
    self.results = results
    self.contexts = contexts
  }

  /// Returns the name of the context that a step runs in: the context it names, or the context of
  /// the result it uses.
  ///
  /// A merge runs in the main context unless the step names another.
  package func context(of step: Step) -> String {
    if let name = step.name(of: .context) { return name }
    guard step.verb.subject == .result, step.verb != .merge else { return ContextShape.main }
    return results[step.subject]?.context ?? ContextShape.main
  }

  /// Returns whether a context is the same as another or a descendant of it.
  package func contains(_ context: String, in ancestor: String) -> Bool {
    var name: String? = context
    while let present = name {
      if present == ancestor { return true }
      name = contexts[present]?.parent
    }
    return false
  }

  /// Returns the names that exist after a step: the same ones if it's expected to fail.
  package func after(_ step: Step) -> KnownNames {
    guard step.fails == nil else { return self }
    var names = self
    let context = context(of: step)
    switch step.verb {
    case .fetch, .results, .insert, .save, .batchInsert, .batchUpdate, .batchDelete:
      if let name = step.name {
        names.results[name] = ResultShape(
          entity: step.subject, kind: step.shapeKind, context: context)
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
  /// The kind of result that the step's name refers to.
  fileprivate var shapeKind: ResultShape.Kind {
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

/// The static description of a named result.
package struct ResultShape: Sendable, Equatable {
  /// The contents of a named result.
  package enum Kind: String, Sendable {
    case objects
    case ids
    case dictionaries
    /// The did-save notification of a save.
    case save
    /// The object IDs of the rows that a batch request inserted, updated, or deleted.
    case rows
  }

  /// The entity that was fetched, inserted, or changed.
  ///
  /// Empty for a save.
  package var entity: String
  package var kind: Kind
  /// The name of the context that the result belongs to.
  package var context: String

  package init(
    entity: String, kind: Kind = .objects, context: String = ContextShape.main
  ) {
    self.entity = entity
    self.kind = kind
    self.context = context
  }

  /// Whether steps can use the result's objects, or the objects of its object IDs.
  package var hasObjects: Bool {
    switch kind {
    case .objects, .ids, .rows: true
    case .dictionaries, .save: false
    }
  }

  /// Whether the result describes changes in the store, so it can be merged.
  package var canBeMerged: Bool { kind == .save || kind == .rows }

  /// A description of the result's contents for errors.
  package var contents: String {
    switch kind {
    case .objects, .dictionaries: kind.rawValue
    case .ids: "object IDs"
    case .save: "a save's notification"
    case .rows: "the object IDs of a batch request"
    }
  }
}

/// The static description of a context.
package struct ContextShape: Sendable, Equatable {
  /// The name of the initial context, in which a step runs if it names no other.
  package static let main = "main"
  /// The name of the main context's coordinator.
  package static let firstCoordinator = "first"

  /// The name of the parent context, or `nil` for a context that's connected to a coordinator.
  package var parent: String?
  /// The coordinator's name.
  ///
  /// Contexts with the same name share the coordinator.
  package var coordinator: String
  package var queue: ContextQueue
  package var policy: MergePolicyName?
  package var mergesAutomatically: Bool?
  /// The staleness interval, in seconds.
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

  /// Creates the description of a context after a `context` step.
  ///
  /// - Parameters:
  ///   - step: A `context` step.
  ///   - known: The context before the step, or `nil` for a new one.
  ///   - contexts: The existing contexts, by name.
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
