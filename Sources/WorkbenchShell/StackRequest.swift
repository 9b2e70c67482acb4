import ProfileEvents

/// Asks for call stacks by listening, so that the recorder's events carry them; keeps nothing itself.
final class StackRequest: EventSink {
  let detail = EventDetail.stacks

  func record(_ event: Event) {}
}
