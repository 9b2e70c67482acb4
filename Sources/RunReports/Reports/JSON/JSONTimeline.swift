import ProfileEvents
import RunResults
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

/// The events of a variant in the JSON file; its property names are the file's keys.
struct JSONTimeline: Codable {
  var lanes: [JSONLane]
  var leftOut: Int?

  /// - Parameters:
  ///   - timeline: The events.
  ///   - statements: The variant's statements, whose numbers are written instead of their SQL.
  init(_ timeline: Timeline, statements: [StatementShape]) {
    let numbers = Dictionary(
      statements.map { ($0.sql, $0.number) }, uniquingKeysWith: { first, _ in first })
    lanes = timeline.lanes.map { JSONLane($0, numbers: numbers) }
    leftOut = timeline.leftOut == 0 ? nil : timeline.leftOut
  }

  /// Returns the decoded timeline.
  func timeline(statements: [StatementShape]) -> Timeline {
    let texts = Dictionary(
      statements.map { ($0.number, $0.sql) }, uniquingKeysWith: { first, _ in first })
    return Timeline(lanes: lanes.map { $0.lane(texts: texts) }, leftOut: leftOut ?? 0)
  }
}

/// Events that differ only in time, rows, and object, in the JSON file; its property names are the
/// file's keys.
struct JSONLane: Codable {
  var kind: EventKind
  var context: String?
  var entity: String?
  var relationship: String?
  var source: FaultSource?
  var statement: StatementKind?
  /// The number of the statement, if it's one of the variant's statements.
  var number: Int?
  /// The SQL of the statement, if it has no number.
  var sql: String?
  /// What a migration or a step of it does.
  var purpose: String?
  var location: JSONLocation?
  var store: String?
  /// The events; `15200+900*12#7` started at 15,200 ns, took 900 ns, and read 12 rows.
  ///
  /// Without `*`, the event has one row. The number after `#` is the primary key of its object.
  var spans: JSONMarks<Timeline.Mark>

  init(_ lane: Timeline.Lane, numbers: [String: Int]) {
    kind = lane.kind
    context = lane.context
    entity = lane.entity
    relationship = lane.relationship
    source = lane.source
    statement = lane.statement
    number = lane.sql.flatMap { numbers[$0] }
    sql = number == nil ? lane.sql : nil
    purpose = lane.purpose
    location = lane.callSite.map(JSONLocation.init)
    store = lane.store
    spans = JSONMarks(lane.marks)
  }

  /// Returns the decoded lane.
  func lane(texts: [Int: String]) -> Timeline.Lane {
    var lane = Timeline.Lane(kind: kind)
    lane.context = context
    lane.entity = entity
    lane.relationship = relationship
    lane.source = source
    lane.statement = statement
    lane.sql = sql ?? number.flatMap { texts[$0] }
    lane.purpose = purpose
    lane.callSite = location?.site
    lane.store = store
    lane.marks = spans.marks
    return lane
  }
}

extension Timeline.Mark: JSONMark {
  static let form = "BEGIN+LENGTH*ROWS#KEY"

  /// The event as `15200+900*12#7`; a row count of 1 and a missing key are omitted.
  var word: String {
    "\(begin)+\(duration)" + (rows == 1 ? "" : "*\(rows)") + (key.map { "#\($0)" } ?? "")
  }

  init?(word: Substring) {
    let parts = word.split(separator: "#", omittingEmptySubsequences: false)
    let counted = parts[0].split(separator: "*", omittingEmptySubsequences: false)
    let times = counted[0].split(separator: "+", omittingEmptySubsequences: false)
      .map { UInt64($0) }
    guard parts.count <= 2, counted.count <= 2, times.count == 2, let begin = times[0],
      let duration = times[1], !begin.addingReportingOverflow(duration).overflow,
      let rows = counted.count == 2 ? Int(counted[1]) : 1, rows >= 0
    else { return nil }
    self.init(begin: begin, duration: duration, rows: rows)
    guard parts.count == 2 else { return }
    guard let key = Int64(parts[1]) else { return nil }
    self.key = key
  }
}

/// A track in the JSON file; its property names are the file's keys.
struct JSONTrack: Codable {
  var name: Track.Name
  var count: Int
  /// The marks; `15200+900 16400+880*12` are an event at 15,200 ns that took 900 ns, and 12 events
  /// from 16,400 ns that took 880 ns in total.
  var marks: JSONMarks<Track.Mark>

  init(_ track: Track) {
    name = track.name
    count = track.count
    marks = JSONMarks(track.marks)
  }

  /// The decoded track.
  var track: Track { Track(name: name, count: count, marks: marks.marks) }
}

extension Track.Name: Codable {}

extension Track.Mark: JSONMark {
  static let form = "BEGIN+LENGTH*COUNT"

  /// The mark as `16400+880*12`; a count of 1 is omitted.
  var word: String {
    "\(begin)+\(end - begin)" + (count == 1 ? "" : "*\(count)")
  }

