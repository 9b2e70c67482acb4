import ManagedModel

/// A variant as a Swift function.
///
/// Each step is a block of a context, and each named result is a variable.
struct ExportedVariant {
  /// The type of a variable.
  enum Kind: String {
    case objects = "[NSManagedObject]"
    case batches = "Batches?"
    case ids = "[NSManagedObjectID]"
    case dictionaries = "[NSDictionary]"
    case save = "Notification?"

    /// The empty value of the type.
    var empty: String {
      switch self {
      case .objects, .ids, .dictionaries: "[]"
      case .batches, .save: "nil"
      }
    }
  }

  /// The endings of the constants that steps declare for the objects of a result.
  private static let endings = ["Batches", "IDs", "List", "Object"]

  /// A named result.
  struct Variable {
    var identifier: String
    /// The result's name.
    var name: String
    /// The name of the result's context.
    var context: String
    var kind: Kind
    /// For the object IDs of a batch request, the key in the notification's user info.
    var key: String?

    /// Returns whether the variable is for results with a name and a type in a context.
    func isOf(_ name: String, _ kind: Kind, in context: String) -> Bool {
      self.name == name && self.kind == kind && self.context == context
    }
  }

  let model: NSManagedObjectModel
  var lines: SwiftLines
  var known = KnownNames()
  var identifiers = SwiftIdentifiers(reserved: [
    "first", "main", "store", "model", "request", "object", "position", "index", "range", "id",
    "made",
    "step", "failing", "waitFor", "read", "walk", "sorted", "part", "cycling", "ids", "adopt",
    "changes", "say", "save", "other", "list", "ordered", "owners", "row", "values", "fetch",
    "result", "token", "changed", "makeContext", "openStore", "fetchBatches",
    "notificationOfSave", "stride", "withExtendedLifetime",
  ])
  /// The variables, by the result's name.
  var variables: [String: Variable] = [:]
  /// All declared variables, in order.
  var declared: [Variable] = []
  /// The lines that release the results whose names the step gives to new ones.
  var releases: [String] = []
  /// The identifiers of contexts, by the context's name.
  var contexts: [String: String] = [ContextShape.main: "main"]
  /// The names of the existing contexts, parents before their children.
  var contextOrder = [ContextShape.main]
  /// The identifiers of coordinators, by the coordinator's name.
  var coordinators = [ContextShape.firstCoordinator: "first"]

  private init(model: NSManagedObjectModel, depth: Int) {
    self.model = model
    lines = SwiftLines(depth: depth)
  }

  /// Writes the function of a variant.
  ///
  /// - Parameters:
  ///   - variant: The variant.
  ///   - steps: The variant's steps, with their numbers resolved.
  ///   - model: The scenario's model.
  ///   - name: The name of the function.
  ///   - file: The lines to add the function to.
  static func write(
    _ variant: Variant, steps: [Step], model: NSManagedObjectModel, named name: String,
    to file: inout SwiftLines
  ) {
    var body = ExportedVariant(model: model, depth: 0)
    // A request has a constant for each function among its columns.
    for column in steps.flatMap({ $0.columns(of: .columns) ?? [] }) where column.function != nil {
      _ = body.identifiers.name(column.name)
    }
    for step in steps { body.write(step) }
    body.end()
    if !variant.why.isEmpty { file.comment(variant.why, marks: "///") }
    file.line("static func \(name)(")
    file.line(
      "  _ first: NSPersistentStoreCoordinator, _ store: URL, _ model: NSManagedObjectModel")
    file.block(") throws") { file in
      file.line("let main = makeContext(on: first)")
      for variable in body.declared {
        file.line("var \(variable.identifier): \(variable.kind.rawValue) = \(variable.kind.empty)")
      }
      file.add(body.lines.lines)
    }
  }

  /// Writes a step and records the names that it defines.
  private mutating func write(_ step: Step) {
    lines.comment("\(step.location)   \(step.text)")
    switch step.verb {
    case .context: makeContext(step)
    case .drop: drop(step)
    case .reset: release(context: known.context(of: step))
    default: perform(step)
    }
    known = known.after(step)
    if contextOrder.count > 1 {
      let list = contextOrder.compactMap { contexts[$0] }.joined(separator: ", ")
      lines.line("waitFor([\(list)])")
    }
  }

