import ProfileEvents

/// A track of the report's timeline, with the name and the counts of its counterpart in
/// Instruments.
package struct Track: Sendable, Equatable {
  /// The names of Instruments' four tracks, and one for migrations, which Instruments doesn't have.
  package enum Name: String, CaseIterable, Sendable {
    case fetches = "Fetches"
    case saves = "Saves"
    case faults = "Faults"
    case cacheMisses = "Cache Misses"
    case migration = "Migration"
  }

  /// A mark for one event, or for several that are too close to be drawn separately.
  package struct Mark: Sendable, Equatable {
    /// The start, in nanoseconds from the beginning of the recording.
    package var begin: UInt64
    /// The end, in nanoseconds from the beginning of the recording.
    package var end: UInt64
    /// The number of events that the mark represents.
    package var count: Int

    package init(begin: UInt64, end: UInt64, count: Int) {
      self.begin = begin
      self.end = end
      self.count = count
    }
  }

  /// The number of events above which a track shows the event density.
  package static let densityThreshold = 2_000

  package var name: Name
  /// The number of events.
  package var count: Int
  /// The marks in chronological order, without overlaps.
  package var marks: [Mark]

  package init(name: Name, count: Int, marks: [Mark]) {
    self.name = name
    self.count = count
    self.marks = marks
  }

  /// Whether the track shows the event density.
  package var isDensity: Bool { count > Track.densityThreshold }
}

extension Recording {
  /// Returns Instruments' four tracks, where cache misses are also faults, and the track of the
  /// steps of migrations if there are any.
  ///
  /// - Parameter pixels: The number of parts to divide the whole time into. Events closer to each
  ///   other than one part are merged. The default is finer than a report can show.
  package func tracks(pixels: UInt64 = 4_000) -> [Track] {
    let origin = begin
    let end = max(
      steps.map(\.end).max() ?? 0, events.lazy.map { $0.begin + $0.duration }.max() ?? origin)
    let pixel = max(1, (end > origin ? end - origin : 0) / max(1, pixels))
    return Track.Name.allCases.compactMap { name in
      let mine = events.only { $0.belongs(to: name) }.byBegin
      guard name != .migration || !mine.isEmpty else { return nil }
      let marks = mine.lazy.map { event in
        let begin = event.begin > origin ? event.begin - origin : 0
        return Track.Mark(begin: begin, end: begin + event.duration, count: 1)
      }
      return Track(name: name, count: mine.count, marks: Track.merged(marks, pixel: pixel))
    }
  }
}

extension Track {
  /// Merges each mark that begins less than a pixel after the end of the previous mark.
  ///
  /// - Parameters:
  ///   - marks: The marks in the order in which they begin.
  ///   - pixel: The length of a pixel, in nanoseconds.
  package static func merged(_ marks: some Sequence<Mark>, pixel: UInt64) -> [Mark] {
    var result: [Mark] = []
    for mark in marks {
      if let last = result.indices.last, mark.begin < result[last].end + pixel {
        result[last].end = max(result[last].end, mark.end)
        result[last].count += mark.count
      } else {
        result.append(mark)
      }
    }
    return result
  }
}

extension RecordedEvent {
  fileprivate func belongs(to track: Track.Name) -> Bool {
    switch track {
    case .fetches: kind == .fetch
    case .saves: kind == .save
    case .migration: kind == .migrationStep
    case .faults: kind == .objectFault || kind == .relationshipFault
    case .cacheMisses:
      (kind == .objectFault || kind == .relationshipFault) && source == .database
    }
  }
}
