package import ProfileEvents

/// The first events of one kind, and how many there were.
package struct EventSample: Sendable {
  package var kind: EventKind
  /// All of them, shown or not.
  package var count: Int
  /// The first ones, in the order of beginning.
  package var events: [Event]
  /// By the number of an event: the statement it asked for, where it asked for one.
  package var texts: [Int: String]

  package init(kind: EventKind, count: Int, events: [Event], texts: [Int: String] = [:]) {
    self.kind = kind
    self.count = count
    self.events = events
    self.texts = texts
  }
}
