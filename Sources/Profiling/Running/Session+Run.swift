import OpenCoreData
import ProfileEvents
package import ScenarioLanguage
package import WorkbenchText

extension Session {
  /// What is wrong with a step before it runs: unknown names, key paths, predicates.
  package func problems(of step: Step) -> [LanguageProblem] {
    let unknown = step.options.filter { $0.number.map { $0.value == nil } ?? false }
    return StepCheck(model: model).problems(of: step, known: knownNames)
      + unknown.map { option in
        LanguageProblem(
          "the row count of `\(option.value.text)` isn't known",
          at: step.places.place(of: option.word), nextStep: "write a number")
      }
  }

  /// Runs a step.
  ///
  /// Its numbers must have been worked out, by `Step.resolved(in:)`.
  ///
  /// Cost: the step's own; the recording is cut by event numbers and costs no statement.
  /// - Throws: `LanguageProblem` when the step does not fit the model or the names, before anything
  ///   ran; `StepFailure` when it fails and was not to. A step with `fails` does not throw for a wrong
  ///   code: `StepOutcome.holds` says so.
  package func run(_ step: Step) throws -> StepOutcome {
    if let problem = problems(of: step).first { throw problem }
    let fetch = held[step.subject]?.fetch
    routes = []
    sorting = nil
    stack.setCallSite(step.location)
    let after = stack.recorder.mark
    let begin = MonotonicClock.now()
    let processor = ProcessorClock.now()
    var summary = ""
    var failure: NSError?
    do {
      summary = try perform(step)
    } catch {
      failure = error as NSError
    }
    if let failure, StepInterruption.isBehind(failure) { revertInterruptedFaults() }
    stack.settle()
    let recorded = RecordedStep(
      name: step.name, location: step.location, text: step.text, after: after,
      through: stack.recorder.mark, begin: begin, end: MonotonicClock.now(),
      processor: ProcessorClock.now() &- processor)
    recordedSteps.append(recorded)
    if let failure {
      guard step.fails != nil else {
        throw StepFailure(step: step.text, location: step.location, error: failure)
      }
      summary = "failed with \(failure.code)" + (failure.code == step.fails ? ", as it should" : "")
    } else if let code = step.fails {
      summary += ", though it was to fail with \(code)"
    }
    let slice = stack.recorder.recording(of: recorded)
    return StepOutcome(
      step: step, summary: summary, costs: slice.costs,
      findings: FindingSearch.findings(in: slice, context: stepContext(of: step, fetch: fetch)),
      recorded: recorded, gauges: try gauges(for: step.expect), failureCode: failure?.code)
  }

  /// What an expectation on a step needs in addition to its events.
  private func gauges(for expect: ExpectBlock?) throws -> [ScopedMetric: Int] {
    guard let expect else { return [:] }
    return expect.wantsPages ? gauges.merging(try pages()) { $1 } : gauges
  }

  /// Runs a step's work and says what was done: in a block of its context, or past every context.
  private func perform(_ step: Step) throws -> String {
    switch step.verb {
    case .context: return try makeContext(step)
    case .drop: return drop(step)
    case .index: return try changeIndex(step)
    case .sql: return try runStatement(step)
    case .pragma: return try setPragma(step)
    case .analyze: return try analyze(step)
    default:
      let input = try input(of: step)
      return try input.context.performAndWait { try perform(step, input) }
    }
  }

  private func perform(_ step: Step, _ input: StepInput) throws -> String {
    switch step.verb {
    case .fetch: try fetch(step, input)
    case .count: try count(step, in: input.context)
    case .touch: try touch(step, input)
    case .walk: try walk(step, input)
    case .insert: try insert(step, input)
    case .set: try set(step, input)
    case .relate: try relate(step, input)
    case .delete: try delete(step, input)
    case .save: try save(step, input)
    case .rollback: rollback(in: input.context)
    case .undo: undo(step, in: input.context)
    case .refresh: try refresh(step, input)
    case .reset: letGo(input)
    case .merge: merge(step, into: input.context)
    case .pin: try pin(step, input.context)
    case .batchInsert: try batchInsert(step, input)
    case .batchUpdate: try batchUpdate(step, input)
    case .batchDelete: try batchDelete(step, input)
    case .context, .drop, .index, .sql, .pragma, .analyze:
      preconditionFailure("\(step.verb.rawValue) isn't a context's work")
    }
  }

