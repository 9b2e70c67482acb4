import ProfileEvents
import Synchronization

@testable import Profiling

/// Interrupts a step after a number of object faults have fired.
final class InterruptingSink: EventSink {
  let detail: EventDetail = []
  private let interruption: StepInterruption
  private let limit: Int
  private let faults = Atomic(0)

  init(_ interruption: StepInterruption, afterFaults limit: Int) {
    self.interruption = interruption
    self.limit = limit
  }

  func record(_ event: Event) {
    guard event.kind == .objectFault else { return }
    if faults.add(1, ordering: .relaxed).newValue == limit { interruption.request() }
  }
}