  /// Keeps results until the end, and releases them on their contexts' queues.
  private mutating func end() {
    if !declared.isEmpty {
      let all = declared.map(\.identifier).joined(separator: ", ")
      lines.line("withExtendedLifetime((\(all))) {}")
    }
    for name in contextOrder.reversed() { release(context: name) }
  }

  /// Returns the variable for a result that a step returns.
  ///
  /// Call it after `elements(of:in:)`, because the step can use the previous result with the name.
  /// That is released after the step if it belongs to another context or has another type.
  mutating func variable(_ name: String, _ kind: Kind, key: String? = nil, of step: Step)
    -> Variable
  {
    let context = known.context(of: step)
    if let old = variables[name], let shape = known.results[name],
      let before = contexts[shape.context], old.kind != kind || shape.context != context
    {
      releases.append("step(\(before)) { \(old.identifier) = \(old.kind.empty) }")
    }
    var made: Variable
    if let declared = declared.first(where: { $0.isOf(name, kind, in: context) }) {
      made = declared
    } else {
      let identifier = identifiers.name(name, endings: ExportedVariant.endings)
      made = Variable(identifier: identifier, name: name, context: context, kind: kind)
      declared.append(made)
    }
    made.key = key
    variables[name] = made
    return made
  }

  /// Writes a block that releases the results of a context, and resets it.
  mutating func release(context name: String) {
    guard let context = contexts[name] else { return }
    let kept = known.results.filter { $0.value.context == name }.keys.sorted()
      .compactMap { variables[$0] }
    lines.block("step(\(context))") { lines in
      for variable in kept { lines.line("\(variable.identifier) = \(variable.kind.empty)") }
      lines.line("\(context).reset()")
    }
  }

  private mutating func drop(_ step: Step) {
    if known.contexts[step.subject] != nil {
      release(context: step.subject)
      contextOrder.removeAll { $0 == step.subject }
      contexts[step.subject] = nil
    } else if let variable = variables[step.subject], let shape = known.results[step.subject],
      let context = contexts[shape.context]
    {
      lines.line("step(\(context)) { \(variable.identifier) = \(variable.kind.empty) }")
    }
  }
}

extension ExportedVariant {
  /// Writes the code that creates or changes a context.
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
    switch (option.word, option.value) {
    case (.policy, .choice(let word)):
      MergePolicyName(rawValue: word).map {
        "\(context).mergePolicy = NSMergePolicy.\($0.swiftName)"
      }
    case (.merges, .flag(let flag)): "\(context).automaticallyMergesChangesFromParent = \(flag)"
    case (.staleness, .seconds(let seconds)): "\(context).stalenessInterval = \(seconds)"
    case (.undoable, .flag(let flag)):
      "\(context).undoManager = \(flag ? "UndoManager()" : "nil")"
    case (.retains, .flag(let flag)): "\(context).retainsRegisteredObjects = \(flag)"
    default: nil
    }
  }

  /// Writes the code that merges changes from a save or a batch request.
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
    let isRemote = step.flag(of: .remote) ?? false
    lines.block("step(\(context))") { lines in
      lines.line("guard let \(name) else { return }")
      if isRemote {
        lines.line("let changed = changes(of: \(name), in: \(source))")
        lines.line(
          "NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changed, into: [\(context)])")
      } else {
        lines.line("\(context).mergeChanges(fromContextDidSave: \(name))")
      }
    }
  }

  /// Returns the code that pins a context to a query generation or unpins it.
  func pin(_ step: Step, _ context: String) -> [String] {
    let word = step.text(of: .to) ?? "current"
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
  /// The name of the `NSMergePolicy` property.
  fileprivate var swiftName: String {
    switch self {
    case .error, .rollback, .overwrite: rawValue
    case .store: "mergeByPropertyStoreTrump"
    case .object: "mergeByPropertyObjectTrump"
    }
  }
}
