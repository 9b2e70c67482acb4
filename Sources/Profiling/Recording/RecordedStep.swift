package import ProfileEvents

/// Which events of a recording one step caused.
///
/// Steps run one after the other, so a step is a range of event numbers. Two steps written on one
/// line share their call site and are still told apart.
package struct RecordedStep: Sendable, Equatable {
  /// The name given with `as`; nil when there is none.
  package var name: String?
  package var location: CallSite
  /// The step as one shell line.
  package var text: String
  /// The greatest event number before the step began (`Recorder.mark`).
  package var after: Int
  /// The greatest event number when it was over.
  package var through: Int
  /// Nanoseconds of `MonotonicClock`.
  package var begin: UInt64
  /// Nanoseconds of `MonotonicClock`.
  package var end: UInt64
  /// Nanoseconds of processor time that the step's thread had; 0 where nobody looked.
  package var processor: UInt64

  package init(
    name: String?, location: CallSite, text: String, after: Int, through: Int, begin: UInt64,
    end: UInt64, processor: UInt64 = 0
  ) {
    self.name = name
    self.location = location
    self.text = text
    self.after = after
    self.through = through
    self.begin = begin
    self.end = end
    self.processor = processor
  }

  /// Nanoseconds from begin to end.
  package var duration: UInt64 { end > begin ? end - begin : 0 }

  /// Whether the event began inside this step.
  package func contains(_ event: Event) -> Bool {
    event.id > after && event.id <= through
  }
}
