package import ProfileEvents
package import ScenarioLanguage
package import StatementAnalysis

/// Recorded events in the order in which they began, with the steps that caused them.
///
/// A recording is an immutable value that can be used on any thread.
package struct Recording: Sendable {
  /// The events, sorted by number, so that a parent precedes its children.
  package let events: RecordedEvents
  package let steps: [RecordedStep]
  /// The values of metrics that events don't contain, such as `registered` and `peak`.
  package let gauges: [ScopedMetric: Int]

  package init(
    events: [Event] = [], steps: [RecordedStep] = [], gauges: [ScopedMetric: Int] = [:]
  ) {
    self.init(events: RecordedEvents(events), steps: steps, gauges: gauges)
  }

  init(events: RecordedEvents, steps: [RecordedStep], gauges: [ScopedMetric: Int]) {
    self.events = events
    self.steps = steps
    self.gauges = gauges
  }

  /// Returns the same events with other gauges.
  package func with(gauges: [ScopedMetric: Int]) -> Recording {
    Recording(events: events, steps: steps, gauges: gauges)
  }

  /// Returns the part of the recording that contains only one step and its events.
  ///
  /// The gauges aren't sliced, because they're the values at the time of recording.
  package func slice(of step: RecordedStep) -> Recording {
    Recording(events: part(after: step.after, through: step.through), steps: [step], gauges: gauges)
  }

  /// Returns the events with the numbers `after + 1 ... through`, and the steps completely within
  /// that range.
  package func slice(after: Int, through: Int) -> Recording {
    let inside = steps.filter { $0.after >= after && $0.through <= through }
    return Recording(events: part(after: after, through: through), steps: inside, gauges: gauges)
  }

  private func part(after: Int, through: Int) -> RecordedEvents {
    let end = through == Int.max ? through : through + 1
    return events.part(ids: after + 1..<max(after + 1, end))
  }

  /// Returns the event with a number, or `nil` if it isn't part of the recording.
  package func event(_ id: Int) -> RecordedEvent? {
    events.event(id)
  }

  /// The time of `MonotonicClock`, in nanoseconds, at which the first step began, or the first
  /// event if there are no steps.
  package var begin: UInt64 {
    steps.map(\.begin).min() ?? events.map(\.begin).min() ?? 0
  }
}

extension Recording {
  /// Returns the value of a metric within a scope; a gauge without a value is 0.
  ///
  /// `time` is the sum of the steps' durations or, without steps, the time from the beginning of
  /// the first event to the end of the last. **Cost:** one pass over the events.
  package func value(of metric: Metric, scope: MetricScope = .all) -> Int {
    switch metric {
    case .registered, .peak, .filepages, .walpages, .freepages:
      gauges[ScopedMetric(metric, scope)] ?? 0
    case .time: Int(clamping: nanoseconds(in: scope))
    default: totals(in: scope)[metric]
    }
  }

  /// Returns the value of a scoped metric.
  package func value(of scoped: ScopedMetric) -> Int {
    value(of: scoped.metric, scope: scoped.scope)
  }

  /// The values of all metrics except `time` and those of pages, for the whole recording.
  ///
  /// Those of migrations are included only if a store was migrated, and `roundtrips` only if there
  /// are some. **Cost:** one pass over the events.
  package var metrics: [Metric: Int] {
    var metrics: [Metric: Int] = [:]
    let totals = totals(in: .all)
    for metric in Metric.allCases
    where metric != .time && !metric.isOfPages && (totals.isMigrating || !metric.isOfMigration)
      && (metric != .roundtrips || totals.counters.roundTrips > 0)
    {
      switch metric {
      case .registered, .peak: metrics[metric] = value(of: metric)
      default: metrics[metric] = totals[metric]
      }
    }
    return metrics
  }

  /// The totals of the events, with the same fields as the always-on counters.
  package var counters: Counters {
    totals(in: .all).counters
  }

  /// The counts and the time of the whole recording.
  package var costs: TimedCosts {
    TimedCosts(counters: counters, nanoseconds: nanoseconds)
  }

  /// The duration of all steps, or the time span of the events if there are no steps.
  package var nanoseconds: UInt64 { nanoseconds(in: .all) }

  private func nanoseconds(in scope: MetricScope) -> UInt64 {
    let wanted = steps.filter { scope == .all || $0.name.map(MetricScope.step) == scope }
    if !wanted.isEmpty || !steps.isEmpty { return wanted.reduce(0) { $0 + $1.duration } }
    guard let end = events.lazy.map({ $0.begin + $0.duration }).max() else { return 0 }
    return end - begin
  }

  private func totals(in scope: MetricScope) -> EventTotals {
    var totals = EventTotals()
    guard case .step(let name) = scope else {
      for event in events where isIn(scope, event) { totals.add(event) }
      return totals
    }
    for step in steps where step.name == name {
      for event in slice(of: step).events { totals.add(event) }
    }
    return totals
  }

  /// Returns whether an event belongs to a scope, which isn't a step.
  ///
  /// What a parent context does for a child is nested in an event of the child.
  func isIn(_ scope: MetricScope, _ event: RecordedEvent) -> Bool {
    if event.isIn(scope) { return true }
    guard case .context = scope else { return false }
    var inner = event
    while let outer = events.event(inner.parent), outer.id < inner.id {
      if outer.isIn(scope) { return true }
      inner = outer
    }
    return false
  }
}

