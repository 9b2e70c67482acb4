#if Workbench
  public import OpenCoreData
  import ProfileEvents
  import RunResults

  /// The workbench's recorder, which stores a coordinator's events.
  public final class EventCounter: Sendable {
    private let recorder: Recorder
    private let hub: EventHub

    /// Starts recording events.
    ///
    /// - Parameters:
    ///   - coordinator: The coordinator to observe.
    ///   - stacks: Whether each event includes its call stack.
    public init(_ coordinator: NSPersistentStoreCoordinator, stacks: Bool) {
      recorder = Recorder(detail: stacks ? .stacks : [])
      hub = coordinator.eventHub
      hub.add(recorder)
    }

    /// Stops recording, and returns the number of recorded events.
    public func stop() -> Int {
      hub.remove(recorder)
      return recorder.recording().events.count
    }
  }
#endif
