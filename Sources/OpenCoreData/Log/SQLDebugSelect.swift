import ProfileEvents

/// A SELECT whose total time is still to be written: that of the event which asked for it.
struct SQLDebugSelect {
  let statement: StatementRecord
  let entity: String?
  let rows: Int
  /// Of the SELECT itself, in nanoseconds.
  let duration: UInt64
  let thread: UInt64
  /// What was written as the total of the same event's earlier SELECTs, in nanoseconds.
  let told: UInt64

  init(_ event: Event, told: UInt64) {
    statement = event.statement ?? StatementRecord(kind: .select, sql: "")
    entity = event.entity
    rows = event.rows
    duration = event.duration
    thread = event.thread
    self.told = told
  }

  /// Whether it answers a count; a fetch of dictionaries that counts has a blank behind the bracket.
  var isCount: Bool {
    statement.sql.hasPrefix("SELECT COUNT(*) FROM ")
      || statement.sql.hasPrefix("SELECT COUNT(DISTINCT t0.Z_PK) FROM ")
  }
}
