package import ProfileEvents
package import ScenarioLanguage

extension LogCosts {
  /// The number of a metric; `faults` are hits and misses.
  package func value(of metric: Metric) -> Int {
    metric == .faults ? self[.hits] + self[.misses] : self[metric]
  }

  /// The number of a metric within a scope.
  ///
  /// - Parameter table: The table of an entity's rows; nil when it is not known.
  package func value(of scoped: ScopedMetric, table: (String) -> String?) -> Int {
    if case .entity(let name) = scoped.scope {
      let rows = table(name).flatMap { byTable[$0.uppercased()] }
      return number(scoped.metric, in: byEntity[name], or: rows)
    }
    if case .relationship(let entity, let name) = scoped.scope {
      let key = scoped.metric == .prefetches ? name : "\(entity).\(name)"
      return number(scoped.metric, in: byRelationship[key], or: nil)
    }
    return value(of: scoped.metric)
  }

  private func number(
    _ metric: Metric, in first: [Metric: Int]?, or second: [Metric: Int]?
  ) -> Int {
    func one(_ metric: Metric) -> Int {
      first?[metric] ?? second?[metric] ?? 0
    }
    return metric == .faults ? one(.hits) + one(.misses) : one(metric)
  }
}

extension Metric {
  /// Whether a log has lines to count it by.
  ///
  /// - Parameter hits: Whether the log has lines for the row cache's hits, as our framework's can.
  package func isToldByLogs(withHits hits: Bool) -> Bool {
    let told: Set<Metric> = [
      .fetches, .saves, .selects, .inserts, .updates, .deletes, .transactions, .rows, .misses,
      .prefetches,
    ]
    return told.contains(self) || hits && (self == .faults || self == .hits)
  }
}
