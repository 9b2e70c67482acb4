package import ProfileEvents
package import ScenarioLanguage
import Synchronization

/// Keeps every event in memory.
///
/// Adding one takes a lock and appends; nothing is sorted, counted or formatted while the measured
/// work runs. Call it from any thread.
package final class Recorder: EventSink {
  package let detail: EventDetail
  private let state = Mutex(State())

  private struct State {
    var events: [Event] = []
    var mark = 0
  }

  /// Makes an empty recorder.
  ///
  /// - Parameter detail: What costs extra to collect; binds may be private and are left out unless
  ///   asked for.
  package init(detail: EventDetail = []) {
    self.detail = detail
  }

  /// Keeps one event that is over.
  package func record(_ event: Event) {
    state.withLock { state in
      state.events.append(event)
      state.mark = max(state.mark, event.id)
    }
  }

  /// The greatest event number heard of so far; 0 before the first.
  ///
  /// Read it before and after a step: what lies between is the step's.
  package var mark: Int {
    state.withLock { $0.mark }
  }

  /// What was recorded so far; the recorder keeps it.
  package func recording(
    steps: [RecordedStep] = [], gauges: [ScopedMetric: Int] = [:]
  ) -> Recording {
    Recording(events: state.withLock { $0.events }, steps: steps, gauges: gauges)
  }

  /// What one step caused, with that step alone.
  ///
  /// Costs a look at the step's own events, however many came before them.
  package func recording(
    of step: RecordedStep, gauges: [ScopedMetric: Int] = [:]
  ) -> Recording {
    let mine = state.withLock { state in
      // Events come in the order of their ends: what ended before the step began lies further back.
      let first = state.events.lastIndex { $0.begin + $0.duration < step.begin }.map { $0 + 1 } ?? 0
      return state.events[first...].filter(step.contains)
    }
    return Recording(events: mine, steps: [step], gauges: gauges)
  }
}
