package import OpenCoreData
package import ProfileEvents

/// One cold stack over one store; steps run on it one at a time.
///
/// The runner makes one for each variant, the shell one for its life. Each step is one `performAndWait`
/// block whose call site is the step's place. A named result is held until `drop`, `reset` or the end;
/// nothing else holds objects. Use it from one thread at a time, not from the main queue's blocks.
package final class Session {
  package let storeURL: URL
  package let model: NSManagedObjectModel
  /// Whether the store is only looked at: no byte in its folder changes, and saving fails.
  package let isReadOnly: Bool

  // Written by the +flows.
  var stack: ColdStack
  var held: [String: HeldResult] = [:]
  var recordedSteps: [RecordedStep] = []
  /// How the last step reached what it read, when that is not plain.
  var routes: [StepContext.Route] = []
  let interruption: StepInterruption
  private var sinks: [any EventSink] = []

  /// Opens a store.
  ///
  /// Cost: reads the store's metadata and schema, which is housekeeping and not counted.
  /// - Parameters:
  ///   - model: nil to use the one the store carries.
  ///   - readOnly: whether to look at the store without changing a byte in its folder.
  ///   - interruption: by which another thread may stop a step.
  /// - Throws: the coordinator's `NSError`.
  package init(
    storeURL: URL, model: NSManagedObjectModel?, readOnly: Bool, sinks: [any EventSink] = [],
    interruption: StepInterruption = StepInterruption()
  ) throws {
    self.storeURL = storeURL
    self.model = try model ?? NSManagedObjectModel.inStore(at: storeURL)
    self.sinks = sinks
    self.interruption = interruption
    isReadOnly = readOnly
    stack = try ColdStack(
      storeURL: storeURL, model: self.model, isReadOnly: readOnly, sinks: sinks)
  }

  deinit {
    letEverythingGo()
  }

  /// Starts again, cold: new coordinator, empty row cache, no names, an empty recording.
  ///
  /// Unsaved changes are lost. Sinks stay.
  /// - Throws: as `init`; the session is then unchanged.
  package func reset() throws {
    let cold = try ColdStack(
      storeURL: storeURL, model: model, isReadOnly: isReadOnly, sinks: sinks)
    letEverythingGo()
    stack = cold
    recordedSteps = []
  }

  /// Adds a listener, such as a SQL log; it stays over `reset()`.
  package func add(_ sink: any EventSink) {
    sinks.append(sink)
    stack.coordinator.eventHub.add(sink)
  }

  /// Removes a listener; unknown ones are ignored.
  package func remove(_ sink: any EventSink) {
    sinks.removeAll { $0 === sink }
    stack.coordinator.eventHub.remove(sink)
  }

  /// Everything since the session began or was reset.
  ///
  /// Costs a copy and a sort of the events.
  package var recording: Recording {
    stack.recorder.recording(steps: recordedSteps, gauges: gauges)
  }

  /// `registered` and `peak` of now, for each entity and for all.
  var gauges: [ScopedMetric: Int] {
    let context = stack.context
    return context.performAndWait { Session.gauges(of: context, model: model) }
  }

  /// The results held at present, by name.
  package var heldShapes: [String: HeldShape] {
    held.mapValues(\.shape)
  }

  /// Objects must go on their context's queue, and before it.
  private func letEverythingGo() {
    stack.context.performAndWait {
      held = [:]
      stack.context.reset()
    }
  }

  private static func gauges(
    of context: NSManagedObjectContext, model: NSManagedObjectModel
  ) -> [ScopedMetric: Int] {
    var gauges: [ScopedMetric: Int] = [:]
    for entity in model.entities where !entity.isAbstract {
      guard let name = entity.name else { continue }
      gauges[ScopedMetric(.registered, .entity(name))] = context.registeredCount(ofEntity: name)
      gauges[ScopedMetric(.peak, .entity(name))] = context.peakRegisteredCount(ofEntity: name)
    }
    gauges[ScopedMetric(.registered)] = context.registeredCount
    gauges[ScopedMetric(.peak)] = context.peakRegisteredCount
    return gauges
  }
}
