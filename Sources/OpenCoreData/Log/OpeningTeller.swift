import ProfileEvents

/// Tells the statements by which a store is opened or made, as events of no context.
///
/// Made only for a sink that asks for `.opening`: they are no part of what a program's work costs, and
/// the counters leave them out. Any thread may use it.
struct OpeningTeller: Sendable {
  private let hub: EventHub

  /// Nil when nobody asks.
  init?(_ hub: EventHub) {
    guard hub.detail.contains(.opening) else { return nil }
    self.hub = hub
  }

  /// Tells a statement that has run.
  ///
  /// - Parameter begin: nanoseconds of `MonotonicClock`; now for one whose time nobody took.
  func tell(_ sql: String, _ kind: StatementKind = .housekeeping, begin: UInt64? = nil) {
    let now = MonotonicClock.now()
    let begin = begin ?? now
    var event = Event(
      id: hub.nextID(), parent: 0, kind: .statement, begin: begin, duration: now - begin,
      thread: MonotonicClock.threadID())
    event.statement = StatementRecord(kind: kind, sql: sql)
    hub.emit(event)
  }
}

extension Optional<OpeningTeller> {
  /// Runs what a statement does and tells it, if somebody asks; one that fails is not told.
  func telling<R>(
    _ sql: String, _ kind: StatementKind = .housekeeping, _ body: () throws -> R
  ) rethrows -> R {
    guard let teller = self else { return try body() }
    let begin = MonotonicClock.now()
    let result = try body()
    teller.tell(sql, kind, begin: begin)
    return result
  }
}
