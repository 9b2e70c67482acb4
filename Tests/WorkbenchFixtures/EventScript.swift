package import ProfileEvents
package import RunResults

/// Records the events of a variant without a store, in the order in which a context emits them.
package final class EventScript {
  package static let moodFetch = CallSite(file: "Scenarios/faults.yml", line: 15)
  package static let touch = CallSite(file: "Scenarios/faults.yml", line: 16)
  package static let countryFetch = CallSite(file: "Scenarios/faults.yml", line: 41)

  package let recorder = Recorder()
  package private(set) var steps: [RecordedStep] = []
  private var lastID = 0
  private var clock: UInt64 = 1_000_000_000
  private var site: CallSite?

  /// The duration of a row of a fetch and of a lookup, in nanoseconds.
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

  /// Records a fetch and its statement, and optionally a prefetch and its statement.
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
      emit(id: inner, parent: id, .prefetch, begin: start) { event in
        event.entity = entity
        event.relationship = prefetch.name
        event.rows = prefetch.rows
      }
    }
    emit(id: id, parent: 0, .fetch, begin: begin) { event in
      event.entity = entity
      event.rows = rows
    }
  }

  /// Records the loading of a batch of a batched fetch.
  package func batchLoad(_ entity: String, sql: String, rows: Int) {
    let id = nextID()
    let begin = clock
    statement(sql, entity: entity, rows: rows, parent: id, time: UInt64(rows) * rowTime)
    emit(id: id, parent: 0, .batchLoad, begin: begin) { event in
      event.entity = entity
      event.rows = rows
    }
  }

  /// Records an object fault that is fulfilled from the database, or without SQL from the row
  /// cache.
  package func fault(_ entity: String, key: Int, sql: String? = nil) {
    let id = nextID()
    let begin = clock
    if let sql {
      statement(sql, entity: entity, rows: 1, parent: id, time: lookupTime)
    } else {
      clock += 500
    }
    emit(id: id, parent: 0, .objectFault, begin: begin) { event in
      event.entity = entity
      event.object = ObjectReference(store: "S", entity: entity, primaryKey: Int64(key))
      event.source = sql == nil ? .rowCache : .database
      event.rows = 1
    }
  }

  /// Records the fault of a to-many relationship.
  package func relationshipFault(
    _ entity: String, _ name: String, key: Int, rows: Int, sql: String?
  ) {
    let id = nextID()
    let begin = clock
    if let sql { statement(sql, entity: entity, rows: rows, parent: id, time: lookupTime) }
    emit(id: id, parent: 0, .relationshipFault, begin: begin) { event in
      event.entity = entity
      event.relationship = name
      event.object = ObjectReference(store: "S", entity: entity, primaryKey: Int64(key))
      event.source = sql == nil ? .rowCache : .database
      event.rows = rows
    }
  }

  /// Records a save of a number of objects with one statement.
  package func save(_ entity: String, sql: String, rows: Int) {
    let id = nextID()
    let begin = clock
    statement(sql, entity: entity, rows: 1, parent: id, time: lookupTime, kind: .update)
    emit(id: id, parent: 0, .save, begin: begin) { event in event.rows = rows }
  }

  package func statement(
    _ sql: String, entity: String, rows: Int, parent: Int, time: UInt64,
    kind: StatementKind = .select
  ) {
    let id = nextID()
    let begin = clock
    clock += time
    emit(id: id, parent: parent, .statement, begin: begin) { event in
      event.entity = entity
      event.rows = rows
      event.statement = StatementRecord(kind: kind, sql: sql)
    }
  }

  private func nextID() -> Int {
    lastID += 1
    return lastID
  }

  private func emit(
    id: Int, parent: Int, _ kind: EventKind, begin: UInt64, _ configure: (inout Event) -> Void
  ) {
    clock += 100
    var event = Event(
      id: id, parent: parent, kind: kind, begin: begin, duration: clock - begin, thread: 1)
    event.callSite = site
    configure(&event)
    recorder.record(event)
  }
}
