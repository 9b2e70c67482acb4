import OpenCoreData

/// One variant as a Swift function: each step a block of a context, each named result a variable.
struct ExportedVariant {
  /// What a variable holds.
  enum Kind: String {
    case objects = "[NSManagedObject]"
    case batches = "Batches?"
    case ids = "[NSManagedObjectID]"
    case dictionaries = "[NSDictionary]"
    case save = "Notification?"

    /// What it holds when it holds nothing.
    var empty: String {
      switch self {
      case .objects, .ids, .dictionaries: "[]"
      case .batches, .save: "nil"
      }
    }
  }

  /// A named result.
  struct Variable {
    var identifier: String
    var kind: Kind
    /// For the IDs of a batch request: the key of its notification.
    var key: String?
  }

  let model: NSManagedObjectModel
  var lines: SwiftLines
  var known = KnownNames()
  var identifiers = SwiftIdentifiers(reserved: [
    "first", "main", "store", "model", "request", "object", "place", "index", "range", "id", "made",
    "step", "failing", "settle", "read", "walk", "sorted", "part", "cycling", "ids", "adopt",
    "changes", "say", "save", "other", "list", "ordered", "owners", "row", "values", "fetch",
    "result", "token", "told",
  ])
  /// By the result's name.
  var variables: [String: Variable] = [:]
  /// All that were declared, in their order.
  var declared: [Variable] = []
  /// By the context's name.
  var contexts: [String: String] = [ContextShape.main: "main"]
  /// The names of the contexts there are, parents before their children.
  var contextOrder = [ContextShape.main]
  /// By the coordinator's name.
  var coordinators = [ContextShape.firstCoordinator: "first"]

  private init(model: NSManagedObjectModel, depth: Int) {
    self.model = model
    lines = SwiftLines(depth: depth)
  }

  /// The function of a variant.
  ///
  /// - Parameter name: what the function is called.
  static func write(
    _ variant: Variant, steps: [Step], model: NSManagedObjectModel, named name: String,
    to file: inout SwiftLines
  ) {
    var body = ExportedVariant(model: model, depth: 0)
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

  /// Writes a step, and knows afterwards what it named.
  private mutating func write(_ step: Step) {
    lines.comment("\(step.location)   \(step.text)")
    switch step.verb {
    case .context: makeContext(step)
    case .drop: drop(step)
    case .reset: letGo(ofContext: known.context(of: step), resets: true)
    default: perform(step)
    }
    known = known.after(step)
    if contextOrder.count > 1 {
      let list = contextOrder.compactMap { contexts[$0] }.joined(separator: ", ")
      lines.line("settle([\(list)])")
    }
  }

  /// Results are held to the end, and let go on their contexts' queues.
  private mutating func end() {
    if !declared.isEmpty {
      let all = declared.map(\.identifier).joined(separator: ", ")
      lines.line("withExtendedLifetime((\(all))) {}")
    }
    for name in contextOrder.reversed() { letGo(ofContext: name, resets: true) }
  }

  /// The variable of a result that a step makes.
  ///
  /// What had the name before is let go when it belongs to another context or is of another kind.
  mutating func variable(_ name: String, _ kind: Kind, key: String? = nil, of step: Step)
    -> Variable
  {
    let old = variables[name]
    if let old, let shape = known.results[name], let context = contexts[shape.context],
      old.kind != kind || shape.context != known.context(of: step)
    {
      lines.line("step(\(context)) { \(old.identifier) = \(old.kind.empty) }")
    }
    if var old, old.kind == kind {
      old.key = key
      variables[name] = old
      return old
    }
    let made = Variable(identifier: identifiers.name(name), kind: kind, key: key)
    variables[name] = made
    declared.append(made)
    return made
  }

  /// Lets the results of a context go.
  mutating func letGo(ofContext name: String, resets: Bool) {
    guard let context = contexts[name] else { return }
    let held = known.results.filter { $0.value.context == name }.keys.sorted()
      .compactMap { variables[$0] }
    lines.block("step(\(context))") { lines in
      for variable in held { lines.line("\(variable.identifier) = \(variable.kind.empty)") }
      if resets { lines.line("\(context).reset()") }
    }
  }

  private mutating func drop(_ step: Step) {
    if known.contexts[step.subject] != nil {
      letGo(ofContext: step.subject, resets: true)
      contextOrder.removeAll { $0 == step.subject }
      contexts[step.subject] = nil
    } else if let variable = variables[step.subject], let shape = known.results[step.subject],
      let context = contexts[shape.context]
    {
      lines.line("step(\(context)) { \(variable.identifier) = \(variable.kind.empty) }")
    }
  }
}