  init?(word: Substring) {
    let parts = word.split(separator: "*", omittingEmptySubsequences: false)
    let times = parts[0].split(separator: "+", omittingEmptySubsequences: false).map { UInt64($0) }
    guard parts.count <= 2, times.count == 2, let begin = times[0], let length = times[1],
      !begin.addingReportingOverflow(length).overflow,
      let count = parts.count == 2 ? Int(parts[1]) : 1, count > 0
    else { return nil }
    self.init(begin: begin, end: begin + length, count: count)
  }
}

/// A value that the JSON file contains as one word of a string.
protocol JSONMark {
  /// The format of a word, for error messages.
  static var form: String { get }
  var word: String { get }
  init?(word: Substring)
}

/// Marks as a string of the JSON file, which is much smaller than an array of objects.
struct JSONMarks<Mark: JSONMark>: Codable {
  var marks: [Mark]

  init(_ marks: [Mark]) {
    self.marks = marks
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    let words = text.split(separator: " ")
    guard words.count <= InputLimits.timelineMarks else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "too many marks; the limit is \(InputLimits.timelineMarks)")
    }
    marks = try words.map { word in
      let numbers = word.prefix { $0 != "#" }.split { !$0.isNumber }
      guard numbers.allSatisfy({ Int($0) ?? .max <= InputLimits.timelineTime }) else {
        throw DecodingError.dataCorruptedError(
          in: container,
          debugDescription: "a number in `\(word)` exceeds the limit, \(InputLimits.timelineTime)")
      }
      guard let mark = Mark(word: word) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "`\(word)` doesn't have the format \(Mark.form)")
      }
      return mark
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(marks.map(\.word).joined(separator: " "))
  }
}

/// A group of similar events of a step in the JSON file; its property names are the file's keys.
struct JSONGroup: Codable {
  var number: Int
  var count: Int
  var word: String
  var subject: String
  var source: FaultSource?
  var sql: String?
  var rows: Int
  var nanoseconds: UInt64
  var location: JSONLocation?
  var firstEvent: Int

  init(_ group: EventGroup) {
    number = group.number
    count = group.count
    word = group.word
    subject = group.subject
    source = group.source
    sql = group.sql
    rows = group.rows
    nanoseconds = group.nanoseconds
    location = group.callSite.map(JSONLocation.init)
    firstEvent = group.firstEvent
  }

  /// The decoded group.
  var group: EventGroup {
    EventGroup(
      number: number, count: count, word: word, subject: subject, source: source, sql: sql,
      rows: rows, nanoseconds: nanoseconds, callSite: location?.site, firstEvent: firstEvent)
  }
}

/// An event in the JSON file; its property names are the file's keys.
struct JSONEvent: Codable {
  var id: Int
  /// The start of the event in nanoseconds, relative to the start of the variant.
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
  /// The SQL of the statement that the event is, or that it ran.
  var sql: String?
  /// The kind of statement that the event is; missing if the event only ran one.
  var statement: StatementKind?
  /// What a migration or a step of it did.
  var migration: MigrationRecord.Work?
  var purpose: String?
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
    migration = event.migration?.work
    purpose = event.migration?.purpose
    location = event.callSite.map(JSONLocation.init)
  }

  /// Returns the decoded event, as far as a report shows it.
  func event(of kind: EventKind) -> Event {
    var event = Event(
      id: id, parent: 0, kind: kind, begin: at, duration: nanoseconds, thread: thread)
    event.context = context
    event.entity = entity
    event.relationship = relationship
    event.object = object.flatMap(ObjectReference.init(uri:))
    event.source = source
    event.rows = rows
    if let migration {
      event.migration = MigrationRecord(work: migration, purpose: purpose ?? "")
    }
    if let statement, let sql { event.statement = StatementRecord(kind: statement, sql: sql) }
    event.callSite = location?.site
    return event
  }
}

/// The first events of one kind in the JSON file; its property names are the file's keys.
struct JSONEvents: Codable {
  var kind: EventKind
  /// The number of all events of the kind, including those that aren't in `first`.
  var count: Int
  var first: [JSONEvent]

  init(_ sample: EventSample, begin: UInt64) {
    kind = sample.kind
    count = sample.count
    first = sample.events.map { JSONEvent($0, begin: begin, text: sample.texts[$0.id]) }
  }

  /// The decoded sample.
  var sample: EventSample {
    EventSample(
      kind: kind, count: count, events: first.map { $0.event(of: kind) },
      texts: first.reduce(into: [:]) { texts, event in
        if event.statement == nil { texts[event.id] = event.sql }
      })
  }
}

extension ObjectReference {
  /// Parses `x-coredata://STORE/Entity/p4`; returns `nil` for any other string.
  fileprivate init?(uri: String) {
    let parts = uri.split(separator: "/")
    guard parts.count == 4, parts[0] == "x-coredata:", let key = Int64(parts[3].dropFirst()) else {
      return nil
    }
    self.init(store: String(parts[1]), entity: String(parts[2]), primaryKey: key)
  }
}
