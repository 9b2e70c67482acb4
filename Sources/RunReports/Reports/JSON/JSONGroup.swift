import ProfileEvents
import Profiling

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
