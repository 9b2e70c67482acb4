import Foundation
package import OpenCoreData
package import ProfileEvents
package import RunResults
package import ScenarioLanguage
import WorkbenchText

/// A session that runs steps, one at a time, on one cold Core Data stack and its store.
///
/// The runner creates a session for each variant; the shell creates one for its lifetime. Each step
/// runs in one `performAndWait` block of its context, with the step's location as its call site.
/// When a step ends, every context has completed its work for the others. A session retains named
/// results until `drop`, `reset`, or its end, and retains no other objects. Use a session from one
/// thread at a time, and not from blocks on the main queue.
package final class Session {
  package let storeURL: URL
  let engine: any StoreEngine
  package private(set) var model: NSManagedObjectModel
  /// The configuration of the model that the store contains; `nil` for all entities.
  package var configuration: String? { stack.configuration }
  /// The versions that the store can be migrated to, or `nil` if there are none.
  package let versions: VersionedModel?
  /// Whether the store is open read-only, so that no file in its folder is modified and saving
  /// fails.
  package let isReadOnly: Bool
  /// Whether the store is opened with a model that isn't its own.
  package let ignoresVersions: Bool
  /// The unmappable rows that were skipped; none if the store is writable.
  package let skippedRows = SkippedRows()

  // The properties that the extensions in `Session+….swift` set.
  var stack: ColdStack
  var namedResults: [String: NamedResult] = [:]
  var recordedSteps: [RecordedStep] = []
  /// The session's own SQLite connection, which is opened on first use.
  var raw: RawConnection?
  /// Distinguishes the session's caches from those of other sessions on copies of the same store.
  let cacheID = UUID().uuidString
  /// The names of the caches that results controllers have written.
  var cacheNames: Set<String> = []
  /// The routes of the last step, if entities don't determine them.
  var routes: [StepContext.Route] = []
  /// The in-memory sort of the last step, if a fetch could have performed it.
  var sorting: StepContext.Sorting?
  /// The collector of the values that steps read, or `nil` if they aren't collected.
  var readValues: ReadValues?
  /// The migration of the last step, or `nil` if it wasn't one.
  var migration: StepContext.Migration?
  /// The objects that were inserted since no context had changes, and the size of their values, in
  /// bytes.
  var unsaved: (objects: Int, size: Int) = (0, 0)
  let interruption: StepInterruption

  /// Opens a store.
  ///
  /// **Cost:** reads the store's metadata and schema, which is housekeeping that isn't counted.
  ///
  /// - Parameters:
  ///   - storeURL: The store file, or the URL of a store on a server.
  ///   - engine: The engine of the store.
  ///   - model: The model, or `nil` to use the one that the store contains.
  ///   - configuration: The configuration of the model that the store contains; `nil` for all
  ///     entities.
  ///   - versions: The versions that the store can be migrated to, or `nil` if there are none.
  ///   - readOnly: Whether to open the store without modifying any file in its folder.
  ///   - ignoresVersions: Whether the model isn't the store's own.
  ///   - sinks: Additional event sinks.
  ///   - interruption: An object that lets another thread stop a step.
  /// - Throws: The coordinator's `NSError`.
  package init(
    storeURL: URL, on engine: any StoreEngine = SQLiteEngine(), model: NSManagedObjectModel?,
    configuration: String? = nil, versions: VersionedModel? = nil, readOnly: Bool,
    ignoresVersions: Bool = false, sinks: [any EventSink] = [],
    interruption: StepInterruption = StepInterruption()
  ) throws {
    self.storeURL = storeURL
    self.engine = engine
    self.model = try model ?? NSManagedObjectModel.inStore(at: storeURL)
    self.versions = versions
    self.interruption = interruption
    isReadOnly = readOnly
    self.ignoresVersions = ignoresVersions
    stack = try ColdStack(
      storeURL: storeURL, engine: engine, model: self.model, configuration: configuration,
      isReadOnly: readOnly, ignoresVersions: ignoresVersions, skippedRows: skippedRows,
      sinks: sinks)
  }

  deinit {
    releaseAll()
    deleteCaches()
  }

  /// Sets the model of the migrated store.
  func take(_ model: NSManagedObjectModel) {
    self.model = model
  }

  /// Adds an event sink, such as an SQL log.
  package func add(_ sink: any EventSink) {
    stack.hub.add(sink)
  }

  /// Removes an event sink; one that wasn't added is ignored.
  package func remove(_ sink: any EventSink) {
    stack.hub.remove(sink)
  }

  /// A recording of everything since the session began.
  ///
  /// **Cost:** copies and sorts the events.
  package var recording: Recording {
    stack.recorder.recording(steps: recordedSteps, gauges: gauges)
  }

  /// The current results, by name.
  package var resultShapes: [String: ResultShape] {
    namedResults.mapValues(\.shape)
  }

  /// The names of the current results and contexts.
  package var knownNames: KnownNames {
    KnownNames(results: resultShapes, contexts: stack.shapes)
  }

  /// Keeps a result under a name, and releases the previous result of that name on its context's
  /// queue.
  func keep(_ result: NamedResult, as name: String) {
    if let old = namedResults[name], old.context != result.context { release(named: name) }
    namedResults[name] = result
  }

  /// Releases a named result on its context's queue.
  func release(named name: String) {
    guard let result = namedResults[name] else { return }
    stack.context(result.context).performAndWait { namedResults[name] = nil }
  }

  /// Releases the results and objects of a context.
  func releaseResults(ofContext name: String) {
    let context = stack.context(name)
    context.performAndWait {
      namedResults = namedResults.filter { $0.value.context != name }
      context.reset()
    }
  }

  /// Releases all results and objects, which must happen on their context's queue, and before the
  /// context is released.
  private func releaseAll() {
    for named in stack.contexts.reversed() { releaseResults(ofContext: named.name) }
  }
}

