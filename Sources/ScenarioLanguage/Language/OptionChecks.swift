import ManagedModel
import WorkbenchText

/// Checks a step's references to contexts against the existing contexts.
package struct ContextCheck {
  let names: ModelNames
  let known: KnownNames

  /// The keywords that `pin to` accepts in addition to the names of contexts.
  package static let generations = ["current", "none"]

  /// Checks the contexts of a step.
  ///
  /// - Throws: A problem at the first name that isn't a context, or at an operation that the
  ///   context doesn't allow.
  func check(_ step: Step) throws(LanguageProblem) {
    if let name = step.name(of: .context) {
      try check(name, at: step.ranges.range(of: .context))
    }
    switch step.verb {
    case .context: try checkMaking(step)
    case .drop where known.contexts[step.subject] != nil: try checkDropping(step)
    case .pin: try checkPin(step)
    case .undo: try checkUndo(step)
    case .pragma, .migrate: try checkReopening(step)
    case .history where step.subject == HistoryAction.track.rawValue: try checkReopening(step)
    default: break
    }
  }

  private func check(_ name: String, at range: SourceRange) throws(LanguageProblem) {
    guard known.contexts[name] == nil else { return }
    let contexts = known.contexts.keys.sorted()
    throw LanguageProblem(
      "there's no context `\(name)`", at: range,
      didYouMean: NearestName.of(name, among: contexts),
      nextStep:
        "create it with `context \(name)`, or use one of: \(ModelNames.list(contexts))")
  }

  private func checkMaking(_ step: Step) throws(LanguageProblem) {
    if ContextCheck.generations.contains(step.subject) {
      throw LanguageProblem(
        "`\(step.subject)` is a keyword of `pin` and can't be the name of a context",
        at: step.ranges.subject ?? step.ranges.verb, nextStep: "choose another name")
    }
    if known.contexts[step.subject] != nil {
      for word in [OptionWord.parent, .queue, .coordinator] where step.option(word) != nil {
        throw LanguageProblem(
          "the context `\(step.subject)` exists, and its \(word.rawValue) can't be changed",
          at: step.ranges.range(of: word), nextStep: "create another context with it")
      }
    }
    guard let parent = step.name(of: .parent) else { return }
    try check(parent, at: step.ranges.range(of: .parent))
    guard step.option(.coordinator) == nil else {
      throw LanguageProblem(
        "a child context uses its parent's coordinator", at: step.ranges.range(of: .coordinator),
        nextStep: "remove `coordinator` or `parent`")
    }
  }

  private func checkDropping(_ step: Step) throws(LanguageProblem) {
    let name = step.subject
    let range = step.ranges.subject ?? step.ranges.verb
    guard name != ContextShape.main else {
      throw LanguageProblem(
        "the context `\(name)` can't be dropped", at: range,
        nextStep: "release its objects with `reset`")
    }
    if let child = known.contexts.first(where: { $0.value.parent == name })?.key {
      throw LanguageProblem(
        "`\(name)` is the parent of `\(child)`", at: range, nextStep: "drop `\(child)` first")
    }
  }

  private func checkPin(_ step: Step) throws(LanguageProblem) {
    guard let word = step.text(of: .to), !ContextCheck.generations.contains(word),
      known.contexts[word] == nil
    else { return }
    let choices = ContextCheck.generations + known.contexts.keys.sorted()
    throw LanguageProblem(
      "there's no generation or context `\(word)`", at: step.ranges.range(of: .to),
      didYouMean: NearestName.of(word, among: choices),
      nextStep: "write one of: \(ModelNames.list(choices))")
  }

  private func checkUndo(_ step: Step) throws(LanguageProblem) {
    let context = known.context(of: step)
    guard let shape = known.contexts[context], shape.isUndoable != true else { return }
    throw LanguageProblem(
      "`\(context)` has no undo manager", at: step.ranges.verb,
      nextStep: "add one with `context \(context) undoable yes`")
  }

  private func checkReopening(_ step: Step) throws(LanguageProblem) {
    guard let name = known.results.keys.sorted().first else { return }
    throw LanguageProblem(
      "the store can't be reopened while result `\(name)` exists", at: step.ranges.verb,
      nextStep: step.verb == .migrate
        ? "`drop \(name)` first" : "reopen it before fetching, or `drop \(name)` first")
  }
}

/// Checks an assignment of a step against the model.
struct AssignmentCheck {
  let names: ModelNames
  let entity: NSEntityDescription
  let results: [String: ResultShape]
  let verb: Verb

  /// Checks an assignment.
  ///
  /// - Throws: A problem at the key if the property can't be set, at the value if it has the wrong
  ///   type, or in the expression at its first error.
  func check(
    _ assignment: Assignment, keyAt keyRange: SourceRange, value: Word
  ) throws(LanguageProblem) {
    let property = try names.property(assignment.key, of: entity, at: keyRange)
    guard verb != .relate || (property as? NSRelationshipDescription)?.isToMany == true else {
      throw LanguageProblem(
        "`\(assignment.key)` isn't a to-many relationship", at: keyRange,
        nextStep: "use `set` for attributes and to-one relationships")
    }
    if let attribute = property as? NSAttributeDescription {
      try check(assignment, attribute, keyRange, value)
    } else if let relationship = property as? NSRelationshipDescription {
      try check(assignment, relationship, keyRange, value.range)
    }
  }

