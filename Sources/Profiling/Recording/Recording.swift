package import ProfileEvents
package import ScenarioLanguage

/// Events that happened, in the order in which they began, with the steps that caused them.
///
/// A plain value: take it, slice it, count it on any thread.
package struct Recording: Sendable {
  /// Sorted by number, so a parent precedes its children.
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

extension Recording {
  /// The number of a metric within a scope; a gauge without a value is 0.
  ///
  /// One pass over the events. `time` is the sum of the steps' times, or without steps the time
  /// from the first event's beginning to the last one's end.
  package func value(of metric: Metric, scope: MetricScope = .all) -> Int {
    switch metric {
    case .registered, .peak, .filepages, .walpages, .freepages:
      gauges[ScopedMetric(metric, scope)] ?? 0
    case .time: Int(clamping: nanoseconds(in: scope))
    default: events(in: scope).reduce(0) { $0 + $1.amount(of: metric, scope: scope) }
    }
  }

  /// The number of a metric with its scope.
  package func value(of scoped: ScopedMetric) -> Int {
    value(of: scoped.metric, scope: scoped.scope)
  }

  /// Every metric of the catalog but `time` and those of pages, over the whole recording.
  package var metrics: [Metric: Int] {
    var metrics: [Metric: Int] = [:]
    for metric in Metric.allCases where metric != .time && !metric.isOfPages {
      metrics[metric] = value(of: metric)
    }
    return metrics
  }

  /// What the events add up to, field by field as the always-on counters count.
  package var counters: Counters {
    events.reduce(into: Counters()) { $0.count($1) }
  }

  /// Counts and time of the whole recording.
  package var costs: Costs {
    Costs(counters: counters, nanoseconds: nanoseconds)
  }

  /// Time of all steps; without steps the span of the events.
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
  /// How much this event adds to a metric within a scope; steps are sorted out before.
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
    // Most are written when a transaction ends.
    case .pageouts: return statement?.work?.pagesWritten ?? 0
    default: break
    }
    var counters = Counters()
    counters.count(self)
    return counters[metric] ?? 0
  }

  /// What SQLite did for a statement that counts; nil for housekeeping and for what isn't a statement.
  private var work: StatementWork? {
    switch statement?.kind {
    case .select, .insert, .update, .delete: statement?.work
    case .transaction, .housekeeping, nil: nil
    }
  }
}

extension Recording {
  /// The first events of each kind with the number of all, in the order of the kinds.
  ///
  /// Row-cache events are left out (faults say the same), and so is what the counters leave out.
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

/// The first events of one kind, and how many there were.
package struct EventSample: Sendable {
  package var kind: EventKind
  /// All of them, shown or not.
  package var count: Int
  /// The first ones, in the order of beginning.
  package var events: [Event]
  /// By the number of an event: the statement it asked for, where it asked for one.
  package var texts: [Int: String]

  package init(kind: EventKind, count: Int, events: [Event], texts: [Int: String] = [:]) {
    self.kind = kind
    self.count = count
    self.events = events
    self.texts = texts
  }
}

/// Which events of a recording one step caused.
///
/// Steps run one after the other, so a step is a range of event numbers. Two steps written on one
/// line share their call site but remain distinct.
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
  /// Nanoseconds of processor time that the step's thread had; 0 if it wasn't measured.
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
