package import ManagedModel
package import WorkbenchText

/// Checks a step against a model and the existing names, before it runs.
package struct StepCheck: Sendable {
  let names: ModelNames
  /// The versions of the model, or `nil` if it has none.
  private let versions: VersionedModel?
  /// The entities whose row counts numbers can use: those of the data.
  private let rowNames: ModelNames

  /// Creates a checker for a model.
  ///
  /// - Parameters:
  ///   - model: The model of the store when the step runs.
  ///   - configuration: The configuration of the model that the store contains; `nil` for all
  ///     entities.
  ///   - versions: The versions that a store can be migrated to, or `nil` if there are none.
  ///   - dataModel: The model of the data, or `nil` if it's `model`.
  package init(
    model: NSManagedObjectModel, configuration: String? = nil, versions: VersionedModel? = nil,
    dataModel: NSManagedObjectModel? = nil
  ) {
    names = ModelNames(model, configuration: configuration)
    self.versions = versions
    rowNames = ModelNames(dataModel ?? model)
  }

  /// Returns the checker for the steps after a step, which can migrate the store unless it's
  /// expected to fail.
  package func after(_ step: Step) -> StepCheck {
    guard step.verb == .migrate, step.fails == nil,
      let version = versions?.version(step.subject)
    else { return self }
    let configuration = names.configuration.flatMap { name in
      version.model.entities(forConfigurationName: name) == nil ? nil : name
    }
    return StepCheck(
      model: version.model, configuration: configuration, versions: versions,
      dataModel: rowNames.model)
  }

  /// Returns whether the model after a step is known: not after a migration to a version that the
  /// model doesn't have.
  package func knowsModel(after step: Step) -> Bool {
    guard step.verb == .migrate, step.fails == nil, let versions else { return true }
    return versions.version(step.subject) != nil
  }

  /// Returns all problems of a step.
  ///
  /// - Parameters:
  ///   - step: The step to check.
  ///   - known: The results and contexts that exist when the step starts.
  package func problems(of step: Step, known: KnownNames) -> [LanguageProblem] {
    var problems = [LanguageProblem]()
    func note(_ body: () throws(LanguageProblem) -> Void) {
      do {
        try body()
      } catch {
        problems.append(error)
      }
    }
    var entity: NSEntityDescription?
    note { () throws(LanguageProblem) in entity = try self.entity(of: step, known: known) }
    note { () throws(LanguageProblem) in try checkName(step, known) }
    if step.verb == .migrate {
      note { () throws(LanguageProblem) in try MigrationCheck(versions: versions).check(step) }
    }
    note { () throws(LanguageProblem) in
      try ContextCheck(names: names, known: known).check(step)
    }
    for option in step.options {
      note { () throws(LanguageProblem) in try check(option, of: step, on: entity, known) }
    }
    if let entity {
      for (index, keyPath) in step.reads.enumerated() {
        let range = index < step.ranges.reads.count ? step.ranges.reads[index] : step.ranges.verb
        note { () throws(LanguageProblem) in
          if step.verb == .walk {
            try checkWalk(keyPath, on: entity, at: range)
          } else {
            try checkRead(keyPath, on: entity, at: range)
          }
        }
      }
    }
    return problems
  }

  private func entity(
    of step: Step, known: KnownNames
  ) throws(LanguageProblem) -> NSEntityDescription? {
    let range = step.ranges.subject ?? step.ranges.verb
    switch step.verb.subject {
    case .none, .context, .text:
      return nil
    case .entity:
      let entity = try names.entity(step.subject, at: range)
      guard !entity.isAbstract || (step.verb != .insert && step.verb != .batchInsert) else {
        throw LanguageProblem(
          "`\(step.subject)` is abstract and has no objects", at: range,
          nextStep: "insert one of: \(ModelNames.list(entity.concreteEntityNames.sorted()))")
      }
      return entity
    case .result:
      if step.verb == .drop, known.contexts[step.subject] != nil { return nil }
      let shape = try shape(of: step, known, at: range)
      // An unknown entity was reported at the step that named it.
      return names.model.entitiesByName[shape.entity]
    }
  }

  private func shape(
    of step: Step, _ known: KnownNames, at range: SourceRange
  ) throws(LanguageProblem) -> ResultShape {
    guard let shape = known.results[step.subject] else {
      let results = known.results.keys.sorted()
      throw LanguageProblem(
        "there's no result `\(step.subject)`", at: range,
        didYouMean: NearestName.of(step.subject, among: results),
        nextStep: results.isEmpty
          ? "name one with `as \(step.subject)` in the step that returns it"
          : "use one of: \(ModelNames.list(results))")
    }
    switch step.verb {
    case .drop: break
    case .merge:
      guard shape.canBeMerged else {
        throw LanguageProblem(
          "`\(step.subject)` contains \(shape.contents), which can't be merged", at: range,
          nextStep: "merge a save (`save as NAME`) or a named batch request")
      }
    default:
      guard shape.hasObjects else {
        throw LanguageProblem(
          "`\(step.subject)` contains \(shape.contents), not objects", at: range,
          nextStep: shape.kind == .save
            ? "merge it with `merge \(step.subject)`"
            : "remove `result \(shape.kind.rawValue)` from the step that returns it")
      }
    }
    return shape
  }

  private func checkName(_ step: Step, _ known: KnownNames) throws(LanguageProblem) {
    guard let name = step.label else { return }
    let range = (step.verb == .context ? step.ranges.subject : step.ranges.name)
    let isContext = step.verb == .context
    let owner: String
    if names.model.entitiesByName[name] != nil {
      owner = "an entity"
    } else if !isContext, known.contexts[name] != nil {
      owner = "a context"
    } else if isContext, known.results[name] != nil {
      owner = "a result"
    } else {
      return
    }
    throw LanguageProblem(
      "`\(name)` is the name of \(owner)", at: range ?? step.ranges.verb,
      nextStep: "choose another name, so that formulas and scopes are unambiguous")
  }

  private func check(
    _ option: StepOption, of step: Step, on entity: NSEntityDescription?, _ known: KnownNames
  ) throws(LanguageProblem) {
    if option.word == .result, step.resultKind == .count, step.name != nil {
      throw LanguageProblem(
        "a count can't be named", at: step.ranges.name ?? step.ranges.verb,
        nextStep: "remove `as`")
    }
    for name in option.number?.expression.names ?? [] { try rowNames.checkRows(of: name) }
    guard let entity else { return }
    let word = option.word
    func range(_ index: Int) -> SourceRange { step.ranges.range(of: word, at: index) }
    switch (word, option.value) {
    case (.columns, _), (.group, _), (.having, _), (.distinct, _):
      try DictionaryCheck(names: names, entity: entity, step: step).check(option)
    case (.sections, .text(let keyPath)):
      try checkSortKey(SortKey(keyPath: keyPath), on: entity, at: range(0))
    case (_, .predicate(let format)):
      try check(format, of: step, on: entity, known, at: range(0))
    case (.sort, .sortKeys(let keys)):
      let computed = Set(step.computedNames)
      for (index, key) in keys.enumerated() where !computed.contains(key.keyPath) {
        try checkSortKey(key, on: entity, at: range(index))
      }
    case (_, .sortKeys(let keys)):
      for (index, key) in keys.enumerated() {
        try checkIndexKey(key, on: entity, at: range(index))
      }
    case (_, .keyPaths(let keyPaths)):
      for (index, keyPath) in keyPaths.enumerated() {
        try checkPrefetch(keyPath, on: entity, at: range(index))
      }
    case (_, .assignments(let assignments)):
      let check = AssignmentCheck(
        names: names, entity: entity, results: known.results, verb: step.verb)
      let words = step.ranges.options[word] ?? []
      for (index, assignment) in assignments.enumerated() {
        let value = 2 * index + 1
        try check.check(
          assignment, keyAt: range(2 * index),
          value: value < words.count ? words[value] : Word(assignment.value, at: range(value)))
      }
    default: break
    }
  }
}

