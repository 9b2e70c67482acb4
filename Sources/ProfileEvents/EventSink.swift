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
