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
          "`\(step.subject)` is abstract and has no objects of its own", at: place,
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
    of step: Step, _ known: KnownNames, at place: SourcePlace
  ) throws(LanguageProblem) -> HeldShape {
    guard let shape = known.results[step.subject] else {
      let results = known.results.keys.sorted()
      throw LanguageProblem(
        "no result is named `\(step.subject)`", at: place,
        didYouMean: NearestName.of(step.subject, among: results),
        nextStep: results.isEmpty
          ? "name one with `as \(step.subject)` on the step that brings it"
          : "the names are: \(ModelNames.list(results))")
    }
    switch step.verb {
    case .drop: break
    case .merge:
      guard shape.canBeMerged else {
        throw LanguageProblem(
          "`\(step.subject)` holds \(shape.contents), which say nothing of a save", at: place,
          nextStep: "write `save as NAME` and `merge NAME`, or name a batch request")
      }
    default:
      guard shape.hasObjects else {
        throw LanguageProblem(
          "`\(step.subject)` holds \(shape.contents), not objects", at: place,
          nextStep: shape.kind == .save
            ? "merge it with `merge \(step.subject)`"
            : "leave `result \(shape.kind.rawValue)` out of the step that brings it")
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
      nextStep: "choose another name, so that laws and scopes can tell them apart")
  }

  private func check(
    _ option: StepOption, of step: Step, on entity: NSEntityDescription?, _ known: KnownNames
  ) throws(LanguageProblem) {
    if case .result(.count) = option, step.name != nil {
      throw LanguageProblem(
        "a count cannot be held", at: step.places.name ?? step.places.verb,
        nextStep: "leave `as` out")
    }
    for name in option.number?.expression.names ?? [] { try names.checkRows(of: name) }
    guard let entity else { return }
    switch option {
    case .predicate(let format):
      try PredicateCheck(names: names, entity: entity)
        .check(format, at: step.places.options[.predicate]?.first)
    case .sort(let keys):
      let computed = Set(step.computedNames)
      for (index, key) in keys.enumerated() where !computed.contains(key.keyPath) {
        try checkSortKey(key, on: entity, at: step.places.place(of: .sort, at: index))
      }
    case .columns, .group, .having, .distinct:
      try DictionaryCheck(names: names, entity: entity, step: step).check(option)
    case .keys(let keys):
      for (index, key) in keys.enumerated() {
        try checkIndexKey(key, on: entity, at: step.places.place(of: .keys, at: index))
      }
    case .prefetch(let keyPaths):
      for (index, keyPath) in keyPaths.enumerated() {
        try checkPrefetch(keyPath, on: entity, at: step.places.place(of: .prefetch, at: index))
      }
    case .assignments(let assignments), .removals(let assignments):
      let check = AssignmentCheck(
        names: names, entity: entity, held: known.results, verb: step.verb)
      for (index, assignment) in assignments.enumerated() {
        try check.check(
          assignment, keyAt: step.places.place(of: option.word, at: 2 * index),
          valueAt: step.places.place(of: option.word, at: 2 * index + 1))
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