extension Session {
  /// Turns each object of a result back into a fault.
  func refresh(_ step: Step, _ input: StepInput) throws -> String {
    let keepsChanges = step.flag(of: .keep) ?? true
    let range = step.part(of: input.objects.count)
    try input.objects.forEach(at: range, in: input.context) { object in
      try interruption.check()
      input.context.refresh(object, mergeChanges: keepsChanges)
    }
    return "refreshed \(NumberText.counted(range.count, "object"))"
  }

  /// Releases a named result, or a context with its results and objects.
  func drop(_ step: Step) -> String {
    if stack.shapes[step.subject] != nil {
      releaseResults(ofContext: step.subject)
      stack.remove(step.subject)
    } else {
      release(named: step.subject)
    }
    return "\(step.subject) released"
  }

  /// Resets a context, releasing its results and objects and discarding its unsaved changes; the
  /// coordinator isn't affected.
  func reset(_ input: StepInput) -> String {
    releaseResults(ofContext: input.contextName)
    return "every object released"
  }
}

extension Session {
  /// Returns a recording of one step.
  ///
  /// **Cost:** linear in the number of the step's events, regardless of the session's length.
  package func recording(of step: RecordedStep) -> Recording {
    stack.recorder.recording(of: step, gauges: gauges)
  }

  /// The last step that ran, even if it failed.
  package var lastStep: RecordedStep? { recordedSteps.last }

  /// Returns a closure that interrupts the statement that a step runs, or `nil` if the failure
  /// couldn't be reported.
  ///
  /// Firing a fault can't throw an error. An interrupted fault has empty values, which is harmless
  /// in a step that only reads, because the step fails. It isn't in a step that changes data, of
  /// which only the writing statements are interrupted.
  package func interrupt(for step: Step) -> (@Sendable () -> Void)? {
    let name = knownNames.context(of: step)
    let context = stack.context(name)
    let coordinator = context.persistentStoreCoordinator
    switch step.verb {
    // An error while opening the connection is reported when the step runs.
    case .sql, .index, .analyze: return (try? rawConnection())?.interruption
    case .save, .batchInsert, .batchUpdate, .batchDelete:
      return { coordinator?.interruptWriting() }
    // A parent would pass the empty values of an interrupted fault to its child.
    case .touch, .walk: guard stack.shapes[name]?.parent == nil else { return nil }
    case .fetch, .count:
      // Objects with unsaved changes are compared in memory, which can fire faults.
      guard stack.contexts.count == 1, !context.performAndWait({ context.hasChanges }) else {
        return nil
      }
    default: return nil
    }
    return { coordinator?.interruptStatements() }
  }

