/// One row of the report's time axis, named and counted as Instruments does.
package struct Track: Sendable, Equatable {
  /// Instruments' four.
  package enum Name: String, CaseIterable, Sendable {
    case fetches = "Fetches"
    case saves = "Saves"
    case faults = "Faults"
    case cacheMisses = "Cache Misses"
  }

  /// Events too close to be told apart, drawn as one.
  package struct Mark: Sendable, Equatable {
    /// Nanoseconds from the beginning of the recording.
    package var begin: UInt64
    /// Nanoseconds from the beginning of the recording.
    package var end: UInt64
    /// How many events it stands for.
    package var count: Int

    package init(begin: UInt64, end: UInt64, count: Int) {
      self.begin = begin
      self.end = end
      self.count = count
    }
  }

  /// From this many events on a track is drawn as a density strip, which says so.
  package static let densityThreshold = 2_000

  package var name: Name
  /// Events, before any were merged.
  package var count: Int
  /// In the order of time, not overlapping.
  package var marks: [Mark]

  package init(name: Name, count: Int, marks: [Mark]) {
    self.name = name
    self.count = count
    self.marks = marks
  }

  /// Whether it is drawn as a density strip.
  package var isDensity: Bool { count > Track.densityThreshold }
}
