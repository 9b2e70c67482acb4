import ProfileEvents
import Profiling
import StatementAnalysis

/// Every event of a variant in the JSON file; its property names are the file's keys.
struct JSONTimeline: Codable {
  var lanes: [JSONLane]
  var leftOut: Int?

  /// - Parameter statements: the variant's, whose numbers stand for their texts.
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
