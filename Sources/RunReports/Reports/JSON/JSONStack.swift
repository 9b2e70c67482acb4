import ProfileEvents
import Profiling

/// A call stack in the JSON file; its property names are the file's keys.
struct JSONStack: Codable {
  var kind: EventKind
  var subject: String
  var count: Int
  /// Innermost first.
  var frames: [String]

  init(_ stack: StackShape) {
    kind = stack.kind
    subject = stack.subject
    count = stack.count
    frames = stack.frames
  }

  /// What was written.
  var stack: StackShape {
    StackShape(kind: kind, subject: subject, count: count, frames: frames)
  }
}
