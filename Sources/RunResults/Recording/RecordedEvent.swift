package import ProfileEvents

/// An event of a recording.
///
/// It has the properties of `Event` but refers to the recording's tables for all that many events
/// share, so it's inexpensive to copy.
package struct RecordedEvent: Sendable, Identifiable {
  let record: EventTables.Record
  let tables: SharedEventTables

  private var shape: EventTables.Shape { tables.shapes[Int(record.shape)] }

  private var extras: EventTables.Extras? {
    record.extras == 0 ? nil : tables.extras[Int(record.extras) - 1]
  }

  /// The ID, in the order in which events began.
  package var id: Int { record.id }
  /// The ID of the enclosing event, or 0.
  package var parent: Int { record.parent }
  /// The kind of work.
  package var kind: EventKind { record.kind }
  /// The start time, in nanoseconds of `MonotonicClock`.
  package var begin: UInt64 { record.begin }
  /// The duration, in nanoseconds.
  package var duration: UInt64 { record.duration }
  /// The operating system's thread ID.
  package var thread: UInt64 { shape.thread }
  fileprivate var origin: EventOrigin? { shape.origin }
  /// The context's name, or `nil` if it has none or no context was involved.
  package var context: String? { shape.origin?.context }
  /// The name of the fetched, saved, or otherwise affected entity, if there's one.
  package var entity: String? { shape.entity }
  /// The relationship of a relationship fault, or the key path component of a prefetch.
  package var relationship: String? { shape.relationship }
  /// The source of a fault's values, for faults only.
  package var source: FaultSource? { record.source }
  /// The number of rows returned, objects saved or merged, or rows changed, depending on the kind.
  package var rows: Int { record.rows }
  /// The number of passes of validation and `willSave`, for saves only.
  package var rounds: Int { extras?.rounds ?? 0 }
  /// The number of exchanges with a server, for a program's own store only.
  package var roundTrips: Int { Int(record.roundTrips) }
  /// What a migration or a step of it did, for events of these two kinds only.
  package var migration: MigrationRecord? { extras?.migration }
  /// The file, for the opening of a store.
  package var path: String? { extras?.path }
  /// The request of a fetch or count, or `nil` if requests weren't recorded.
  package var request: RequestRecord? { extras?.request }
  /// The line of the program, scenario, or shell that caused the event, if it's known.
  package var callSite: CallSite? { shape.origin?.callSite }
  /// The return addresses, innermost first; empty if stacks weren't recorded.
  package var stack: [UInt] {
    record.stack == 0 ? [] : tables.stacks[Int(record.stack) - 1]
  }

  /// The object of a fault or a row-cache look-up.
  package var object: ObjectReference? {
    shape.object.map { ObjectReference($0, primaryKey: record.key) }
  }

  /// The primary key of the object, or `nil` if the event has no object.
  package var primaryKey: Int64? { shape.object == nil ? nil : record.key }

  /// The name of the object's entity or, without an object, the event's entity.
  package var objectEntity: String? { shape.object?.entity ?? shape.entity }

  /// The statement, for statements and for events that record their query.
  package var statement: RecordedStatement? {
    record.statement == nil ? nil : RecordedStatement(event: self)
  }

  /// The entity or the relationship, `Mood` or `Country.moods`; empty if neither is known.
  package var subject: String {
    EventSubject.text(entity: objectEntity, relationship: relationship)
  }
}

/// The statement of a recorded event, with the properties of `StatementRecord`.
package struct RecordedStatement: Sendable {
  fileprivate let event: RecordedEvent

  private var details: EventTables.StatementDetails? {
    event.record.details == 0 ? nil : event.tables.details[Int(event.record.details) - 1]
  }

  /// The purpose, which determines how the statement is counted.
  package var kind: StatementKind { event.record.statement ?? .housekeeping }
  /// The SQL with its placeholders, which identifies the statement.
  package var sql: String { event.tables.shapes[Int(event.record.shape)].sql ?? "" }
  /// The bound values as SQLDebug prints them, or `nil` if they weren't recorded.
  package var binds: [String]? { details?.binds }
  /// The arrays bound as `_Z_intarrayN`, or `nil` if they weren't recorded; of several executions
  /// of a statement from one place, those of the first are.
  package var arrays: [ContiguousArray<Int64>]? { extras?.arrays }
  /// The work that SQLite did, or `nil` if it wasn't recorded.
  package var work: StatementWork? { details?.work }

  private var extras: EventTables.Extras? {
    event.record.extras == 0 ? nil : event.tables.extras[Int(event.record.extras) - 1]
  }

  fileprivate var copy: StatementRecord {
    let rest = extras
    return StatementRecord(
      kind: kind, sql: sql, binds: binds, intArrays: rest?.intArrays ?? 0, arrays: rest?.arrays,
      work: work, found: rest?.found, plan: rest?.plan)
  }
}

extension Event {
  /// Creates a copy of a recorded event that is independent of the recording.
  package init(_ recorded: RecordedEvent) {
    self.init(
      id: recorded.id, parent: recorded.parent, kind: recorded.kind, begin: recorded.begin,
      duration: recorded.duration, thread: recorded.thread)
    setOrigin(recorded.origin)
    entity = recorded.entity
    relationship = recorded.relationship
    object = recorded.object
    source = recorded.source
    rows = recorded.rows
    rounds = recorded.rounds
    roundTrips = recorded.roundTrips
    migration = recorded.migration
    statement = recorded.statement?.copy
    path = recorded.path
    request = recorded.request
    stack = recorded.stack
  }

  /// The entity or the relationship, `Mood` or `Country.moods`; empty if neither is known.
  package var subject: String {
    EventSubject.text(entity: object?.entity ?? entity, relationship: relationship)
  }
}

private enum EventSubject {
  static func text(entity: String?, relationship: String?) -> String {
    guard let relationship else { return entity ?? "" }
    return entity.map { $0.isEmpty ? relationship : "\($0).\(relationship)" } ?? relationship
  }
}
