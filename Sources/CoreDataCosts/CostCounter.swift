import ProfileEvents
import Synchronization

/// Counts the events of all contexts of a coordinator.
final class CostCounter: EventSink {
  let detail: EventDetail = []
  private let counted = Mutex(Counters())

  var counters: Counters { counted.withLock { $0 } }

  func record(_ event: Event) {
    counted.withLock { $0.count(event) }
  }
}
