public import OpenCoreData
import ProfileEvents
import Synchronization

/// Listens to a coordinator's events and only keeps them, as the workbench's recorder does.
public final class EventCounter: Sendable {
  private let sink: Sink
  private let hub: EventHub

  /// Begins to listen.
  ///
  /// - Parameter stacks: Whether each event carries its call stack.
  public init(_ coordinator: NSPersistentStoreCoordinator, stacks: Bool) {
    sink = Sink(detail: stacks ? .stacks : [])
    hub = coordinator.eventHub
    hub.add(sink)
  }

  /// Stops listening and gives the number of events heard.
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
