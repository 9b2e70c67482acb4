package import OpenCoreData
package import WorkbenchText

/// Holds a step against a model and the names known at that point, before it runs.
package struct StepCheck: Sendable {
  let names: ModelNames

  /// Checks steps against the names of a model.
  package init(model: NSManagedObjectModel) {
    names = ModelNames(model)
  }

  /// Everything that is wrong with a step.
  ///
  /// - Parameter known: the results and contexts there are when the step begins.
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
    note { () throws(LanguageProblem) in
      try ContextCheck(names: names, known: known).check(step)
    }
    for option in step.options {
      note { () throws(LanguageProblem) in try check(option, of: step, on: entity, known) }
    }
    if let entity {
      for (index, keyPath) in step.reads.enumerated() {
        let place = index < step.places.reads.count ? step.places.reads[index] : step.places.verb
        note { () throws(LanguageProblem) in
          if step.verb == .walk {
            try checkWalk(keyPath, on: entity, at: place)
          } else {
            try checkRead(keyPath, on: entity, at: place)
          }
        }
      }
    }
    return problems
  }

  private func entity(
    of step: Step, known: KnownNames
  ) throws(LanguageProblem) -> NSEntityDescription? {
    let place = step.places.subject ?? step.places.verb
    switch step.verb.subject {
    case .none, .context, .text:
      return nil
    case .entity:
      let entity = try names.entity(step.subject, at: place)
      guard !entity.isAbstract || (step.verb != .insert && step.verb != .batchInsert) else {
        throw LanguageProblem(
          "`\(step.subject)` is abstract and has no objects", at: place,
          nextStep: "insert one of: \(ModelNames.list(entity.concreteNames))")
      }
      return entity
    case .result:
      if step.verb == .drop, known.contexts[step.subject] != nil { return nil }
      let shape = try shape(of: step, known, at: place)
      // An unknown entity was noted at the step that named it.
      return names.model.entitiesByName[shape.entity]
    }
  }

  private func shape(
    of step: Step, _ known: KnownNames, at place: SourceRange
  ) throws(LanguageProblem) -> HeldShape {
    guard let shape = known.results[step.subject] else {
      let results = known.results.keys.sorted()
      throw LanguageProblem(
        "no result is named `\(step.subject)`", at: place,
        didYouMean: NearestName.of(step.subject, among: results),
        nextStep: results.isEmpty
          ? "name one with `as \(step.subject)` in the step that returns it"
          : "the names are: \(ModelNames.list(results))")
    }
    switch step.verb {
    case .drop: break
    case .merge:
      guard shape.canBeMerged else {
        throw LanguageProblem(
          "`\(step.subject)` contains \(shape.contents), which can't be merged", at: place,
          nextStep: "write `save as NAME` and `merge NAME`, or name a batch request")
      }
    default:
      guard shape.hasObjects else {
        throw LanguageProblem(
          "`\(step.subject)` contains \(shape.contents), not objects", at: place,
          nextStep: shape.kind == .save
            ? "merge it with `merge \(step.subject)`"
            : "leave `result \(shape.kind.rawValue)` out of the step that returns it")
      }
    }
    return shape
  }

  private func checkName(_ step: Step, _ known: KnownNames) throws(LanguageProblem) {
    guard let name = step.label else { return }
    let place = (step.verb == .context ? step.places.subject : step.places.name)
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
      "`\(name)` is the name of \(owner)", at: place ?? step.places.verb,
      nextStep: "choose another name, so that formulas and scopes can tell them apart")
  }

  private func check(
    _ option: StepOption, of step: Step, on entity: NSEntityDescription?, _ known: KnownNames
  ) throws(LanguageProblem) {
    if option.word == .result, step.resultKind == .count, step.name != nil {
      throw LanguageProblem(
        "a count can't be kept under a name", at: step.places.name ?? step.places.verb,
        nextStep: "leave `as` out")
    }
    for name in option.number?.expression.names ?? [] { try names.checkRows(of: name) }
    guard let entity else { return }
    let word = option.word
    func place(_ index: Int) -> SourceRange { step.places.place(of: word, at: index) }
    switch (word, option.value) {
    case (.columns, _), (.group, _), (.having, _), (.distinct, _):
      try DictionaryCheck(names: names, entity: entity, step: step).check(option)
    case (_, .predicate(let format)):
      try PredicateCheck(names: names, entity: entity)
        .check(format, at: step.places.options[word]?.first)
    case (.sort, .sortKeys(let keys)):
      let computed = Set(step.computedNames)
      for (index, key) in keys.enumerated() where !computed.contains(key.keyPath) {
        try checkSortKey(key, on: entity, at: place(index))
      }
    case (_, .sortKeys(let keys)):
      for (index, key) in keys.enumerated() {
        try checkIndexKey(key, on: entity, at: place(index))
      }
    case (_, .keyPaths(let keyPaths)):
      for (index, keyPath) in keyPaths.enumerated() {
        try checkPrefetch(keyPath, on: entity, at: place(index))
      }
    case (_, .assignments(let assignments)):
      let check = AssignmentCheck(
        names: names, entity: entity, held: known.results, verb: step.verb)
      for (index, assignment) in assignments.enumerated() {
        try check.check(
          assignment, keyAt: place(2 * index), valueAt: place(2 * index + 1))
      }
    default: break
    }
  }
}

