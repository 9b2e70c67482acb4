import Foundation
package import OpenCoreData
package import ProfileEvents
package import ScenarioLanguage
import WorkbenchText

/// One cold stack over one store; steps run on it one at a time.
///
/// The runner makes one for each variant, the shell one for its life. Each step is one `performAndWait`
/// block of its context, whose call site is the step's place; when it is over, every context has done
/// what it had to do for the others. A named result is retained until `drop`, `reset`, or the end; nothing
/// else retains objects. Use it from one thread at a time, not from the main queue's blocks.
package final class Session {
  package let storeURL: URL
  package let model: NSManagedObjectModel
  /// Whether the store is open read-only: no file in its folder changes, and saving fails.
  package let isReadOnly: Bool
  /// Whether the model is none of those that the store was made with.
  package let ignoresVersions: Bool
  /// The rows that were passed over, as no object can be of them; none where a store may be written.
  package let damagedRows = SkippedRows()

  // Written by the +flows.
  var stack: ColdStack
  var held: [String: HeldResult] = [:]
  var recordedSteps: [RecordedStep] = []
  /// Opened at first need.
  var raw: RawConnection?
  /// How the last step reached what it read, when that is not plain.
  var routes: [StepContext.Route] = []
  /// How the last step sorted in memory what a fetch could have sorted.
  var sorting: StepContext.Sorting?
  let interruption: StepInterruption

  /// Opens a store.
  ///
  /// Cost: reads the store's metadata and schema, which is housekeeping and not counted.
  /// - Parameters:
  ///   - model: nil to use the one the store carries.
  ///   - readOnly: whether to look at the store without changing a byte in its folder.
  ///   - ignoresVersions: whether the model is none of those that the store was made with.
  ///   - interruption: by which another thread may stop a step.
  /// - Throws: the coordinator's `NSError`.
  package init(
    storeURL: URL, model: NSManagedObjectModel?, readOnly: Bool, ignoresVersions: Bool = false,
    sinks: [any EventSink] = [], interruption: StepInterruption = StepInterruption()
  ) throws {
    self.storeURL = storeURL
    self.model = try model ?? NSManagedObjectModel.inStore(at: storeURL)
    self.interruption = interruption
    isReadOnly = readOnly
    self.ignoresVersions = ignoresVersions
    stack = try ColdStack(
      storeURL: storeURL, model: self.model, isReadOnly: readOnly,
      ignoresVersions: ignoresVersions, damagedRows: damagedRows, sinks: sinks)
  }

  deinit {
    letEverythingGo()
  }

  /// Adds a listener, such as a SQL log.
  package func add(_ sink: any EventSink) {
    stack.hub.add(sink)
  }

  /// Removes a listener; unknown ones are ignored.
  package func remove(_ sink: any EventSink) {
    stack.hub.remove(sink)
  }

  /// Everything since the session began.
  ///
  /// Costs a copy and a sort of the events.
  package var recording: Recording {
    stack.recorder.recording(steps: recordedSteps, gauges: gauges)
  }

  /// The current results, by name.
  package var heldShapes: [String: HeldShape] {
    held.mapValues(\.shape)
  }

  /// The results and contexts there are.
  package var knownNames: KnownNames {
    KnownNames(results: heldShapes, contexts: stack.shapes)
  }

  /// Holds a result under a name; what had the name goes on its own context's queue.
  func hold(_ result: HeldResult, as name: String) {
    if let old = held[name], old.context != result.context { letGo(of: name) }
    held[name] = result
  }

  /// Lets a named result go, on its context's queue.
  func letGo(of name: String) {
    guard let result = held[name] else { return }
    stack.context(result.context).performAndWait { held[name] = nil }
  }

  /// Lets a context's results and objects go.
  func letGo(ofContext name: String) {
    let context = stack.context(name)
    context.performAndWait {
      held = held.filter { $0.value.context != name }
      context.reset()
    }
  }

  /// Objects must go on their context's queue, and before it.
  private func letEverythingGo() {
    for named in stack.contexts.reversed() { letGo(ofContext: named.name) }
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

  /// Lets a named result go, or a context with everything that is its own.
  func drop(_ step: Step) -> String {
    if stack.shapes[step.subject] != nil {
      letGo(ofContext: step.subject)
      stack.remove(step.subject)
    } else {
      letGo(of: step.subject)
    }
    return "\(step.subject) released"
  }

  /// Lets every name, object and unsaved change of a context go; the coordinator stays.
  func letGo(_ input: StepInput) -> String {
    letGo(ofContext: input.contextName)
    return "every object released"
  }
}

extension Session {
  /// What one step caused.
  ///
  /// Costs a look at its own events, however long the session is.
  package func recording(of step: RecordedStep) -> Recording {
    stack.recorder.recording(of: step, gauges: gauges)
  }

  /// The step that ran last, one that failed included.
  package var lastStep: RecordedStep? { recordedSteps.last }

  /// Interrupts the statement that a step runs; nil if its failure couldn't be reported.
  ///
  /// A fault can't throw. One that a reading step fires reads as empty, which harms nothing as
  /// the step fails; one that a changing step fires must not, so that of those the writing alone is cut
  /// off.
  package func cut(_ step: Step) -> (@Sendable () -> Void)? {
    let name = knownNames.context(of: step)
    let context = stack.context(name)
    let coordinator = context.persistentStoreCoordinator
    switch step.verb {
    // An error in opening is reported when the step runs.
    case .sql, .index, .analyze: return (try? rawConnection())?.interruption
    case .save, .batchInsert, .batchUpdate, .batchDelete:
      return { coordinator?.interruptWriting() }
    // A parent would give its child for a row what it could not read.
    case .touch, .walk: guard stack.shapes[name]?.parent == nil else { return nil }
    case .fetch, .count:
      // Pending objects are compared in memory, where faults may fire.
      guard stack.contexts.count == 1, !context.performAndWait({ context.hasChanges }) else {
        return nil
      }
    default: return nil
    }
    return { coordinator?.interruptStatements() }
  }

  /// Makes faults again of what a step was stopped at.
  func revertInterruptedFaults() {
    for named in stack.contexts {
      named.context.performAndWait { named.context.revertInterruptedFaults() }
    }
  }
}

extension Session {
  /// `registered` and `peak` of now: for each entity, for each context, and for all.
  ///
  /// Registered objects of all contexts are added up; a peak is the highest of any one context.
  package var gauges: [ScopedMetric: Int] {
    var gauges: [ScopedMetric: Int] = [:]
    for named in stack.contexts {
      let context = named.context
      context.performAndWait {
        for entity in model.entities where !entity.isAbstract {
          guard let name = entity.name else { continue }
          add(
            context.registeredCount(ofEntity: name), context.peakRegisteredCount(ofEntity: name),
            to: .entity(name), of: &gauges)
        }
        let (registered, peak) = (context.registeredCount, context.peakRegisteredCount)
        add(registered, peak, to: .context(named.name), of: &gauges)
        add(registered, peak, to: .all, of: &gauges)
      }
    }
    return gauges
  }

  /// Pages of the store's file and of its log, and those that hold nothing, as they are now.
  ///
  /// Cost: a look at two files and two pragmas on the session's own connection; nothing is counted.
  /// - Throws: an `NSError` when the store cannot be opened once more.
  package func pages() throws -> [ScopedMetric: Int] {
    let connection = try rawConnection()
    let pageSize = max(1, try connection.number(ofPragma: "page_size"))
    // The log has a head of 32 bytes, and each page in it one of 24.
    let log = max(0, Session.length(of: storeURL.path + "-wal") - 32)
    return [
      ScopedMetric(.filepages): Session.length(of: storeURL.path) / pageSize,
      ScopedMetric(.walpages): log / (pageSize + 24),
      ScopedMetric(.freepages): try connection.number(ofPragma: "freelist_count"),
    ]
  }

  /// In bytes; 0 for a file that doesn't exist.
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

/// The clock that runs while the processor works for the calling thread, and stops while it waits.
enum ProcessorClock {
  /// Nanoseconds of processor time that the thread has had.
  static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
