import ProfileEvents
import RunResults
import ScenarioLanguage

/// The metrics of a report: those that the scenario's expectations name, and the one with the bars.
struct ReportMetrics {
  /// The metrics that expectations name, in the order of the file, without duplicates.
  let named: [ScopedMetric]
  /// The metric of the bars and of the headline.
  let lead: ScopedMetric

  init(_ result: RunResult) {
    var named: [ScopedMetric] = []
    for expectation in result.variants.flatMap(\.expectations) {
      guard let metric = ScopedMetric(word: expectation.metric) else { continue }
      // The scope of a context looks like that of a step; the measured metric has the right one.
      let measured = result.variants.lazy.compactMap { variant in
        variant.scopedMetrics.keys.first { $0.description == metric.description }
      }
      let scoped = measured.first ?? metric
      if !named.contains(scoped) { named.append(scoped) }
    }
    self.named = named
    lead =
      result.metric ?? ReportMetrics.widest(of: named, in: result.variants)
      ?? ReportMetrics.widest(of: Metric.allCases.map { ScopedMetric($0) }, in: result.variants)
      ?? ScopedMetric(.selects)
  }

  /// The metrics in the order of their significance; those on a line are equally significant.
  private static let order: [[Metric]] = [
    [.migratedrows], [.migrations], [.createdindexes],
    [.selects, .inserts, .updates, .deletes],
    [
      .rows, .scanned, .sorts, .calls, .vmsteps, .pageins, .pageouts, .filepages, .walpages,
      .freepages, .copiedtables, .instances,
    ],
    [.misses, .roundtrips], [.faults], [.peak, .registered, .prefetches],
    [.transactions, .saves, .fetches],
    [.hits, .ddl, .dml, .addedcolumns],
  ]

  /// Returns the metric in which variants differ most, or `nil` if none differs.
  ///
  /// That's the metric with the highest ratio, but a more significant one is preferred if the
  /// square of its ratio is at least as high: a fetch's thousand faults are the consequence of its
  /// SELECTs. A metric of everything is more significant than one of a part. A metric that some
  /// variant doesn't have isn't considered.
  private static func widest(
    of metrics: [ScopedMetric], in variants: [VariantResult]
  ) -> ScopedMetric? {
    let ratios = metrics.map { ($0, ratio(of: $0, in: variants)) }.filter { $0.1 > 1 }
    guard let highest = ratios.map(\.1).max() else { return nil }
    for line in order {
      for isScoped in [false, true] {
        let candidates = ratios.filter {
          line.contains($0.0.metric) && ($0.0.scope != .all) == isScoped
        }
        guard let widest = candidates.map(\.1).max(), widest * widest >= highest else { continue }
        return candidates.first { $0.1 == widest }?.0
      }
    }
    return nil
  }

  /// Returns the ratio of the highest to the lowest value; a lowest value of 0 is treated as 1, and
  /// adds 1 to the ratio.
  private static func ratio(of metric: ScopedMetric, in variants: [VariantResult]) -> Double {
    let values =
      metric.scope == .all
      ? variants.map { $0.metrics[metric.metric] ?? 0 }
      : variants.compactMap { $0.value(of: metric) }
    guard values.count == variants.count, let least = values.min(), let most = values.max(),
      most > least
    else { return 1 }
    return Double(most) / Double(max(1, least)) + (least == 0 ? 1 : 0)
  }
}
