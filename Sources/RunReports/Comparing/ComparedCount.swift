package import ProfileEvents
package import ScenarioLanguage
import WorkbenchText

/// One metric of one variant in two results.
package struct ComparedCount: Sendable, Equatable {
  package var metric: ScopedMetric
  package var before: Int
  package var after: Int

  package init(metric: ScopedMetric, before: Int, after: Int) {
    self.metric = metric
    self.before = before
    self.after = after
  }

  /// `+ 60`, `- 5,059`, or nothing.
  package var difference: String {
    guard before != after else { return "" }
    return "\(after < before ? "-" : "+") \(NumberText.grouped(abs(after - before)))"
  }
}

extension Metric {
  /// Whether more of it is worse.
  ///
  /// A hit in the place of a miss is better, and a prefetch is there to save faults: neither is a cost.
  package var isCost: Bool {
    switch self {
    case .selects, .inserts, .updates, .deletes, .transactions, .rows, .misses, .peak: true
    default: false
    }
  }
}
