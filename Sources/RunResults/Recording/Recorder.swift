package import ProfileEvents
package import ScenarioLanguage
import Synchronization

/// An event sink that keeps all events in memory.
///
/// Recording an event takes a lock and appends to tables. Events aren't sorted, counted, or
/// formatted while the measured work runs. You can use a recorder on any thread.
package final class Recorder: EventSink {
  package let detail: EventDetail
  private let state = Mutex(State())

  private struct State {
    var collector = EventCollector()
    var mark = 0
  }

  /// Creates an empty recorder.
  ///
  /// - Parameter detail: The details to record, which cost extra. Bound values can be private data,
  ///   so they're recorded only on request.
  package init(detail: EventDetail = []) {
    self.detail = detail
  }

  /// Records a completed event.
  package func record(_ event: Event) {
    state.withLock { state in
      state.collector.append(event)
      state.mark = max(state.mark, event.id)
    }
  }

  /// The greatest event number so far, or 0 if there are no events.
  ///
  /// To get the range of a step's events, read it before and after the step.
  package var mark: Int {
    state.withLock { $0.mark }
  }

  /// Returns a recording of all events so far, which the recorder also keeps.
  ///
  /// **Cost:** four bytes and two passes for each event; the events themselves are shared.
  package func recording(
    steps: [RecordedStep] = [], gauges: [ScopedMetric: Int] = [:]
  ) -> Recording {
    Recording(
      events: RecordedEvents(state.withLock { $0.collector.tables }), steps: steps,
      gauges: gauges)
  }

  /// Returns a recording of the events of one step.
  ///
  /// **Cost:** linear in the number of the step's events, regardless of the number of earlier
  /// events.
  package func recording(
    of step: RecordedStep, gauges: [ScopedMetric: Int] = [:]
  ) -> Recording {
    let tables = state.withLock { $0.collector.tables }
    // Events are in the order of their ends, so those that ended before the step began come first.
    let first = tables.records.lastIndex { $0.begin + $0.duration < step.begin }.map { $0 + 1 }
    return Recording(
      events: RecordedEvents(
        tables, from: first ?? 0, after: step.after, through: step.through),
      steps: [step], gauges: gauges)
  }
}
