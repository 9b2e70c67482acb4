public import OpenCoreData
import ProfileEvents
import Synchronization

/// An observer that only stores a coordinator's events, like the workbench's recorder.
public final class EventCounter: Sendable {
  private let sink: Sink
  private let hub: EventHub

  /// Starts recording events.
  ///
  /// - Parameters:
  ///   - coordinator: The coordinator to observe.
  ///   - stacks: Whether each event includes its call stack.
  public init(_ coordinator: NSPersistentStoreCoordinator, stacks: Bool) {
    sink = Sink(detail: stacks ? .stacks : [])
    hub = coordinator.eventHub
    hub.add(sink)
  }

  /// Stops recording, and returns the number of recorded events.
  public func stop() -> Int {
    hub.remove(sink)
    return sink.events.withLock { $0.count }
  }

  private final class Sink: EventSink {
    let detail: EventDetail
    let events = Mutex<[Event]>([])

    init(detail: EventDetail) {
      self.detail = detail
    }

    func record(_ event: Event) {
      events.withLock { $0.append(event) }
    }
  }
}