/// The contributions of events to all metrics that aren't gauges or times.
private struct EventTotals {
  private(set) var counters = Counters()
  /// The work for counted statements.
  private var work = StatementWork()
  /// The pages that statements of all kinds wrote.
  ///
  /// Most pages are written when a transaction ends.
  private var pagesWritten = 0
  private var migration: [Metric: Int] = [:]
  private(set) var isMigrating = false

  subscript(metric: Metric) -> Int {
    switch metric {
    case .scanned: work.fullScanSteps
    case .sorts: work.sorts
    case .calls: work.functionCalls + work.collationCalls
    case .vmsteps: work.vmSteps
    case .pageins: work.pagesRead
    case .pageouts: pagesWritten
    default: counters[metric] ?? migration[metric] ?? 0
    }
  }

  mutating func add(_ event: RecordedEvent) {
    counters.count(
      event.kind, source: event.source, statement: event.statement?.kind, rows: event.rows,
      rounds: event.kind == .save ? event.rounds : 0, roundTrips: event.roundTrips)
    if let statement = event.statement, let done = statement.work {
      pagesWritten += done.pagesWritten
      if statement.kind.isCounted { work = work + done }
    }
    guard event.kind == .migration || event.kind == .migrationStep else { return }
    if event.kind == .migration { isMigrating = true }
    guard let done = event.migration?.work else { return }
    for (metric, amount) in Self.amounts(of: done, rows: event.rows) {
      migration[metric, default: 0] += amount
    }
  }

  /// Returns the contributions of a migration or a step of it to the metrics of migrations.
  private static func amounts(
    of work: MigrationRecord.Work, rows: Int
  ) -> [(metric: Metric, amount: Int)] {
    switch work {
    case .inferred, .mapped: [(.migrations, 1)]
    case .schema: [(.ddl, 1)]
    case .addColumn: [(.ddl, 1), (.addedcolumns, 1)]
    case .createIndex: [(.ddl, 1), (.createdindexes, 1)]
    case .copyTable: [(.dml, 1), (.copiedtables, 1), (.migratedrows, rows)]
    case .changeRows: [(.dml, 1), (.migratedrows, rows)]
    case .housekeeping: [(.dml, 1)]
    case .instances: [(.migratedrows, rows), (.instances, rows)]
    case .relationships, .validation: [(.migratedrows, rows)]
    case .deferredUnit: []
    }
  }
}

extension RecordedEvent {
  /// Returns whether an event itself belongs to a scope, which isn't a step.
  fileprivate func isIn(_ scope: MetricScope) -> Bool {
    switch scope {
    case .all, .step: true
    case .context(let name): context == name
    case .entity(let name): kind != .relationshipFault && objectEntity == name
    case .relationship(let entity, let name):
      (kind == .relationshipFault || kind == .prefetch) && relationship == name
        && (self.entity == entity || object?.entity == entity)
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
    let groups = events.grouped { event -> EventKind? in
      switch event.kind {
      case .rowCacheHit, .rowCacheMiss: nil
      case .statement: event.statement?.kind.isCounted == true ? .statement : nil
      default: event.kind
      }
    }
    return EventKind.allCases.compactMap { kind in
      guard let mine = groups[kind] else { return nil }
      let shown = mine.prefix(limit).map { Event($0) }
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

  /// Returns whether the event with an ID began during the step.
  package func contains(_ eventID: Int) -> Bool {
    eventID > after && eventID <= through
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
      guard let statement = event.statement, event.kind == .statement, statement.kind.isCounted
      else {
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
        shapes[shapes.count - 1].arrays = statement.arrays
      }
    }
    return shapes
  }

  /// Returns the SQL of the first statement of each fetch, fault, prefetch, and batch.
  ///
  /// **Cost:** one pass over the events.
  func statementTexts() -> StatementTexts { StatementTexts(of: self) }

  /// Returns the index of the event that ran a statement, or `nil` if no reading event did, as in a
  /// save.
  func ownerIndex(of statement: RecordedEvent) -> Int? {
    var parent = statement.parent
    while parent != 0, let index = events.index(ofID: parent) {
      let event = events[index]
      switch event.kind {
      case .fetch, .objectFault, .relationshipFault, .prefetch, .batchLoad, .batchRequest:
        return index
      default:
        parent = event.parent
      }
    }
    return nil
  }
}

/// The SQL of the first statement that events ran, by event ID.
struct StatementTexts {
  private let events: RecordedEvents
  /// The index of the first statement of each event, plus 1, or 0.
  private var first: [UInt32]

  fileprivate init(of recording: Recording) {
    events = recording.events
    first = [UInt32](repeating: 0, count: events.count)
    for (index, event) in events.enumerated() where event.kind == .statement {
      guard event.statement?.kind.isCounted == true,
        let owner = recording.ownerIndex(of: event), first[owner] == 0
      else { continue }
      first[owner] = UInt32(index + 1)
    }
  }

  subscript(id: Int) -> String? {
    guard let index = events.index(ofID: id), first[index] != 0 else { return nil }
    return events[Int(first[index]) - 1].statement?.sql
  }
}

extension StatementKind {
  /// Whether the counters include statements of this kind.
  var isCounted: Bool {
    switch self {
    case .select, .insert, .update, .delete: true
    case .transaction, .housekeeping: false
    }
  }
}
