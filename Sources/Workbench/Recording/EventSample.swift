package import ProfileEvents

/// The first events of one kind, and how many there were.
package struct EventSample: Sendable {
  package var kind: EventKind
  /// All of them, shown or not.
  package var count: Int
  /// The first ones, in the order of beginning.
  package var events: [Event]

  package init(kind: EventKind, count: Int, events: [Event]) {
    self.kind = kind
    self.count = count
    self.events = events
  }
}
