package import ProfileEvents

/// A metric together with its scope: `misses(Country)` in a scenario, a shell line and a report.
package struct ScopedMetric: Hashable, Sendable, CustomStringConvertible {
  package var metric: Metric
  package var scope: MetricScope

  package init(_ metric: Metric, _ scope: MetricScope = .all) {
    self.metric = metric
    self.scope = scope
  }

  /// The metric's word, with its scope in brackets where it has one.
  package var description: String {
    switch scope {
    case .all: metric.rawValue
    case .entity(let name), .context(let name), .step(let name): "\(metric.rawValue)(\(name))"
    case .relationship(let entity, let name): "\(metric.rawValue)(\(entity).\(name))"
    }
  }
}
