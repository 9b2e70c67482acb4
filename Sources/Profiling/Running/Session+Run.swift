package import OpenCoreData
import ProfileEvents
import RunResults
import SQLiteDriver
package import ScenarioLanguage
import Synchronization
package import WorkbenchText

extension Session {
  /// Returns the problems of a step that can be detected before it runs, such as unknown names,
  /// invalid key paths, and invalid predicates.
  package func problems(of step: Step) -> [LanguageProblem] {
    let unknown = step.options.filter { $0.number.map { $0.value == nil } ?? false }
    return StepCheck(model: model, configuration: configuration, versions: versions)
      .problems(of: step, known: knownNames)
      + unknown.map { option in
        LanguageProblem(
          "the row count of `\(option.value.text)` isn't known",
          at: step.ranges.range(of: option.word), nextStep: "use a number")
      }
  }

  /// Runs a step.
  ///
  /// The step's numbers must have been resolved with `Step.resolved(in:)`. **Cost:** only that of
  /// the step itself; recording it runs no statements.
  ///
  /// - Throws: A `LanguageProblem`, before anything runs, if the step isn't valid for the model or
  ///   the existing names; a `StepFailure` if the step fails and has no `fails`. If a step with
  ///   `fails` fails with another code, or not at all, `StepOutcome.endedAsExpected` is `false`.
  package func run(_ step: Step) throws -> StepOutcome {
    if let problem = problems(of: step).first { throw problem }
    let fetch = namedResults[step.subject]?.fetch
    routes = []
    sorting = nil
    migration = nil
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
    if let failure, StepInterruption.isCause(of: failure) { revertInterruptedFaults() }
    stack.waitForContexts()
    let recorded = RecordedStep(
      name: step.name, location: step.location, text: step.text, after: after,
      through: stack.recorder.mark, begin: begin, end: MonotonicClock.now(),
      processor: ProcessorClock.now() &- processor)
    recordedSteps.append(recorded)
    if let failure {
      guard step.fails != nil else {
        throw StepFailure(step: step.text, location: step.location, error: failure)
      }
      summary = "failed with \(failure.code)" + (failure.code == step.fails ? ", as expected" : "")
    } else if let code = step.fails {
      summary += ", but was expected to fail with \(code)"
    }
    let slice = stack.recorder.recording(of: recorded)
    return StepOutcome(
      step: step, summary: summary, costs: slice.costs,
      findings: FindingSearch.findings(in: slice, context: stepContext(of: step, fetch: fetch)),
      recorded: recorded, gauges: try gauges(for: step.expect), failureCode: failure?.code)
  }

  /// Returns the gauges that a step's expectations need in addition to its events.
  private func gauges(for expect: ExpectBlock?) throws -> [ScopedMetric: Int] {
    guard let expect else { return [:] }
    let hasPages = engine.obstacle(to: .filepages) == nil
    return expect.wantsPages && hasPages ? gauges.merging(try pages()) { $1 } : gauges
  }

  /// Performs a step, in a `performAndWait` block if it uses a context, and returns a summary.
  private func perform(_ step: Step) throws -> String {
    switch step.verb {
    case .context: return try makeContext(step)
    case .drop: return drop(step)
    case .index: return try changeIndex(step)
    case .sql: return try runStatement(step)
    case .pragma: return try setPragma(step)
    case .analyze: return try analyze(step)
    case .history: return try changeHistory(step)
    case .migrate: return try migrate(step)
    case .finishMigration: return try finishMigration(step)
    default:
      let input = try input(of: step)
      return try input.context.performAndWait { try perform(step, input) }
    }
  }

  private func perform(_ step: Step, _ input: StepInput) throws -> String {
    switch step.verb {
    case .fetch: try fetch(step, input)
    case .results: try results(step, input)
    case .count: try count(step, input)
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
    case .reset: reset(input)
    case .merge: merge(step, into: input.context)
    case .pin: try pin(step, input.context)
    case .batchInsert: try batchInsert(step, input)
    case .batchUpdate: try batchUpdate(step, input)
    case .batchDelete: try batchDelete(step, input)
    case .context, .drop, .index, .sql, .pragma, .analyze, .history, .migrate, .finishMigration:
      fatalError("\(step.verb.rawValue) doesn't run in a context")
    }
  }

  /// Returns the context that rules need to evaluate a step: the fetch of its subject, and the
  /// paths to other entities.
  private func stepContext(of step: Step, fetch: Step?) -> StepContext {
    if let migration {
      var context = StepContext()
      context.migration = migration
      return context
    }
    let name = step.verb == .results ? step.subject : namedResults[step.subject]?.entity
    guard let name, let entity = model.entitiesByName[name] else {
      return StepContext(fetch: fetch)
    }
    let reached = Dictionary(
      relationshipSteps(of: step).joined().flatMap { one in one.entities.map { ($0, one.path) } },
      uniquingKeysWith: { first, _ in first })
    let isAmbiguous = entity.namesWithSubentities.contains { reached[$0] != nil }
    var context = StepContext(
      fetch: fetch,
      resultObjects: isAmbiguous ? namedResults[step.subject].map(references) ?? [] : [],
      reachedThrough: reached,
      routes: routes)
    context.obstacle = cacheObstacle(of: step)
    context.resultEntities = Set(entity.namesWithSubentities)
    context.sorting = sorting
    context.arrangesSections = step.option(.sections) != nil
    if step.flag(of: .array) == true { context.makesArray = true }
    let counted = step.reads.compactMap(Step.countedPath)
    context.counted = Set(counted).filter { path in
      !step.reads.contains {
        Step.countedPath($0) != path && ($0 == path || $0.hasPrefix("\(path)."))
      }
    }
    return context
  }

