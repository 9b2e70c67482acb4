extension ExportedVariant {
  /// Makes a context, or changes one.
  mutating func makeContext(_ step: Step) {
    let isNew = known.contexts[step.subject] == nil
    let shape = ContextShape(step, known: known.contexts[step.subject], among: known.contexts)
    if isNew { declare(step.subject, shape) }
    guard let context = contexts[step.subject] else { return }
    let settings = step.options.compactMap { setting($0, of: context) }
    guard !settings.isEmpty else { return }
    lines.block("step(\(context))") { $0.add(settings) }
  }

  private mutating func declare(_ name: String, _ shape: ContextShape) {
    let isMain = shape.queue == .main ? ", isMain: true" : ""
    let made: String
    if let parent = shape.parent.flatMap({ contexts[$0] }) {
      made = "makeContext(below: \(parent)\(isMain))"
    } else {
      if coordinators[shape.coordinator] == nil {
        let coordinator = identifiers.name(shape.coordinator, "coordinator")
        coordinators[shape.coordinator] = coordinator
        lines.line("let \(coordinator) = try openStore(store, model)")
      }
      made = "makeContext(on: \(coordinators[shape.coordinator] ?? "first")\(isMain))"
    }
    let identifier = identifiers.name(name)
    contexts[name] = identifier
    contextOrder.append(name)
    lines.line("let \(identifier) = \(made)")
  }

  private func setting(_ option: StepOption, of context: String) -> String? {
    switch option {
    case .policy(let policy): "\(context).mergePolicy = NSMergePolicy.\(policy.swiftName)"
    case .merges(let flag): "\(context).automaticallyMergesChangesFromParent = \(flag)"
    case .staleness(let seconds): "\(context).stalenessInterval = \(seconds)"
    case .undoable(let flag): "\(context).undoManager = \(flag ? "UndoManager()" : "nil")"
    case .retains(let flag): "\(context).retainsRegisteredObjects = \(flag)"
    default: nil
    }
  }

  /// Merges what was saved elsewhere.
  mutating func merge(_ step: Step, into context: String) {
    guard let variable = variables[step.subject], let shape = known.results[step.subject],
      let source = contexts[shape.context]
    else { return }
    let name = variable.identifier
    if let key = variable.key {
      let changes = "[\(key): \(name).map { $0.uriRepresentation() }]"
      lines.line(
        "step(\(context)) { NSManagedObjectContext.mergeChanges(fromRemoteContextSave: \(changes), "
          + "into: [\(context)]) }")
      return
    }
    var isRemote = false
    if case .remote(let flag)? = step.option(.remote) { isRemote = flag }
    lines.block("step(\(context))") { lines in
      lines.line("guard let \(name) else { return }")
      if isRemote {
        lines.line("let told = changes(of: \(name), in: \(source))")
        lines.line(
          "NSManagedObjectContext.mergeChanges(fromRemoteContextSave: told, into: [\(context)])")
      } else {
        lines.line("\(context).mergeChanges(fromContextDidSave: \(name))")
      }
    }
  }

  /// Pins a context to a state of the store, or lets it go.
  func pin(_ step: Step, _ context: String) -> [String] {
    var word = "current"
    if case .to(let text)? = step.option(.to) { word = text }
    switch word {
    case "current": return ["try \(context).setQueryGenerationFrom(.current)"]
    case "none": return ["try \(context).setQueryGenerationFrom(nil)"]
    default:
      let other = contexts[word] ?? "main"
      return [
        "let token = \(other).performAndWait { \(other).queryGenerationToken }",
        "try \(context).setQueryGenerationFrom(token)",
      ]
    }
  }
}

extension MergePolicyName {
  /// Apple's name of the policy.
  fileprivate var swiftName: String {
    switch self {
    case .error, .rollback, .overwrite: rawValue
    case .store: "mergeByPropertyStoreTrump"
    case .object: "mergeByPropertyObjectTrump"
    }
  }
}
