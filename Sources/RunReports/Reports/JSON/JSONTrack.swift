import ProfileEvents
import Profiling

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
