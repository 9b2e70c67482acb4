import ProfileEvents

/// One row of the report's time axis, named and counted as Instruments does.
package struct Track: Sendable, Equatable {
  /// Instruments' four.
  package enum Name: String, CaseIterable, Sendable {
    case fetches = "Fetches"
    case saves = "Saves"
    case faults = "Faults"
    case cacheMisses = "Cache Misses"
  }

  /// Events too close to be drawn separately, drawn as one.
  package struct Mark: Sendable, Equatable {
    /// Nanoseconds from the beginning of the recording.
    package var begin: UInt64
    /// Nanoseconds from the beginning of the recording.
    package var end: UInt64
    /// How many events it represents.
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

extension Recording {
  /// Instruments' four tracks; cache misses are part of the faults, as there.
  ///
  /// - Parameter pixels: Events closer to each other than this part of the whole time are merged;
  ///   the default is finer than any page shows them.
  package func tracks(pixels: UInt64 = 4_000) -> [Track] {
    let origin = begin
    let end = max(
      steps.map(\.end).max() ?? 0, events.map { $0.begin + $0.duration }.max() ?? origin)
    let pixel = max(1, (end > origin ? end - origin : 0) / max(1, pixels))
    return Track.Name.allCases.map { name in
      let mine = events.filter { $0.belongs(to: name) }.sorted { $0.begin < $1.begin }
      let marks = mine.map { event in
        let begin = event.begin > origin ? event.begin - origin : 0
        return Track.Mark(begin: begin, end: begin + event.duration, count: 1)
      }
      return Track(name: name, count: mine.count, marks: Track.merged(marks, pixel: pixel))
    }
  }
}

extension Track {
  /// Marks that begin less than a pixel after the one before them has ended, made one.
  ///
  /// - Parameter marks: In the order of beginning.
  package static func merged(_ marks: [Mark], pixel: UInt64) -> [Mark] {
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

extension Event {
  fileprivate func belongs(to track: Track.Name) -> Bool {
    switch track {
    case .fetches: kind == .fetch
    case .saves: kind == .save
    case .faults: kind == .objectFault || kind == .relationshipFault
    case .cacheMisses:
      (kind == .objectFault || kind == .relationshipFault) && source == .database
    }
  }
}