  /// Turns the objects whose faults were interrupted back into faults.
  func revertInterruptedFaults() {
    for named in stack.contexts {
      named.context.performAndWait { named.context.revertInterruptedFaults() }
    }
  }
}

extension Session {
  /// The current values of `registered` and `peak`, for each entity, each context, and in total.
  ///
  /// The total of `registered` is the sum over all contexts; that of `peak` is the highest value of
  /// any single context, including those that no longer exist.
  package var gauges: [ScopedMetric: Int] { countObjects().gauges }

  /// Returns the work of steps with a recording of everything since the session began.
  ///
  /// **Cost:** copies and sorts the events, and counts the registered objects once.
  package func work(of steps: [Step]) -> FinishedWork {
    let (gauges, registered) = countObjects()
    return FinishedWork(
      recording: stack.recorder.recording(steps: recordedSteps, gauges: gauges), steps: steps,
      model: model, registered: registered)
  }

  /// Returns the gauges, and the numbers of registered objects by context and entity.
  private func countObjects() -> (
    gauges: [ScopedMetric: Int], registered: [String: [String: Int]]
  ) {
    var gauges = stack.formerPeaks
    var registered: [String: [String: Int]] = [:]
    for named in stack.contexts {
      let context = named.context
      var counts: [String: Int] = [:]
      context.performAndWait {
        for entity in model.entities where !entity.isAbstract {
          guard let name = entity.name else { continue }
          let count = context.registeredCount(ofEntity: name)
          counts[name] = count
          add(count, context.peakRegisteredCount(ofEntity: name), to: .entity(name), of: &gauges)
        }
        let (count, peak) = (context.registeredCount, context.peakRegisteredCount)
        add(count, peak, to: .context(named.name), of: &gauges)
        add(count, peak, to: .all, of: &gauges)
      }
      registered[named.name] = counts
    }
    return (gauges, registered)
  }

  /// Returns the current numbers of pages in the store file, of pages in its WAL, and of free
  /// pages.
  ///
  /// **Cost:** the sizes of two files, and two pragmas on the session's own connection, which
  /// aren't counted.
  ///
  /// - Throws: An `NSError` if the connection can't be opened.
  package func pages() throws -> [ScopedMetric: Int] {
    let connection = try rawConnection()
    let pageSize = max(1, try connection.number(ofPragma: "page_size"))
    // A WAL has a header of 32 bytes, and each frame in it has one of 24 bytes.
    let log = max(0, Session.length(of: storeURL.path + "-wal") - 32)
    return [
      ScopedMetric(.filepages): Session.length(of: storeURL.path) / pageSize,
      ScopedMetric(.walpages): log / (pageSize + 24),
      ScopedMetric(.freepages): try connection.number(ofPragma: "freelist_count"),
    ]
  }

  /// Returns the length of a file in bytes, or 0 if it doesn't exist.
  private static func length(of path: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.intValue ?? 0
  }

  private func add(
    _ registered: Int, _ peak: Int, to scope: MetricScope, of gauges: inout [ScopedMetric: Int]
  ) {
    gauges[ScopedMetric(.registered, scope), default: 0] += registered
    let highest = gauges[ScopedMetric(.peak, scope)] ?? 0
    gauges[ScopedMetric(.peak, scope)] = max(highest, peak)
  }
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A clock that measures the processor time of the calling thread, which doesn't include waiting.
enum ProcessorClock {
  /// Returns the thread's processor time, in nanoseconds.
  static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
