package import ProfileEvents
package import Profiling

/// Plays the events of a scenario's variant without a store, in the order a context tells them.
package final class EventScript {
  package static let mood = CallSite(file: "Scenarios/faults.yml", line: 15)
  package static let touch = CallSite(file: "Scenarios/faults.yml", line: 16)
  package static let held = CallSite(file: "Scenarios/faults.yml", line: 41)

  package let recorder = Recorder()
  package private(set) var steps: [RecordedStep] = []
  private var lastID = 0
  private var clock: UInt64 = 1_000_000_000
  private var site: CallSite?

  /// The nanoseconds one row of a fetch takes, and one look-up.
  private let rowTime: UInt64 = 1_600
  private let lookupTime: UInt64 = 9_100

  package init() {}

  package func step(_ text: String, name: String? = nil, at site: CallSite, _ body: () -> Void) {
    let after = recorder.mark
    let begin = clock
    self.site = site
    body()
    clock += 40_000
    steps.append(
      RecordedStep(
        name: name, location: site, text: text, after: after, through: recorder.mark,
        begin: begin, end: clock))
  }

  /// A fetch with its statement; `prefetch` adds one with a statement of its own.
  package func fetch(
    _ entity: String, sql: String, rows: Int,
    prefetch: (name: String, sql: String, rows: Int)? = nil
  ) {
    let id = nextID()
    let begin = clock
    statement(sql, entity: entity, rows: rows, parent: id, time: UInt64(rows) * rowTime)
    if let prefetch {
      let inner = nextID()
      let start = clock
      statement(
        prefetch.sql, entity: prefetch.name, rows: prefetch.rows, parent: inner,
        time: UInt64(prefetch.rows) * rowTime)
      tell(id: inner, parent: id, .prefetch, begin: start) { event in
        event.entity = entity
        event.relationship = prefetch.name
        event.rows = prefetch.rows
      }
    }
    tell(id: id, parent: 0, .fetch, begin: begin) { event in
      event.entity = entity
      event.rows = rows
    }
  }

  /// A page of a batched fetch.
  package func page(_ entity: String, sql: String, rows: Int) {
    let id = nextID()
    let begin = clock
    statement(sql, entity: entity, rows: rows, parent: id, time: UInt64(rows) * rowTime)
    tell(id: id, parent: 0, .batchLoad, begin: begin) { event in
      event.entity = entity
      event.rows = rows
    }
  }

  /// A fault; with SQL it comes from the database, without from the row cache.
  package func fault(_ entity: String, key: Int, sql: String? = nil) {
    let id = nextID()
    let begin = clock
    if let sql {
      statement(sql, entity: entity, rows: 1, parent: id, time: lookupTime)
    } else {
      clock += 500
    }
    tell(id: id, parent: 0, .objectFault, begin: begin) { event in
      event.entity = entity
      event.object = ObjectReference(store: "S", entity: entity, primaryKey: Int64(key))
      event.source = sql == nil ? .rowCache : .database
      event.rows = 1
    }
  }

  /// A to-many relationship's fault.
  package func relationshipFault(
    _ entity: String, _ name: String, key: Int, rows: Int, sql: String?
  ) {
    let id = nextID()
    let begin = clock
    if let sql { statement(sql, entity: entity, rows: rows, parent: id, time: lookupTime) }
    tell(id: id, parent: 0, .relationshipFault, begin: begin) { event in
      event.entity = entity
      event.relationship = name
      event.object = ObjectReference(store: "S", entity: entity, primaryKey: Int64(key))
      event.source = sql == nil ? .rowCache : .database
      event.rows = rows
    }
  }

  /// A save of so many objects with one statement.
  package func save(_ entity: String, sql: String, rows: Int) {
    let id = nextID()
    let begin = clock
    statement(sql, entity: entity, rows: 1, parent: id, time: lookupTime, kind: .update)
    tell(id: id, parent: 0, .save, begin: begin) { event in event.rows = rows }
  }

  package func statement(
    _ sql: String, entity: String, rows: Int, parent: Int, time: UInt64,
    kind: StatementKind = .select
  ) {
    let id = nextID()
    let begin = clock
    clock += time
    tell(id: id, parent: parent, .statement, begin: begin) { event in
      event.entity = entity
      event.rows = rows
      event.statement = StatementRecord(kind: kind, sql: sql)
    }
  }

  private func nextID() -> Int {
    lastID += 1
    return lastID
  }

  private func tell(
    id: Int, parent: Int, _ kind: EventKind, begin: UInt64, _ fill: (inout Event) -> Void
  ) {
    clock += 100
    var event = Event(
      id: id, parent: parent, kind: kind, begin: begin, duration: clock - begin, thread: 1)
    event.callSite = site
    fill(&event)
    recorder.record(event)
  }
}