  /// What the rules must know of a step: the fetch behind its subject, and how it reaches other entities.
  private func stepContext(of step: Step, fetch: Step?) -> StepContext {
    guard let result = held[step.subject], let entity = model.entitiesByName[result.entity] else {
      return StepContext(fetch: fetch)
    }
    let reached = Dictionary(
      ways(of: step).joined().flatMap { way in way.entities.map { ($0, way.path) } },
      uniquingKeysWith: { first, _ in first })
    let isAmbiguous = entity.namesWithSubentities.contains { reached[$0] != nil }
    var context = StepContext(
      fetch: fetch, held: isAmbiguous ? references(of: result) : [], reachedThrough: reached,
      routes: routes)
    context.sorting = sorting
    if step.flag(of: .array) == true { context.makesArray = true }
    let counted = step.reads.compactMap(Step.countedPath)
    context.counted = Set(counted).filter { path in
      !step.reads.contains {
        Step.countedPath($0) != path && ($0 == path || $0.hasPrefix("\(path)."))
      }
    }
    return context
  }

  /// Records how a step reaches objects; nil if their entity is enough.
  func trail(of step: Step) -> AccessPathRecorder? {
    let ways = ways(of: step)
    var known: [String: StepContext.Path] = [:]
    for way in ways.joined() {
      for name in way.entities {
        guard known[name] ?? way.path == way.path else {
          return AccessPathRecorder(recorder: stack.recorder, paths: ways.map { $0.map(\.path) })
        }
        known[name] = way.path
      }
    }
    return nil
  }

  /// A relationship on a key path that a step reads, and what can be reached through it.
  private struct Way {
    var path: StepContext.Path
    var entities: [String]
  }

  /// For each key path that a step reads, or sorts in memory by, its relationships in their order.
  private func ways(of step: Step) -> [[Way]] {
    var keyPaths = step.reads
    if let keys = step.sortKeys(of: .sort) { keyPaths += keys.map(\.keyPath) }
    guard let entity = held[step.subject].flatMap({ model.entitiesByName[$0.entity] }) else {
      return keyPaths.map { _ in [] }
    }
    let names = ModelNames(model)
    return keyPaths.map { keyPath in
      let path = try? names.resolve(
        Step.countedPath(keyPath) ?? keyPath, from: entity, at: step.places.verb)
      var prefix: [String] = []
      return (path?.steps ?? []).map { relationship in
        prefix.append(relationship.name)
        return Way(
          path: StepContext.Path(
            owner: relationship.entity?.name ?? "", relationship: relationship.name,
            keyPath: prefix.joined(separator: ".")),
          entities: relationship.destinationEntity?.namesWithSubentities ?? [])
      }
    }
  }

  /// The objects of a result as events name them; none for batches, which would be loaded by asking.
  private func references(of result: HeldResult) -> Set<ObjectReference> {
    guard case .objects(let objects) = result.content else { return [] }
    return stack.context(result.context).performAndWait {
      Set(objects.compactMap { ObjectReference($0.objectID) })
    }
  }
}

extension ObjectReference {
  /// The reference of a saved object's ID; nil for a temporary one.
  fileprivate init?(_ id: NSManagedObjectID) {
    guard !id.isTemporaryID, let store = id.persistentStore,
      let key = Int64(id.uriRepresentation().lastPathComponent.dropFirst())
    else { return nil }
    self.init(store: store.identifier, entity: id.entity.name ?? "", primaryKey: key)
  }
}