  private func check(
    _ assignment: Assignment, _ attribute: NSAttributeDescription, _ keyRange: SourceRange,
    _ value: Word
  ) throws(LanguageProblem) {
    guard !attribute.isDerived else {
      throw LanguageProblem(
        "`\(assignment.key)` is a derived attribute and can't be set", at: keyRange,
        nextStep: "set the property that it's derived from")
    }
    if assignment.isExpression, !(attribute is NSCompositeAttributeDescription) {
      return try PredicateCheck(names: names, entity: entity)
        .check(expression: assignment.value, at: value)
    }
    let literal = AttributeLiteral(attribute.attributeType)
    guard literal.accepts(assignment) else {
      throw LanguageProblem(
        "`\(assignment.value)` isn't a valid value for `\(assignment.key)` (\(literal.typeName))",
        at: value.range, nextStep: "write, for example, `\(assignment.key) \(literal.example)`")
    }
  }

  private func check(
    _ assignment: Assignment, _ relationship: NSRelationshipDescription, _ keyRange: SourceRange,
    _ valueRange: SourceRange
  ) throws(LanguageProblem) {
    guard verb != .batchInsert, verb != .batchUpdate else {
      throw LanguageProblem(
        "`\(assignment.key)` is a relationship; a batch request can set only attributes",
        at: keyRange, nextStep: "remove it, or use `insert`, `set`, and `save`")
    }
    guard verb == .relate || !relationship.isToMany else {
      throw LanguageProblem(
        "`\(assignment.key)` is a to-many relationship", at: keyRange,
        nextStep: "use `relate`, or set its inverse on the other side")
    }
    guard verb == .relate || !assignment.isNil else { return }
    guard let shape = results[assignment.value], shape.hasObjects else {
      throw LanguageProblem(
        "there's no result `\(assignment.value)` that contains objects", at: valueRange,
        didYouMean: NearestName.of(assignment.value, among: results.keys.sorted()),
        nextStep: "fetch or insert the objects first, with `as \(assignment.value)`, or write nil")
    }
    guard let destination = relationship.destinationEntity,
      let entity = names.model.entitiesByName[shape.entity], entity.isKind(of: destination)
    else {
      throw LanguageProblem(
        "the destination of `\(assignment.key)` is "
          + "\(relationship.destinationEntity?.name ?? "nothing"), but "
          + "`\(assignment.value)` contains \(shape.entity)",
        at: valueRange, nextStep: "use a result of the destination entity")
    }
  }
}

/// Checks the options for a fetch's dictionaries against the model.
struct DictionaryCheck {
  let names: ModelNames
  let entity: NSEntityDescription
  let step: Step

  /// Checks an option.
  ///
  /// - Throws: A problem at the option if the fetch doesn't return dictionaries, at a key path
  ///   that's invalid or has many values, or at the invalid character of a predicate.
  func check(_ option: StepOption) throws(LanguageProblem) {
    guard step.resultKind == .dictionaries else {
      throw LanguageProblem(
        "`\(option.word.rawValue)` requires dictionaries, but the fetch returns "
          + step.resultKind.rawValue,
        at: step.ranges.range(of: option.word), nextStep: "add `result dictionaries`")
    }
    switch option.value {
    case .columns(let columns):
      for (index, column) in columns.enumerated() {
        let word = step.ranges.options[.columns].map { $0[index] }
        let offset = column.function.map { $0.rawValue.count + 1 } ?? 0
        let range =
          word?.range(at: offset, length: column.keyPath.count) ?? step.ranges.verb
        try check(column.keyPath, at: range)
      }
    case .keyPaths(let keyPaths):
      for (index, keyPath) in keyPaths.enumerated() {
        try check(keyPath, at: step.ranges.range(of: .group, at: index))
      }
    case .predicate(let format):
      try PredicateCheck(names: names, entity: entity, computed: Set(step.computedNames))
        .check(format, at: step.ranges.options[.having]?.first)
    default: break
    }
  }

  private func check(_ keyPath: String, at range: SourceRange) throws(LanguageProblem) {
    let path = try names.resolve(keyPath, from: entity, at: range)
    let endsToMany = (path.last as? NSRelationshipDescription)?.isToMany == true
    guard !path.passesToMany, !endsToMany else {
      throw LanguageProblem(
        "`\(keyPath)` has many values, but a dictionary can contain only one", at: range,
        nextStep: "name an attribute or a to-one relationship, or fetch the other entity")
    }
  }
}

extension Step {
  /// The dictionary keys of the functions among a fetch's columns.
  var computedNames: [String] {
    guard let columns = columns(of: .columns) else { return [] }
    return columns.filter { $0.function != nil }.map(\.name)
  }
}
