import ProfileEvents
import Profiling
import ScenarioLanguage
import WorkbenchText

/// One variant in two results.
package struct ComparedVariant: Sendable {
  /// With the scale behind it where there are several: `plain at scale 10`.
  package let name: String
  /// The metrics both results have, in the catalogue's order; scoped ones behind.
  package let counts: [ComparedCount]
  package let newFindings: [String]
  package let goneFindings: [String]
  package let time: ComparedTime

  /// The counts that differ.
  package var differences: [ComparedCount] { counts.filter { $0.before != $0.after } }

  init(
    name: String, _ before: ScaledRun.Variant, _ after: ScaledRun.Variant,
    findings: (before: [String], after: [String]), obstacle: String?
  ) {
    self.name = name
    let plain = Metric.allCases.compactMap { metric -> ComparedCount? in
      guard metric.isExact, let one = before.metrics[metric], let other = after.metrics[metric]
      else { return nil }
      return ComparedCount(metric: ScopedMetric(metric), before: one, after: other)
    }
    let scoped = before.scopedMetrics.keys.sorted { $0.description < $1.description }
      .compactMap { metric -> ComparedCount? in
        guard metric.metric.isExact, let one = before.scopedMetrics[metric],
          let other = after.scopedMetrics[metric]
        else { return nil }
        return ComparedCount(metric: metric, before: one, after: other)
      }
    counts = plain + scoped
    newFindings = findings.after.filter { !findings.before.contains($0) }
    goneFindings = findings.before.filter { !findings.after.contains($0) }
    time = ComparedTime(
      TimeSpread(before.repeats) ?? TimeSpread(once: before.nanoseconds),
      TimeSpread(after.repeats) ?? TimeSpread(once: after.nanoseconds), obstacle: obstacle)
  }
}
