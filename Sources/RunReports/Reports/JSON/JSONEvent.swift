import ProfileEvents
import Profiling

/// One event in the JSON file; its property names are the file's keys.
struct JSONEvent: Codable {
  var id: Int
  /// Nanoseconds from the beginning of the variant.
  var at: UInt64
  var nanoseconds: UInt64
  var thread: UInt64
  var context: String?
  var entity: String?
  var relationship: String?
  /// The URI of the object: `x-coredata://STORE/Entity/p4`.
  var object: String?
  var source: FaultSource?
  var rows: Int
  /// The statement it is, or the one it asked for.
  var sql: String?
  /// What kind of statement it is; missing when it only asked for one.
  var statement: StatementKind?
  var location: JSONLocation?

  init(_ event: Event, begin: UInt64, text: String?) {
    id = event.id
    at = event.begin > begin ? event.begin - begin : 0
    nanoseconds = event.duration
    thread = event.thread
    context = event.context
    entity = event.entity
    relationship = event.relationship
    object = event.object?.uri
    source = event.source
    rows = event.rows
    sql = event.statement?.sql ?? text
    statement = event.statement?.kind
    location = event.callSite.map(JSONLocation.init)
  }

  /// What was written, as far as a report tells it.
  func event(of kind: EventKind) -> Event {
    var event = Event(
      id: id, parent: 0, kind: kind, begin: at, duration: nanoseconds, thread: thread)
    event.context = context
    event.entity = entity
    event.relationship = relationship
    event.object = object.flatMap(ObjectReference.init(uri:))
    event.source = source
    event.rows = rows
    if let statement, let sql { event.statement = StatementRecord(kind: statement, sql: sql) }
    event.callSite = location?.site
    return event
  }
}

/// The first events of one kind in the JSON file; its property names are the file's keys.
struct JSONEvents: Codable {
  var kind: EventKind
  /// All of them, written here or not.
  var count: Int
  var first: [JSONEvent]

  init(_ sample: EventSample, begin: UInt64) {
    kind = sample.kind
    count = sample.count
    first = sample.events.map { JSONEvent($0, begin: begin, text: sample.texts[$0.id]) }
  }

  /// What was written.
  var sample: EventSample {
    EventSample(
      kind: kind, count: count, events: first.map { $0.event(of: kind) },
      texts: first.reduce(into: [:]) { texts, event in
        if event.statement == nil { texts[event.id] = event.sql }
      })
  }
}

extension ObjectReference {
  /// Reads `x-coredata://STORE/Entity/p4`; nil for another text.
  fileprivate init?(uri: String) {
    let parts = uri.split(separator: "/")
    guard parts.count == 4, parts[0] == "x-coredata:", let key = Int64(parts[3].dropFirst()) else {
      return nil
    }
    self.init(store: String(parts[1]), entity: String(parts[2]), primaryKey: key)
  }
}