  /// Returns why rows that the fetch of a step's result loaded don't fulfill the step's faults, or
  /// `nil` if they can.
  private func cacheObstacle(of step: Step) -> StepContext.CacheObstacle? {
    let names = knownNames
    var shape = names.contexts[names.context(of: step)]
    let source = namedResults[step.subject].flatMap { names.contexts[$0.context] }
    if let source, let shape, source.coordinator != shape.coordinator { return .otherCoordinator }
    while let parent = shape?.parent { shape = names.contexts[parent] }
    return shape?.staleness == 0 ? .noStaleness : nil
  }

  /// Returns a recorder of a step's access paths, or `nil` if an object's entity determines its
  /// path.
  func trail(of step: Step) -> AccessPathRecorder? {
    let steps = relationshipSteps(of: step)
    var known: [String: StepContext.Path] = [:]
    for one in steps.joined() {
      for name in one.entities {
        guard known[name] ?? one.path == one.path else {
          return AccessPathRecorder(recorder: stack.recorder, paths: steps.map { $0.map(\.path) })
        }
        known[name] = one.path
      }
    }
    return nil
  }

  /// A relationship on a key path that a step reads, and the entities it can reach.
  private struct RelationshipStep {
    var path: StepContext.Path
    var entities: [String]
  }

  /// Returns the relationships, in order, on each key path that a step reads or sorts by in memory.
  private func relationshipSteps(of step: Step) -> [[RelationshipStep]] {
    var keyPaths = step.reads
    if let keys = step.sortKeys(of: .sort) { keyPaths += keys.map(\.keyPath) }
    if let sections = step.text(of: .sections) { keyPaths.append(sections) }
    let name = step.verb == .results ? step.subject : namedResults[step.subject]?.entity
    guard let entity = name.flatMap({ model.entitiesByName[$0] }) else {
      return keyPaths.map { _ in [] }
    }
    let names = ModelNames(model)
    return keyPaths.map { keyPath in
      let path = try? names.resolve(
        Step.countedPath(keyPath) ?? keyPath, from: entity, at: step.ranges.verb)
      var prefix: [String] = []
      return (path?.steps ?? []).map { relationship in
        prefix.append(relationship.name)
        return RelationshipStep(
          path: StepContext.Path(
            owner: relationship.entity?.name ?? "", relationship: relationship.name,
            keyPath: prefix.joined(separator: ".")),
          entities: relationship.destinationEntity?.namesWithSubentities ?? [])
      }
    }
  }

  /// Returns references to the objects of a result, as in events; none for a batched result, which
  /// this would load.
  private func references(of result: NamedResult) -> Set<ObjectReference> {
    guard case .objects(let objects) = result.content else { return [] }
    return stack.context(result.context).performAndWait {
      Set(objects.compactMap { ObjectReference($0.objectID) })
    }
  }
}

extension ObjectReference {
  /// Creates a reference from a permanent object ID, or returns `nil` for a temporary one.
  fileprivate init?(_ id: NSManagedObjectID) {
    guard !id.isTemporaryID, let store = id.persistentStore,
      let key = Int64(id.uriRepresentation().lastPathComponent.dropFirst())
    else { return nil }
    self.init(store: store.identifier, entity: id.entity.name ?? "", primaryKey: key)
  }
}

/// Interrupts a running step before its next object.
///
/// You can use it from any thread. A running statement is interrupted only if its failure can be
/// reported. The SELECT of a fault that a changing step fires runs to completion, because the fault
/// would have no values if it failed.
package final class StepInterruption: Sendable {
  private let isRequested = Atomic(false)
  /// A closure that interrupts the running statement.
  private let interrupt = Mutex<(@Sendable () -> Void)?>(nil)

  package init() {}

  /// The code of the error of an interrupted step, which is Apple's code for user cancellation.
  package static let code = CocoaError.Code.userCancelled.rawValue

  /// Requests that the running step stop.
  package func request() {
    isRequested.store(true, ordering: .relaxed)
    interrupt.withLock { $0?() }
  }

  /// Runs work whose statements can be interrupted.
  ///
  /// - Parameters:
  ///   - interrupt: A closure that interrupts the running statement. It can be called from any
  ///     thread, and has no effect if no statement is running.
  ///   - body: The work.
  package func run<Result>(
    interruptedBy interrupt: @escaping @Sendable () -> Void, _ body: () throws -> Result
  ) rethrows -> Result {
    self.interrupt.withLock { $0 = interrupt }
    defer { self.interrupt.withLock { $0 = nil } }
    return try body()
  }

  /// Returns whether an error indicates an interruption, between two objects or in a statement.
  package static func isCause(of error: NSError) -> Bool {
    error.code == code || error.isInterruptedStatement
      || (error.domain == NSSQLiteErrorDomain
        && error.code == Int(ResultCode.interrupt.rawValue))
  }

  /// Clears earlier requests to stop.
  package func clear() {
    isRequested.store(false, ordering: .relaxed)
  }

  /// Checks for a request to stop the step.
  ///
  /// - Throws: An `NSError` with `code` if the step should stop.
  package func check() throws {
    guard isRequested.load(ordering: .relaxed) else { return }
    throw NSError(
      domain: NSCocoaErrorDomain, code: StepInterruption.code,
      userInfo: [NSLocalizedDescriptionKey: "The step was interrupted. Its changes so far remain."])
  }
}
