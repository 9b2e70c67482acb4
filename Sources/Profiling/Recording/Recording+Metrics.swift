package import ProfileEvents
package import ScenarioLanguage

extension Recording {
  /// The number of a metric within a scope; a gauge that nobody gave is 0.
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

  /// Every metric of the catalogue but `time` and those of pages, over the whole recording.
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

  /// What SQLite did for a statement that counts; nil for housekeeping and for what is no statement.
  private var work: StatementWork? {
    switch statement?.kind {
    case .select, .insert, .update, .delete: statement?.work
    case .transaction, .housekeeping, nil: nil
    }
  }
}
