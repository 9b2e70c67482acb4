package import ProfileEvents

/// A call stack that caused events, and how many.
package struct StackShape: Sendable, Equatable {
  /// What it caused: fetches, saves, faults, batch requests.
  package var kind: EventKind
  /// `Mood`, `Country.moods`.
  package var subject: String
  package var count: Int
  /// Functions, innermost first; an address where no name is known.
  package var frames: [String]

  package init(kind: EventKind, subject: String, count: Int, frames: [String]) {
    self.kind = kind
    self.subject = subject
    self.count = count
    self.frames = frames
  }
}
