import ProfileEvents

/// Emits the events of one migration: one for each step, and one for the whole.
struct MigrationEvents {
  private let hub: EventHub
  private let id: Int
  private let begin = MonotonicClock.now()

  /// Begins a migration; returns nil if no sink receives events.
  init?(_ hub: EventHub) {
    guard hub.isListening else { return nil }
    self.hub = hub
    id = hub.nextID()
  }

  /// Emits the event of a step that ends now.
  ///
  /// - Parameters:
  ///   - work: What it did.
  ///   - purpose: A description.
  ///   - begin: When it began, on `MonotonicClock`.
  ///   - rows: The number of rows that it wrote.
  ///   - sql: Its statement; nil for a pass of an entity mapping.
  ///   - entity: The entity whose instances it migrated; nil for a statement.
  func step(
    _ work: MigrationRecord.Work, _ purpose: String, from begin: UInt64, rows: Int,
    sql: String? = nil, entity: String? = nil
  ) {
    var event = event(.migrationStep, hub.nextID(), parent: id, from: begin)
    event.migration = MigrationRecord(work: work, purpose: purpose)
    event.rows = rows
    event.entity = entity
    event.statement = sql.map { StatementRecord(kind: .housekeeping, sql: $0) }
    hub.emit(event)
  }

  /// Emits the event of the migration, which ends now.
  func end(_ work: MigrationRecord.Work, _ purpose: String) {
    var event = event(.migration, id, parent: 0, from: begin)
    event.migration = MigrationRecord(work: work, purpose: purpose)
    hub.emit(event)
  }

  private func event(
    _ kind: EventKind, _ id: Int, parent: Int, from begin: UInt64
  ) -> Event {
    Event(
      id: id, parent: parent, kind: kind, begin: begin, duration: MonotonicClock.now() - begin,
      thread: MonotonicClock.threadID())
  }
}
