import ProfileEvents
import Synchronization

/// Counts the events of a coordinator, whichever of its contexts caused them.
final class CostCounter: EventSink {
  let detail: EventDetail = []
  private let counted = Mutex(Counters())

  var counters: Counters { counted.withLock { $0 } }

  func record(_ event: Event) {
    counted.withLock { $0.count(event) }
  }
}
