import Synchronization

/// Passes events to its sinks; one for each coordinator.
///
/// With no sink, `isListening` is the only thing a hot path reads.
package final class EventHub: Sendable {
  private let sinks = Mutex<[any EventSink]>([])
  private let state = Atomic<Int>(0)
  private let lastID = Atomic<Int>(0)

  package init() {}

  /// Whether an event is worth building.
  package var isListening: Bool {
    state.load(ordering: .relaxed) != 0
  }

  /// The union of what the sinks asked for; empty when none listens.
  package var detail: EventDetail {
    EventDetail(rawValue: state.load(ordering: .relaxed) >> 1)
  }

  /// Adds a sink; it hears of what ends from now on.
  package func add(_ sink: any EventSink) {
    sinks.withLock { sinks in
      sinks.append(sink)
      publish(sinks)
    }
  }

  /// Removes a sink; unknown ones are ignored.
  package func remove(_ sink: any EventSink) {
    sinks.withLock { sinks in
      sinks.removeAll { $0 === sink }
      publish(sinks)
    }
  }

  /// The number of the event that begins now.
  package func nextID() -> Int {
    lastID.add(1, ordering: .relaxed).newValue
  }

  /// Tells every sink of an event that is over.
  package func emit(_ event: Event) {
    for sink in sinks.withLock({ $0 }) {
      sink.record(event)
    }
  }

  private func publish(_ sinks: [any EventSink]) {
    let detail = sinks.reduce(into: EventDetail()) { $0.formUnion($1.detail) }
    state.store(sinks.isEmpty ? 0 : (detail.rawValue << 1 | 1), ordering: .relaxed)
  }
}

/// Receives events: the workbench's recorder, the SQLDebug log, a test's list.
///
/// `record` is called on the thread where the event ended, one event at a time for each context but
/// from several threads for several contexts.
package protocol EventSink: AnyObject, Sendable {
  /// What must be collected beyond the cheap fields.
  var detail: EventDetail { get }

  /// Takes one event that is over.
  func record(_ event: Event)
}

/// What costs extra to collect and is therefore asked for.
package struct EventDetail: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// Bound values, which may be private.
  package static let binds = EventDetail(rawValue: 1)
  /// Call stacks.
  package static let stacks = EventDetail(rawValue: 2)
  /// SQLite's counters of each statement, about 400 ns a run.
  package static let work = EventDetail(rawValue: 4)
  /// The objects of a SELECT's rows, one by one, and what a count asked for.
  package static let rows = EventDetail(rawValue: 8)
  /// SQLite's plan of each SELECT: one `EXPLAIN QUERY PLAN` a run.
  package static let plans = EventDetail(rawValue: 16)
  /// The statements by which a store is opened or made.
  package static let opening = EventDetail(rawValue: 32)
}