extension NSEntityDescription {
  /// The names of the entities below an abstract one that can have objects.
  fileprivate var concreteNames: [String] {
    subentities.flatMap { ($0.isAbstract ? [] : [$0.name ?? ""]) + $0.concreteNames }.sorted()
  }
}

extension StepCheck {
  /// A key of `sort` must have one value that can be compared.
  func checkSortKey(
    _ key: SortKey, on entity: NSEntityDescription, at place: SourceRange
  ) throws(LanguageProblem) {
    let path = try names.resolve(key.keyPath, from: entity, at: place)
    let endsToMany = (path.last as? NSRelationshipDescription)?.isToMany == true
    guard !path.passesToMany, !endsToMany else {
      throw LanguageProblem(
        "`\(key.keyPath)` has many values, so it can't be sorted by", at: place,
        nextStep: "sort by an attribute of the entity or of a to-one relationship")
    }
    if let relationship = path.last as? NSRelationshipDescription {
      let attributes = relationship.destinationEntity?.attributesByName.keys.sorted() ?? []
      throw LanguageProblem(
        "`\(key.keyPath)` refers to objects, which have no order", at: place,
        nextStep: "sort by one of: "
          + ModelNames.list(attributes.map { "\(key.keyPath).\($0)" }))
    }
  }

  /// What is prefetched must be relationships.
  func checkPrefetch(
    _ keyPath: String, on entity: NSEntityDescription, at place: SourceRange
  ) throws(LanguageProblem) {
    guard try names.resolve(keyPath, from: entity, at: place).last is NSRelationshipDescription
    else {
      throw LanguageProblem(
        "`\(keyPath)` is an attribute and is loaded with its row", at: place,
        didYouMean: keyPath.lastIndex(of: ".").map { String(keyPath[..<$0]) },
        nextStep:
          "prefetch relationships: \(ModelNames.list(entity.relationshipsByName.keys.sorted()))")
    }
  }

  /// What is read must be properties; a path that ends in `@count` must end at a to-many.
  func checkRead(
    _ keyPath: String, on entity: NSEntityDescription, at place: SourceRange
  ) throws(LanguageProblem) {
    guard let counted = Step.countedPath(keyPath) else {
      _ = try names.resolveRead(keyPath, from: entity, at: place)
      return
    }
    let last = try names.resolve(counted, from: entity, at: place).last
    guard (last as? NSRelationshipDescription)?.isToMany == true else {
      throw LanguageProblem(
        "`\(counted)` isn't a to-many relationship, so it can't be counted", at: place,
        didYouMean: counted, nextStep: "write for example `moods.@count`")
    }
  }

  /// What a walk goes through must be relationships.
  func checkWalk(
    _ keyPath: String, on entity: NSEntityDescription, at place: SourceRange
  ) throws(LanguageProblem) {
    guard try names.resolve(keyPath, from: entity, at: place).last is NSRelationshipDescription
    else {
      throw LanguageProblem(
        "`\(keyPath)` is an attribute, so it can't be walked", at: place,
        nextStep: "walk relationships, or read it with `touch`")
    }
  }

  /// The keys of an index must be columns of the entity's own table.
  func checkIndexKey(
    _ key: SortKey, on entity: NSEntityDescription, at place: SourceRange
  ) throws(LanguageProblem) {
    let property = try names.property(key.keyPath, of: entity, at: place)
    let isToMany = (property as? NSRelationshipDescription)?.isToMany == true
    guard !isToMany, !property.isTransient, !(property is NSFetchedPropertyDescription) else {
      throw LanguageProblem(
        "`\(key.keyPath)` has no column in the table of `\(entity.name ?? "")`", at: place,
        nextStep: "index attributes and to-one relationships")
    }
  }
}

/// Holds a property and its value, as a step gives them, against the model.
struct AssignmentCheck {
  let names: ModelNames
  let entity: NSEntityDescription
  let held: [String: HeldShape]
  let verb: Verb

