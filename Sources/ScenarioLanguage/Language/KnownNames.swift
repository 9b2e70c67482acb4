/// The names a step may use: results that are held, and contexts.
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
    if case .context(let name)? = step.option(.context) { return name }
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
