package import ProfileEvents
package import ScenarioLanguage
package import StatementAnalysis
import Synchronization

/// Recorded events in the order in which they began, with the steps that caused them.
///
/// A recording is an immutable value that can be used on any thread.
package struct Recording: Sendable {
  /// The events, sorted by number, so that a parent precedes its children.
  package let events: [Event]
  package let steps: [RecordedStep]
  /// The values of metrics that events don't contain, such as `registered` and `peak`.
  package let gauges: [ScopedMetric: Int]

  package init(
    events: [Event] = [], steps: [RecordedStep] = [], gauges: [ScopedMetric: Int] = [:]
  ) {
    self.events = events.sorted { $0.id < $1.id }
    self.steps = steps
    self.gauges = gauges
  }

  /// Returns the part of the recording that contains only one step and its events.
  ///
  /// The gauges aren't sliced, because they're the values at the time of recording.
  package func slice(of step: RecordedStep) -> Recording {
    let part = slice(after: step.after, through: step.through)
    return Recording(sorted: part.events, steps: [step], gauges: gauges)
  }

  /// Returns the events with the numbers `after + 1 ... through`, and the steps completely within
  /// that range.
  package func slice(after: Int, through: Int) -> Recording {
    let first = firstIndex(where: after + 1)
    let end = firstIndex(where: through + 1)
    let inside = steps.filter { $0.after >= after && $0.through <= through }
    return Recording(sorted: Array(events[first..<max(first, end)]), steps: inside, gauges: gauges)
  }

  /// Returns the event with a number, or `nil` if it isn't part of the recording.
  package func event(_ id: Int) -> Event? {
    let index = firstIndex(where: id)
    return index < events.count && events[index].id == id ? events[index] : nil
  }

  /// The time of `MonotonicClock`, in nanoseconds, at which the first step began, or the first
  /// event if there are no steps.
  package var begin: UInt64 {
    steps.map(\.begin).min() ?? events.map(\.begin).min() ?? 0
  }

  private init(sorted events: [Event], steps: [RecordedStep], gauges: [ScopedMetric: Int]) {
    self.events = events
    self.steps = steps
    self.gauges = gauges
  }

  /// Returns the index of the first event whose number is at least `id`.
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

extension Recording {
  /// Returns the value of a metric within a scope; a gauge without a value is 0.
  ///
  /// `time` is the sum of the steps' durations or, without steps, the time from the beginning of
  /// the first event to the end of the last. Cost: one pass over the events.
  package func value(of metric: Metric, scope: MetricScope = .all) -> Int {
    switch metric {
    case .registered, .peak, .filepages, .walpages, .freepages:
      gauges[ScopedMetric(metric, scope)] ?? 0
    case .time: Int(clamping: nanoseconds(in: scope))
    default: events(in: scope).reduce(0) { $0 + $1.amount(of: metric, scope: scope) }
    }
  }

  /// Returns the value of a scoped metric.
  package func value(of scoped: ScopedMetric) -> Int {
    value(of: scoped.metric, scope: scoped.scope)
  }

  /// The values of all metrics except `time` and those of pages, for the whole recording.
  ///
  /// Those of migrations are included only if a store was migrated.
  package var metrics: [Metric: Int] {
    var metrics: [Metric: Int] = [:]
    let isMigrating = events.contains { $0.kind == .migration }
    for metric in Metric.allCases
    where metric != .time && !metric.isOfPages && (isMigrating || !metric.isOfMigration) {
      metrics[metric] = value(of: metric)
    }
    return metrics
  }

  /// The totals of the events, with the same fields as the always-on counters.
  package var counters: Counters {
    events.reduce(into: Counters()) { $0.count($1) }
  }

  /// The counts and the time of the whole recording.
  package var costs: Costs {
    Costs(counters: counters, nanoseconds: nanoseconds)
  }

  /// The duration of all steps, or the time span of the events if there are no steps.
  package var nanoseconds: UInt64 { nanoseconds(in: .all) }

  private func nanoseconds(in scope: MetricScope) -> UInt64 {
    let wanted = steps.filter { scope == .all || $0.name.map(MetricScope.step) == scope }
    if !wanted.isEmpty || !steps.isEmpty { return wanted.reduce(0) { $0 + $1.duration } }
    guard let end = events.map({ $0.begin + $0.duration }).max() else { return 0 }
    return end - begin
  }

  private func events(in scope: MetricScope) -> [Event] {
    guard case .step(let name) = scope else { return events }
    return steps.filter { $0.name == name }.flatMap { slice(of: $0).events }
  }
}

extension Event {
  /// Returns the event's contribution to a metric within a scope, which isn't a step.
  fileprivate func amount(of metric: Metric, scope: MetricScope) -> Int {
    switch scope {
    case .all, .step: break
    case .context(let name):
      guard context == name else { return 0 }
    case .entity(let name):
      guard kind != .relationshipFault, (object?.entity ?? entity) == name else { return 0 }
    case .relationship(let entity, let name):
      guard kind == .relationshipFault || kind == .prefetch, self.relationship == name,
        self.entity == entity || object?.entity == entity
      else { return 0 }
    }
    switch metric {
    case .scanned: return work?.fullScanSteps ?? 0
    case .sorts: return work?.sorts ?? 0
    case .calls: return work.map { $0.functionCalls + $0.collationCalls } ?? 0
    case .vmsteps: return work?.vmSteps ?? 0
    case .pageins: return work?.pagesRead ?? 0
    // Most pages are written when a transaction ends, so its statements count too.
    case .pageouts: return statement?.work?.pagesWritten ?? 0
    case _ where metric.isOfMigration: return migrationAmount(of: metric)
    default: break
    }
    var counters = Counters()
    counters.count(self)
    return counters[metric] ?? 0
  }

  /// Returns the contribution of a migration or a step of it to a metric of migrations.
  private func migrationAmount(of metric: Metric) -> Int {
    guard let work = migration?.work else { return 0 }
    switch (metric, work) {
    case (.migrations, .inferred), (.migrations, .mapped), (.ddl, .schema), (.ddl, .addColumn),
      (.ddl, .createIndex), (.dml, .copyTable), (.dml, .changeRows), (.dml, .housekeeping),
      (.copiedtables, .copyTable), (.addedcolumns, .addColumn), (.createdindexes, .createIndex):
      return 1
    case (.migratedrows, .copyTable), (.migratedrows, .changeRows), (.migratedrows, .instances),
      (.migratedrows, .relationships), (.migratedrows, .validation), (.instances, .instances):
      return rows
    default: return 0
    }
  }

  /// The work of SQLite for a counted statement, or `nil` for transactions, housekeeping, and
  /// events of other kinds.
  private var work: StatementWork? {
    switch statement?.kind {
    case .select, .insert, .update, .delete: statement?.work
    case .transaction, .housekeeping, nil: nil
    }
  }
}

extension Recording {
  /// Returns the first events and the total number of events of each kind, in the order of the
  /// kinds.
  ///
  /// Row-cache events, which duplicate fault events, aren't included, and neither are statements
  /// that the counters omit.
  package func samples(limit: Int = 200) -> [EventSample] {
    let texts = statementTexts()
    return EventKind.allCases.compactMap { kind in
      guard kind != .rowCacheHit, kind != .rowCacheMiss else { return nil }
      let mine = events.filter { event in
        event.kind == kind && (kind != .statement || event.statement?.isCounted == true)
      }
      guard !mine.isEmpty else { return nil }
      let shown = Array(mine.prefix(limit))
      return EventSample(
        kind: kind, count: mine.count, events: shown,
        texts: shown.reduce(into: [:]) { $0[$1.id] = texts[$1.id] })
    }
  }
}

/// The first events of one kind, and the total number.
package struct EventSample: Sendable {
  package var kind: EventKind
  /// The total number of events of this kind.
  package var count: Int
  /// The first events, in the order in which they began.
  package var events: [Event]
  /// The SQL of the first statement that an event ran, by event number.
  package var texts: [Int: String]

  package init(kind: EventKind, count: Int, events: [Event], texts: [Int: String] = [:]) {
    self.kind = kind
    self.count = count
    self.events = events
    self.texts = texts
  }
}

/// A step that ran, and the range of events that it caused.
///
/// Steps run one after another, so each has a contiguous range of event numbers. Two steps on one
/// line have the same call site but different ranges.
package struct RecordedStep: Sendable, Equatable {
  /// The name given with `as`, or `nil` if there's none.
  package var name: String?
  package var location: CallSite
  /// The step as one shell line.
  package var text: String
  /// The greatest event number before the step began (`Recorder.mark`).
  package var after: Int
  /// The greatest event number when the step ended.
  package var through: Int
  /// The start time of `MonotonicClock`, in nanoseconds.
  package var begin: UInt64
  /// The end time of `MonotonicClock`, in nanoseconds.
  package var end: UInt64
  /// The processor time of the step's thread, in nanoseconds; 0 if it wasn't measured.
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

  /// The duration, in nanoseconds.
  package var duration: UInt64 { end > begin ? end - begin : 0 }

  /// Returns whether an event began during the step.
  package func contains(_ event: Event) -> Bool {
    event.id > after && event.id <= through
  }
}

extension Recording {
  /// The distinct statements with the totals of their executions, in the order of first execution.
  ///
  /// As in the counters, housekeeping and `BEGIN`/`COMMIT` aren't included.
  package var statementShapes: [StatementShape] {
    var shapes: [StatementShape] = []
    var positions: [String: Int] = [:]
    for event in events {
      guard let statement = event.statement, event.kind == .statement, statement.isCounted else {
        continue
      }
      if let position = positions[statement.sql] {
        shapes[position].count += 1
        shapes[position].rows += event.rows
        shapes[position].nanoseconds += event.duration
        if let work = statement.work {
          shapes[position].work = (shapes[position].work ?? .init()) + work
        }
      } else {
        positions[statement.sql] = shapes.count
        shapes.append(
          StatementShape(
            number: shapes.count + 1, kind: statement.kind, sql: statement.sql,
            entity: event.entity, count: 1, rows: event.rows, nanoseconds: event.duration,
            firstCallSite: event.callSite))
        shapes[shapes.count - 1].work = statement.work
        shapes[shapes.count - 1].binds = statement.binds
      }
    }
    return shapes
  }

  /// Returns the SQL of the first statement of each fetch, fault, prefetch, and batch, by event
  /// number.
  func statementTexts() -> [Int: String] {
    var texts: [Int: String] = [:]
    for event in events where event.kind == .statement {
      guard let statement = event.statement, statement.isCounted,
        let owner = owner(of: event), texts[owner.id] == nil
      else { continue }
      texts[owner.id] = statement.sql
    }
    return texts
  }

  /// Returns the event that ran a statement, or `nil` if no reading event did, as in a save.
  func owner(of statement: Event) -> Event? {
    var parent = statement.parent
    while parent != 0, let event = event(parent) {
      switch event.kind {
      case .fetch, .objectFault, .relationshipFault, .prefetch, .batchLoad, .batchRequest:
        return event
      default:
        parent = event.parent
      }
    }
    return nil
  }
}

extension StatementRecord {
  /// A Boolean value that indicates whether the counters include the statement.
  var isCounted: Bool {
    switch kind {
    case .select, .insert, .update, .delete: true
    case .transaction, .housekeeping: false
    }
  }
}

/// An event sink that keeps all events in memory.
///
/// Recording an event takes a lock and appends to an array. Events aren't sorted, counted, or
/// formatted while the measured work runs. You can use a recorder on any thread.
package final class Recorder: EventSink {
  package let detail: EventDetail
  private let state = Mutex(State())

  private struct State {
    var events: [Event] = []
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
      state.events.append(event)
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
  package func recording(
    steps: [RecordedStep] = [], gauges: [ScopedMetric: Int] = [:]
  ) -> Recording {
    Recording(events: state.withLock { $0.events }, steps: steps, gauges: gauges)
  }

  /// Returns a recording of the events of one step.
  ///
  /// Cost: linear in the number of the step's events, regardless of the number of earlier events.
  package func recording(
    of step: RecordedStep, gauges: [ScopedMetric: Int] = [:]
  ) -> Recording {
    let mine = state.withLock { state in
      // Events are in the order of their ends, so those that ended before the step began come
      // first.
      let first = state.events.lastIndex { $0.begin + $0.duration < step.begin }.map { $0 + 1 } ?? 0
      return state.events[first...].filter(step.contains)
    }
    return Recording(events: mine, steps: [step], gauges: gauges)
  }
}
