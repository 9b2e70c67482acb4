package import OpenCoreData

/// Holds a step against a model and the names known at that point, before it runs.
package struct StepCheck: Sendable {
  /// The context every step runs in.
  package static let mainContext = "main"

  private let names: ModelNames

  /// Checks steps against the names of a model.
  package init(model: NSManagedObjectModel) {
    names = ModelNames(model)
  }

  /// Everything that is wrong with a step.
  ///
  /// - Parameter held: the results known by name when the step begins.
  package func problems(of step: Step, held: [String: HeldShape]) -> [LanguageProblem] {
    var problems = [LanguageProblem]()
    func note(_ body: () throws(LanguageProblem) -> Void) {
      do {
        try body()
      } catch {
        problems.append(error)
      }
    }
    var entity: NSEntityDescription?
    note { () throws(LanguageProblem) in entity = try self.entity(of: step, held: held) }
    note { () throws(LanguageProblem) in try checkName(step) }
    for option in step.options {
      note { () throws(LanguageProblem) in try check(option, of: step, on: entity, held: held) }
    }
    if let entity {
      for (index, keyPath) in step.reads.enumerated() {
        let place = index < step.places.reads.count ? step.places.reads[index] : step.places.verb
        note { () throws(LanguageProblem) in
          _ = try names.resolve(keyPath, from: entity, at: place)
        }
      }
    }
    return problems
  }

  /// The names known after a step that went well.
  package func names(after step: Step, held: [String: HeldShape]) -> [String: HeldShape] {
    var held = held
    switch step.verb {
    case .fetch, .insert:
      var shape = HeldShape(entity: step.subject)
      if case .result(let kind)? = step.option(.result) { shape.kind = kind }
      if let name = step.name { held[name] = shape }
    case .drop: held[step.subject] = nil
    case .reset: held = [:]
    default: break
    }
    return held
  }

  private func entity(
    of step: Step, held: [String: HeldShape]
  ) throws(LanguageProblem) -> NSEntityDescription? {
    let place = step.places.subject ?? step.places.verb
    switch step.verb.subject {
    case .none:
      return nil
    case .entity:
      let entity = try names.entity(step.subject, at: place)
      guard step.verb != .insert || !entity.isAbstract else {
        let concrete = entity.concreteNames
        throw LanguageProblem(
          "`\(step.subject)` is abstract and has no objects of its own", at: place,
          nextStep: "insert one of: \(ModelNames.list(concrete))")
      }
      return entity
    case .result:
      guard let shape = held[step.subject] else {
        throw LanguageProblem(
          "no result is named `\(step.subject)`", at: place,
          didYouMean: NearestName.of(step.subject, among: held.keys.sorted()),
          nextStep: held.isEmpty
            ? "name one with `as \(step.subject)` on the step that brings it"
            : "the names are: \(ModelNames.list(held.keys.sorted()))")
      }
      guard step.verb == .drop || shape.kind == .objects else {
        throw LanguageProblem(
          "`\(step.subject)` holds \(shape.kind.rawValue), not objects", at: place,
          nextStep: "leave `result \(shape.kind.rawValue)` out of the step that brings it")
      }
      // An unknown entity was noted at the step that named it.
      return names.model.entitiesByName[shape.entity]
    }
  }

  private func checkName(_ step: Step) throws(LanguageProblem) {
    guard let name = step.name, names.model.entitiesByName[name] != nil else { return }
    throw LanguageProblem(
      "`\(name)` is the name of an entity", at: step.places.name ?? step.places.verb,
      nextStep: "choose another name, so that laws and scopes can tell them apart")
  }

  private func check(
    _ option: StepOption, of step: Step, on entity: NSEntityDescription?,
    held: [String: HeldShape]
  ) throws(LanguageProblem) {
    switch option {
    case .context(let name) where name != StepCheck.mainContext:
      throw LanguageProblem(
        "there is no context `\(name)`", at: step.places.place(of: .context),
        nextStep: "leave `in` out, or write `in \(StepCheck.mainContext)`")
    case .result(.count) where step.name != nil:
      throw LanguageProblem(
        "a count cannot be held", at: step.places.name ?? step.places.verb,
        nextStep: "leave `as` out")
    default: break
    }
    guard let entity else { return }
    switch option {
    case .predicate(let format):
      try PredicateCheck(names: names, entity: entity)
        .check(format, at: step.places.options[.predicate]?.first)
    case .sort(let keys):
      for (index, key) in keys.enumerated() {
        try checkSortKey(key, on: entity, at: step.places.place(of: .sort, at: index))
      }
    case .prefetch(let keyPaths):
      for (index, keyPath) in keyPaths.enumerated() {
        try checkPrefetch(keyPath, on: entity, at: step.places.place(of: .prefetch, at: index))
      }
    case .assignments(let assignments):
      for (index, assignment) in assignments.enumerated() {
        try AssignmentCheck(names: names, entity: entity, held: held).check(
          assignment, keyAt: step.places.place(of: .assignments, at: 2 * index),
          valueAt: step.places.place(of: .assignments, at: 2 * index + 1))
      }
    default: break
    }
  }

  private func checkSortKey(
    _ key: SortKey, on entity: NSEntityDescription, at place: SourcePlace
  ) throws(LanguageProblem) {
    let path = try names.resolve(key.keyPath, from: entity, at: place)
    let endsToMany = (path.last as? NSRelationshipDescription)?.isToMany == true
    guard !path.passesToMany, !endsToMany else {
      throw LanguageProblem(
        "`\(key.keyPath)` has many values, so nothing can be sorted by it", at: place,
        nextStep: "sort by an attribute of the entity or of a to-one relationship")
    }
    if let relationship = path.last as? NSRelationshipDescription {
      let attributes = relationship.destinationEntity?.attributesByName.keys.sorted() ?? []
      throw LanguageProblem(
        "`\(key.keyPath)` leads to objects, which have no order", at: place,
        nextStep: "sort by one of: "
          + ModelNames.list(attributes.map { "\(key.keyPath).\($0)" }))
    }
  }

  private func checkPrefetch(
    _ keyPath: String, on entity: NSEntityDescription, at place: SourcePlace
  ) throws(LanguageProblem) {
    guard try names.resolve(keyPath, from: entity, at: place).last is NSRelationshipDescription
    else {
      throw LanguageProblem(
        "`\(keyPath)` is an attribute; its row brings it anyway", at: place,
        didYouMean: keyPath.lastIndex(of: ".").map { String(keyPath[..<$0]) },
        nextStep:
          "prefetch relationships: \(ModelNames.list(entity.relationshipsByName.keys.sorted()))")
    }
  }
}

extension NSEntityDescription {
  /// The names of the entities below an abstract one that can have objects.
  fileprivate var concreteNames: [String] {
    subentities.flatMap { ($0.isAbstract ? [] : [$0.name ?? ""]) + $0.concreteNames }.sorted()
  }
}