extension StepCheck {
  /// Checks a predicate, which can refer to results unless it's the WHERE clause of an index.
  private func check(
    _ format: String, of step: Step, on entity: NSEntityDescription, _ known: KnownNames,
    at range: SourceRange
  ) throws(LanguageProblem) {
    let word = step.ranges.options[.predicate]?.first ?? Word(format, at: range)
    let results = step.verb == .index ? [:] : known.results.filter(\.value.hasObjects)
    try PredicateCheck(names: names, entity: entity, results: Set(results.keys))
      .check(format, at: word)
    try ReferenceCheck(names: names, entity: entity, results: results).check(format, at: word)
  }
}

extension StepCheck {
  /// Checks that a sort key has a single, comparable value.
  func checkSortKey(
    _ key: SortKey, on entity: NSEntityDescription, at range: SourceRange
  ) throws(LanguageProblem) {
    let path = try names.resolve(key.keyPath, from: entity, at: range)
    let endsToMany = (path.last as? NSRelationshipDescription)?.isToMany == true
    guard !path.passesToMany, !endsToMany else {
      throw LanguageProblem(
        "`\(key.keyPath)` has many values, so it can't be sorted by", at: range,
        nextStep: "sort by an attribute of the entity or of a to-one relationship")
    }
    if key.isLocalized, let attribute = path.last as? NSAttributeDescription,
      attribute.attributeType != .stringAttributeType
    {
      throw LanguageProblem(
        "`\(key.keyPath)` isn't a string, so it has no localized order", at: range,
        didYouMean: key.keyPath, nextStep: "use `localized` for string attributes")
    }
    if let relationship = path.last as? NSRelationshipDescription {
      let attributes = relationship.destinationEntity?.attributesByName.keys.sorted() ?? []
      throw LanguageProblem(
        "`\(key.keyPath)` refers to objects, which have no order", at: range,
        nextStep: "sort by one of: "
          + ModelNames.list(attributes.map { "\(key.keyPath).\($0)" }))
    }
  }

