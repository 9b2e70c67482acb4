package import OpenCoreData
package import ProfileEvents
package import ScenarioLanguage

/// One cold stack over one store; steps run on it one at a time.
///
/// The runner makes one for each variant, the shell one for its life. Each step is one `performAndWait`
/// block of its context, whose call site is the step's place; when it is over, every context has done
/// what it had to do for the others. A named result is held until `drop`, `reset` or the end; nothing
/// else holds objects. Use it from one thread at a time, not from the main queue's blocks.
package final class Session {
  package let storeURL: URL
  package let model: NSManagedObjectModel
  /// Whether the store is only looked at: no byte in its folder changes, and saving fails.
  package let isReadOnly: Bool
  /// Whether the model is none of those that the store was made with.
  package let ignoresVersions: Bool
  /// The rows that were passed over, as no object can be of them; none where a store may be written.
  package let damagedRows = DamagedRows()

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

  /// The results held at present, by name.
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
