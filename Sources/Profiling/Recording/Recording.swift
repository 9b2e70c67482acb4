package import ProfileEvents
package import ScenarioLanguage

/// Events that happened, in the order in which they began, with the steps that caused them.
///
/// A plain value: take it, slice it, count it on any thread.
package struct Recording: Sendable {
  /// Sorted by number, so a parent stands before what happened inside of it.
  package let events: [Event]
  package let steps: [RecordedStep]
  /// `registered` and `peak`, which no event carries; read from the context by whoever records.
  package let gauges: [ScopedMetric: Int]

  package init(
    events: [Event] = [], steps: [RecordedStep] = [], gauges: [ScopedMetric: Int] = [:]
  ) {
    self.events = events.sorted { $0.id < $1.id }
    self.steps = steps
    self.gauges = gauges
  }

  /// The part that one step caused, with this step alone.
  ///
  /// Gauges stay: they are of the moment.
  package func slice(of step: RecordedStep) -> Recording {
    let part = slice(after: step.after, through: step.through)
    return Recording(sorted: part.events, steps: [step], gauges: gauges)
  }

  /// The events numbered `after + 1 ... through`, and the steps that lie wholly among them.
  package func slice(after: Int, through: Int) -> Recording {
    let first = firstIndex(where: after + 1)
    let end = firstIndex(where: through + 1)
    let inside = steps.filter { $0.after >= after && $0.through <= through }
    return Recording(sorted: Array(events[first..<max(first, end)]), steps: inside, gauges: gauges)
  }

  /// The event of this number; nil when it is not part of the recording.
  package func event(_ id: Int) -> Event? {
    let index = firstIndex(where: id)
    return index < events.count && events[index].id == id ? events[index] : nil
  }

  /// Nanoseconds of `MonotonicClock` at which the first step, or else the first event, began.
  package var begin: UInt64 {
    steps.map(\.begin).min() ?? events.map(\.begin).min() ?? 0
  }

  private init(sorted events: [Event], steps: [RecordedStep], gauges: [ScopedMetric: Int]) {
    self.events = events
    self.steps = steps
    self.gauges = gauges
  }

  /// The index of the first event whose number is at least `id`.
  private func firstIndex(where id: Int) -> Int {
    var low = 0
    var high = events.count
    while low < high {
      let middle = (low + high) / 2
      if events[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