  /// Checks that a key path to prefetch ends at a relationship.
  func checkPrefetch(
    _ keyPath: String, on entity: NSEntityDescription, at range: SourceRange
  ) throws(LanguageProblem) {
    guard try names.resolve(keyPath, from: entity, at: range).last is NSRelationshipDescription
    else {
      throw LanguageProblem(
        "`\(keyPath)` is an attribute; attributes are loaded with their row", at: range,
        didYouMean: keyPath.lastIndex(of: ".").map { String(keyPath[..<$0]) },
        nextStep:
          "prefetch relationships: \(ModelNames.list(entity.relationshipsByName.keys.sorted()))")
    }
  }

  /// Checks that a key path to read ends at a property; before `@count`, at a to-many relationship.
  func checkRead(
    _ keyPath: String, on entity: NSEntityDescription, at range: SourceRange
  ) throws(LanguageProblem) {
    guard let counted = Step.countedPath(keyPath) else {
      _ = try names.resolveRead(keyPath, from: entity, at: range)
      return
    }
    let last = try names.resolve(counted, from: entity, at: range).last
    guard (last as? NSRelationshipDescription)?.isToMany == true else {
      throw LanguageProblem(
        "`\(counted)` isn't a to-many relationship, so it can't be counted", at: range,
        didYouMean: counted, nextStep: "write, for example, `moods.@count`")
    }
  }

  /// Checks that a key path to walk ends at a relationship.
  func checkWalk(
    _ keyPath: String, on entity: NSEntityDescription, at range: SourceRange
  ) throws(LanguageProblem) {
    guard try names.resolve(keyPath, from: entity, at: range).last is NSRelationshipDescription
    else {
      throw LanguageProblem(
        "`\(keyPath)` is an attribute, so it can't be walked", at: range,
        nextStep: "walk relationships, or read it with `touch`")
    }
  }

  /// Checks that an index key is a column of the entity's table.
  func checkIndexKey(
    _ key: SortKey, on entity: NSEntityDescription, at range: SourceRange
  ) throws(LanguageProblem) {
    guard !key.isLocalized else {
      throw LanguageProblem(
        "a fetch index of Core Data compares strings by their bytes", at: range,
        didYouMean: key.keyPath, nextStep: "index the attribute without `localized`")
    }
    let property = try names.property(key.keyPath, of: entity, at: range)
    let isToMany = (property as? NSRelationshipDescription)?.isToMany == true
    guard !isToMany, !property.isTransient, !(property is NSFetchedPropertyDescription) else {
      throw LanguageProblem(
        "`\(key.keyPath)` has no column in the table of `\(entity.name ?? "")`", at: range,
        nextStep: "index attributes and to-one relationships")
    }
  }
}
