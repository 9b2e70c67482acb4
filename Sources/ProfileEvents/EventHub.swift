package import Synchronization

/// Passes events to sinks.
///
/// Each coordinator has one hub.
///
/// Without a sink, a hot path reads only `demand`.
package final class EventHub: Sendable {
  private let sinks = Mutex(Sinks())
  /// What the sinks require, and the last ID, to be used without the hub; valid as long as the hub.
  package let demand = EventDemand()

  private struct Sinks {
    var all: [any EventSink] = []
    /// The sink if there's one, which is usual: returning it doesn't retain an array.
    var only: (any EventSink)?
  }

  package init() {
    demand.words.pointee.hub = .passUnretained(self)
  }

  deinit {
    demand.free()
  }

  /// Whether there's a sink that receives events.
  package var isListening: Bool {
    demand.isListening
  }

  /// The union of the details that the sinks require; empty if there are no sinks.
  package var detail: EventDetail {
    demand.detail
  }

  /// Adds a sink, which receives events that end from now on.
  package func add(_ sink: any EventSink) {
    sinks.withLock { sinks in
      sinks.all.append(sink)
      publish(&sinks)
    }
  }

  /// Removes a sink, or does nothing if it wasn't added.
  package func remove(_ sink: any EventSink) {
    sinks.withLock { sinks in
      sinks.all.removeAll { $0 === sink }
      publish(&sinks)
    }
  }

  /// Returns the ID for an event that begins now.
  package func nextID() -> Int {
    demand.nextID()
  }

  /// Passes an event that ended to every sink.
  package func emit(_ event: Event) {
    if let sink = sinks.withLock({ $0.only }) { return sink.record(event) }
    for sink in sinks.withLock({ $0.all }) {
      sink.record(event)
    }
  }

  private func publish(_ sinks: inout Sinks) {
    sinks.only = sinks.all.count == 1 ? sinks.all[0] : nil
    let detail = sinks.all.reduce(into: EventDetail()) { $0.formUnion($1.detail) }
    demand.words.pointee.details.store(
      sinks.all.isEmpty ? 0 : (detail.rawValue << 1 | 1), ordering: .relaxed)
  }
}

/// What the sinks of a hub require, and the IDs of its events, in memory of the hub's.
///
/// A hot path keeps a copy next to its hub: using the hub itself would retain and release it, which
/// costs ten times as much as reading a word. The owner of a copy must also retain the hub.
package struct EventDemand: @unchecked Sendable {  // the words are atomic, the hub is constant
  @usableFromInline
  struct Words: ~Copyable {
    /// 0 without a sink, otherwise the details in the bits above the lowest, which is 1.
    @usableFromInline let details = Atomic(0)
    fileprivate let lastID = Atomic(0)
    fileprivate var hub: Unmanaged<EventHub>?
  }

  @usableFromInline let words: UnsafeMutablePointer<Words>

  fileprivate init() {
    words = .allocate(capacity: 1)
    words.initialize(to: Words())
  }

  fileprivate func free() {
    words.deinitialize(count: 1)
    words.deallocate()
  }

  /// Passes an event that ended to every sink of the hub.
  package func emit(_ event: Event) {
    words.pointee.hub?._withUnsafeGuaranteedRef { $0.emit(event) }
  }

  /// Returns the ID for an event that begins now.
  package func nextID() -> Int {
    words.pointee.lastID.add(1, ordering: .relaxed).newValue
  }

  /// Whether there's a sink that receives events.
  ///
  /// **Cost:** a load.
  @inlinable package var isListening: Bool {
    words.pointee.details.load(ordering: .relaxed) != 0
  }

  /// The union of the details that the sinks require; empty if there are no sinks.
  package var detail: EventDetail {
    EventDetail(rawValue: words.pointee.details.load(ordering: .relaxed) >> 1)
  }

  /// Returns whether a sink requires a detail.
  ///
  /// **Cost:** a load.
  @inlinable @inline(__always)
  package func includes(_ detail: EventDetail) -> Bool {
    words.pointee.details.load(ordering: .relaxed) >> 1 & detail.rawValue != 0
  }
}

/// A receiver of events, such as the workbench's recorder, the SQLDebug log, or a list in a test.
///
/// `record` is called on the thread on which the event ended. Calls for one context are serial;
/// calls for several contexts can come from several threads at once.
package protocol EventSink: AnyObject, Sendable {
  /// The details to record in addition to the inexpensive fields.
  var detail: EventDetail { get }

  /// Records an event that ended.
  func record(_ event: Event)
}

/// The event details that are recorded only if required, because of their cost.
package struct EventDetail: OptionSet, Sendable {
  package let rawValue: Int

  @inlinable package init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// Bound values, which can contain private data.
  @inlinable package static var binds: EventDetail { EventDetail(rawValue: 1) }
  /// Call stacks.
  @inlinable package static var stacks: EventDetail { EventDetail(rawValue: 2) }
  /// SQLite's counters for each statement, about 400 ns per execution.
  @inlinable package static var work: EventDetail { EventDetail(rawValue: 4) }
  /// Each object in the rows of a SELECT, and the request of a count.
  @inlinable package static var rows: EventDetail { EventDetail(rawValue: 8) }
  /// The query plan of each SELECT: one `EXPLAIN QUERY PLAN` per execution.
  @inlinable package static var plans: EventDetail { EventDetail(rawValue: 16) }
  /// The statements that open or create a store.
  @inlinable package static var opening: EventDetail { EventDetail(rawValue: 32) }
}
