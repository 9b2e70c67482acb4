import ProfileEvents
import SQLiteDriver

/// The profiling state of one context: its counters, the current event, and its call site.
///
/// Passed to the store with each request, so that a statement is counted and nested where it was
/// requested. Used only on the context's queue.
final class ProfileScope {
  @exclusivity(unchecked) var hub: EventHub {
    didSet { demand = hub.demand }
  }
  /// What the sinks of `hub` require; valid because this scope retains the hub.
  @exclusivity(unchecked) private(set) var demand: EventDemand
  @exclusivity(unchecked) var counters = Counters()
  /// The call site of events until it's changed.
  @exclusivity(unchecked) var callSite: CallSite? {
    didSet { knownOrigin = nil }
  }
  /// The context's name.
  @exclusivity(unchecked) var contextName: String? {
    didSet { knownOrigin = nil }
  }
  /// The origin of events; `nil` until the first one after a change.
  @exclusivity(unchecked) private var knownOrigin: EventOrigin?
  /// The transaction author for the history.
  var author: String?
  @exclusivity(unchecked) private var parent = 0

  init(hub: EventHub) {
    self.hub = hub
    demand = hub.demand
  }

  /// Begins an event.
  ///
  /// Returns `nil`, at the cost of one load, if there's no observer.
  @inline(__always)
  func begin(_ kind: EventKind) -> OpenEvent? {
    guard demand.isListening else { return nil }
    return open(kind)
  }

  /// Ends an event and emits it.
  ///
  /// `complete` adds the values that are only known now.
  @inline(__always)
  func end(_ open: OpenEvent?, _ complete: (inout Event) -> Void = { _ in }) {
    guard let open else { return }
    parent = open.parent
    emit(open, end: MonotonicClock.now(), complete)
  }

  @inline(__always)
  private func emit(_ open: OpenEvent, end: UInt64, _ complete: (inout Event) -> Void) {
    var event = Event(
      id: open.id, parent: open.parent, kind: open.kind, begin: open.begin,
      duration: end &- open.begin, thread: MonotonicClock.threadID())
    event.setOrigin(origin)
    if demand.includes(.stacks) { event.stack = CallStack.addresses() }
    complete(&event)
    demand.emit(event)
  }

  /// Emits an event without a duration.
  ///
  /// - Parameter time: When it happened, if that's known; reading the clock takes some 20 ns.
  @inline(__always)
  func emit(_ kind: EventKind, at time: UInt64? = nil, _ complete: (inout Event) -> Void) {
    guard demand.isListening else { return }
    let now = time ?? MonotonicClock.now()
    emit(OpenEvent(id: demand.nextID(), parent: parent, kind: kind, begin: now), end: now, complete)
  }

  /// Discards an event that failed: a fault, a save, or a transaction.
  ///
  /// It isn't emitted.
  func abandon(_ open: OpenEvent?) {
    if let open { parent = open.parent }
  }

  /// Runs a body on behalf of another context: its events are nested in that context's event.
  func working<R>(for other: ProfileScope, _ body: () throws -> R) rethrows -> R {
    let (outer, site) = (parent, callSite)
    parent = other.parent
    if callSite == nil { callSite = other.callSite }
    defer { (parent, callSite) = (outer, site) }
    return try body()
  }

  /// Returns the counters of a statement before its run; `nil` unless a sink requires them.
  func work(of statement: Statement) -> StatementWork? {
    demand.includes(.work) ? statement.work : nil
  }

  private var origin: EventOrigin? {
    if let knownOrigin { return knownOrigin }
    guard contextName != nil || callSite != nil else { return nil }
    let origin = EventOrigin(context: contextName, callSite: callSite)
    knownOrigin = origin
    return origin
  }

  private func open(_ kind: EventKind) -> OpenEvent {
    let id = demand.nextID()
    let open = OpenEvent(id: id, parent: parent, kind: kind, begin: MonotonicClock.now())
    parent = id
    return open
  }
}

/// An event that has begun but not ended.
struct OpenEvent {
  let id: Int
  /// The event to return to when this one ends.
  let parent: Int
  let kind: EventKind
  let begin: UInt64
}