  /// - Throws: a problem at the key when it cannot be set, at the value when it does not fit.
  func check(
    _ assignment: Assignment, keyAt keyPlace: SourceRange, valueAt valuePlace: SourceRange
  ) throws(LanguageProblem) {
    let property = try names.property(assignment.key, of: entity, at: keyPlace)
    guard verb != .relate || (property as? NSRelationshipDescription)?.isToMany == true else {
      throw LanguageProblem(
        "`\(assignment.key)` isn't a to-many relationship", at: keyPlace,
        nextStep: "write `set` for attributes and to-one relationships")
    }
    if let attribute = property as? NSAttributeDescription {
      try check(assignment, attribute, keyPlace, valuePlace)
    } else if let relationship = property as? NSRelationshipDescription {
      try check(assignment, relationship, keyPlace, valuePlace)
    }
  }

  private func check(
    _ assignment: Assignment, _ attribute: NSAttributeDescription, _ keyPlace: SourceRange,
    _ valuePlace: SourceRange
  ) throws(LanguageProblem) {
    guard !attribute.isDerived else {
      throw LanguageProblem(
        "`\(assignment.key)` is derived and cannot be set", at: keyPlace,
        nextStep: "set what it is derived from")
    }
    let literal = AttributeLiteral(attribute.attributeType)
    guard literal.accepts(assignment.value) else {
      throw LanguageProblem(
        "`\(assignment.value)` isn't a \(literal.typeName), which `\(assignment.key)` is",
        at: valuePlace, nextStep: "write for example `\(assignment.key) \(literal.example)`")
    }
  }

  private func check(
    _ assignment: Assignment, _ relationship: NSRelationshipDescription, _ keyPlace: SourceRange,
    _ valuePlace: SourceRange
  ) throws(LanguageProblem) {
    guard verb != .batchInsert, verb != .batchUpdate else {
      throw LanguageProblem(
        "`\(assignment.key)` is a relationship; a batch request can set only attributes",
        at: keyPlace, nextStep: "leave it out, or use `insert`, `set` and `save`")
    }
    guard verb == .relate || !relationship.isToMany else {
      throw LanguageProblem(
        "`\(assignment.key)` is a to-many relationship", at: keyPlace,
        nextStep: "use `relate`, or set its inverse on the other side")
    }
    guard verb == .relate || !AttributeLiteral.isNil(assignment.value) else { return }
    guard let shape = held[assignment.value], shape.hasObjects else {
      throw LanguageProblem(
        "no result of objects is named `\(assignment.value)`", at: valuePlace,
        didYouMean: NearestName.of(assignment.value, among: held.keys.sorted()),
        nextStep: "fetch or insert them first, with `as \(assignment.value)`, or write nil")
    }
    guard let destination = relationship.destinationEntity,
      let entity = names.model.entitiesByName[shape.entity], entity.isKind(of: destination)
    else {
      throw LanguageProblem(
        "`\(assignment.key)` points to \(relationship.destinationEntity?.name ?? "nothing"), and "
          + "`\(assignment.value)` contains \(shape.entity)",
        at: valuePlace, nextStep: "give it a result of the right entity")
    }
  }
}

/// Holds what a fetch says of its dictionaries against the model.
struct DictionaryCheck {
  let names: ModelNames
  let entity: NSEntityDescription
  let step: Step

  /// - Throws: a problem at the option when the fetch brings no dictionaries, at a key path that is
  ///   wrong or has many values, at a predicate's character.
  func check(_ option: StepOption) throws(LanguageProblem) {
    guard step.resultKind == .dictionaries else {
      throw LanguageProblem(
        "`\(option.word.rawValue)` requires dictionaries, but the fetch returns "
          + step.resultKind.rawValue,
        at: step.places.place(of: option.word), nextStep: "add `result dictionaries`")
    }
    switch option.value {
    case .columns(let columns):
      for (index, column) in columns.enumerated() {
        let word = step.places.options[.columns].map { $0[index] }
        let offset = column.function.map { $0.rawValue.count + 1 } ?? 0
        let place =
          word?.place(at: offset, length: column.keyPath.count) ?? step.places.verb
        try check(column.keyPath, at: place)
      }
    case .keyPaths(let keyPaths):
      for (index, keyPath) in keyPaths.enumerated() {
        try check(keyPath, at: step.places.place(of: .group, at: index))
      }
    case .predicate(let format):
      try PredicateCheck(names: names, entity: entity, computed: Set(step.computedNames))
        .check(format, at: step.places.options[.having]?.first)
    default: break
    }
  }

  private func check(_ keyPath: String, at place: SourceRange) throws(LanguageProblem) {
    let path = try names.resolve(keyPath, from: entity, at: place)
    let endsToMany = (path.last as? NSRelationshipDescription)?.isToMany == true
    guard !path.passesToMany, !endsToMany else {
      throw LanguageProblem(
        "`\(keyPath)` has many values, and a dictionary contains one", at: place,
        nextStep: "name an attribute or a to-one relationship, or fetch the other entity")
    }
  }
}

extension Step {
  /// The names of the functions among a fetch's columns.
  var computedNames: [String] {
    guard let columns = columns(of: .columns) else { return [] }
    return columns.filter { $0.function != nil }.map(\.name)
  }
}
