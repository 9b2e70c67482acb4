import ProfileEvents
import Profiling
import ScenarioLanguage
import StatementAnalysis

/// Every event of a variant in the JSON file; its property names are the file's keys.
struct JSONTimeline: Codable {
  var lanes: [JSONLane]
  var leftOut: Int?

  /// - Parameter statements: the variant's, whose numbers refer to their texts.
  init(_ timeline: Timeline, statements: [StatementShape]) {
    let numbers = Dictionary(
      statements.map { ($0.sql, $0.number) }, uniquingKeysWith: { first, _ in first })
    lanes = timeline.lanes.map { JSONLane($0, numbers: numbers) }
    leftOut = timeline.leftOut == 0 ? nil : timeline.leftOut
  }

  /// What was written.
  func timeline(statements: [StatementShape]) -> Timeline {
    let texts = Dictionary(
      statements.map { ($0.number, $0.sql) }, uniquingKeysWith: { first, _ in first })
    return Timeline(lanes: lanes.map { $0.lane(texts: texts) }, leftOut: leftOut ?? 0)
  }
}

/// Events that differ in nothing but time, rows and object, in the JSON file; its property names are the
/// file's keys.
struct JSONLane: Codable {
  var kind: EventKind
  var context: String?
  var entity: String?
  var relationship: String?
  var source: FaultSource?
  var statement: StatementKind?
  /// The number of the statement's shape, where it has one.
  var number: Int?
  /// The statement's text, where it has no number.
  var sql: String?
  var location: JSONLocation?
  var store: String?
  /// `15200+900*12` began at 15,200 ns, took 900 ns and had 12 rows; without `*` one; `#7` behind it is
  /// the key of its object.
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
    location = lane.callSite.map(JSONLocation.init)
    store = lane.store
    spans = JSONMarks(lane.marks)
  }

  /// What was written.
  func lane(texts: [Int: String]) -> Timeline.Lane {
    var lane = Timeline.Lane(kind: kind)
    lane.context = context
    lane.entity = entity
    lane.relationship = relationship
    lane.source = source
    lane.statement = statement
    lane.sql = sql ?? number.flatMap { texts[$0] }
    lane.callSite = location?.site
    lane.store = store
    lane.marks = spans.marks
    return lane
  }
}

extension Timeline.Mark: JSONMark {
  static let form = "BEGIN+LENGTH*ROWS#KEY"

  /// `15200+900*12#7`; rows are left out where they are 1, the key where there is none.
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

/// One track in the JSON file; its property names are the file's keys.
struct JSONTrack: Codable {
  var name: Track.Name
  var count: Int
  /// `15200+900 16400+880*12` are one event at 15,200 ns that took 900 ns, and 12 from 16,400 ns on that
  /// together took 880.
  var marks: JSONMarks<Track.Mark>

  init(_ track: Track) {
    name = track.name
    count = track.count
    marks = JSONMarks(track.marks)
  }

  /// What was written.
  var track: Track { Track(name: name, count: count, marks: marks.marks) }
}

extension Track.Name: Codable {}

extension Track.Mark: JSONMark {
  static let form = "BEGIN+LENGTH*COUNT"

  /// `16400+880*12`; the count is left out where it is 1.
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

/// What the JSON file writes as one word among many.
protocol JSONMark {
  /// How a word is made, for the error of one that is not.
  static var form: String { get }
  var word: String { get }
  init?(word: Substring)
}

/// Marks of the JSON file as one text, which takes a fraction of what an object for each would.
struct JSONMarks<Mark: JSONMark>: Codable {
  var marks: [Mark]

  // Whoever adds up what marks say needs no checks.
  private static var most: Int { 500_000 }
  /// Three hours in nanoseconds.
  private static var greatest: Int { 10_000_000_000_000 }

  init(_ marks: [Mark]) {
    self.marks = marks
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    let words = text.split(separator: " ")
    guard words.count <= JSONMarks.most else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "there are more than \(JSONMarks.most) marks, the limit")
    }
    marks = try words.map { word in
      let numbers = word.prefix { $0 != "#" }.split { !$0.isNumber }
      guard numbers.allSatisfy({ Int($0) ?? .max <= JSONMarks.greatest }) else {
        throw DecodingError.dataCorruptedError(
          in: container,
          debugDescription: "a number of `\(word)` is beyond the limit, \(JSONMarks.greatest)")
      }
      guard let mark = Mark(word: word) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "`\(word)` isn't a \(Mark.form)")
      }
      return mark
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(marks.map(\.word).joined(separator: " "))
  }
}

/// Alike events of a step in the JSON file; its property names are the file's keys.
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

  /// What was written.
  var group: EventGroup {
    EventGroup(
      number: number, count: count, word: word, subject: subject, source: source, sql: sql,
      rows: rows, nanoseconds: nanoseconds, callSite: location?.site, firstEvent: firstEvent)
  }
}

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

  /// What was written, as far as a report shows it.
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
