import ProfileEvents
import Profiling
import WorkbenchText

/// How counts grow with the scale: a chart and a table for each metric that is worth one.
struct ReportCurves {
  struct Curve {
    var heading: String
    /// What the chart shows, for those who do not see it.
    var title: String
    var chart: ReportChart
    var scales: [String]
    var rows: [Row]
  }

  struct Row {
    var name: String
    var values: [String]
    /// `constant`, `linear`.
    var growth: String
  }

  let curves: [Curve]

  /// Charts shown at most, the one with the bars first.
  private static let limit = 4

  /// - Returns: nil for a run at one scale, and for one whose counts are all alike.
  init?(_ result: RunResult, lead: Metric) {
    let runs = ([ScaledRun(result)] + result.scales).sorted { $0.scale < $1.scale }
    guard runs.count > 1 else { return nil }
    let candidates: [Metric] = [lead, .selects, .rows, .misses, .faults, .peak, .inserts, .updates]
    var metrics: [Metric] = []
    for metric in candidates where !metrics.contains(metric) {
      let values = runs.flatMap { $0.variants.map { $0.metrics[metric] ?? 0 } }
      if metric == lead || Set(values).count > 1 { metrics.append(metric) }
    }
    curves = metrics.prefix(ReportCurves.limit).map { metric in
      ReportCurves.curve(metric, runs, names: result.variants.map(\.name))
    }
  }

  private static func curve(_ metric: Metric, _ runs: [ScaledRun], names: [String]) -> Curve {
    let lines = names.map { name in
      runs.map { run in run.variants.first { $0.name == name }?.metrics[metric] ?? 0 }
    }
    let scales = runs.map(\.scale)
    return Curve(
      heading: metric.heading,
      title: "\(metric.heading) at scale "
        + scales.map(NumberText.grouped).joined(separator: ", ")
        + "; the table below has the numbers",
      chart: ReportChart(scales: scales, names: names, lines: lines),
      scales: scales.map(NumberText.grouped),
      rows: zip(names, lines).map { name, line in
        Row(
          name: name, values: line.map(NumberText.grouped),
          growth: growth(from: line, at: scales))
      })
  }

  /// What the first and the last value say, in a word or as a power of the scale.
  static func growth(from values: [Int], at scales: [Int]) -> String {
    guard let first = values.first, let last = values.last, let low = scales.first,
      let high = scales.last, high > low
    else { return "" }
    if Set(values).count == 1 { return "constant" }
    guard first > 0, last > 0 else { return first < last ? "grows" : "shrinks" }
    // A constant part beside a growing one bends the line: its end says what it comes to.
    let before = values[values.count - 2]
    let part = Double(scales[scales.count - 1]) / Double(scales[scales.count - 2])
    guard before > 0, part > 1 else { return "grows" }
    let tenths = Int((ReportChart.log(Double(last) / Double(before), base: part) * 10).rounded())
    switch tenths {
    case 0: return "nearly constant"
    case 10: return "linear"
    case 20: return "quadratic"
    case ..<0: return "shrinks"
    default: return "as scale to the power of \(tenths / 10).\(tenths % 10)"
    }
  }
}
