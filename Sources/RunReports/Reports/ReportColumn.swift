import ProfileEvents
import Profiling
import ScenarioLanguage
import WorkbenchText

/// A column of the table behind the bars.
enum ReportColumn {
  case metric(Metric)
  /// The most objects of an entity registered at once.
  case peak(entity: String)
  case processor
  case time

  /// The columns worth their place: the sum of the faults always, other statements where there are
  /// any, the peak where it was measured, pages where a law asks for them.
  static func all(for variants: [VariantResult], lead: Metric) -> [ReportColumn] {
    var columns: [ReportColumn] = []
    for metric in [.selects, .inserts, .updates, .deletes, .saves, .transactions] as [Metric]
    where metric != lead && variants.contains(where: { ($0.metrics[metric] ?? 0) != 0 }) {
      columns.append(.metric(metric))
    }
    columns += [.metric(.faults), .metric(.hits), .metric(.misses)]
    if lead != .rows { columns.append(.metric(.rows)) }
    if let entity = peakEntity(in: variants) { columns.append(.peak(entity: entity)) }
    for metric in Metric.allCases
    where metric.isOfPages && variants.contains(where: { $0.metrics[metric] != nil }) {
      columns.append(.metric(metric))
    }
    if variants.contains(where: { $0.processorNanoseconds > 0 }) { columns.append(.processor) }
    return columns + [.time]
  }

  var heading: String {
    switch self {
    case .metric(let metric): metric.heading
    case .peak(let entity): "peak \(entity)"
    case .processor: "CPU*"
    case .time: "time*"
    }
  }

  /// `faults = hits + misses`.
  var sign: String? {
    switch self {
    case .metric(.hits): "="
    case .metric(.misses): "+"
    default: nil
    }
  }

  func cell(of variant: VariantResult) -> ReportTable.Cell {
    switch self {
    case .metric(let metric):
      let value = variant.metrics[metric] ?? 0
      let last = metric.counted(value).split(separator: " ").last.map(String.init)
      let unit = metric.isOfPages ? metric.heading : last
      return ReportTable.Cell(
        metric: metric.rawValue, value: value, text: NumberText.grouped(value),
        unit: unit ?? metric.rawValue, role: metric.rawValue)
    case .peak(let entity):
      let scoped = ScopedMetric(.peak, .entity(entity))
      let value = variant.scopedMetrics[scoped]
      return ReportTable.Cell(
        metric: scoped.description, value: value ?? 0, text: value.map(NumberText.grouped) ?? "–",
        unit: heading, role: "peak")
    case .processor:
      return ReportTable.Cell(
        metric: "processorNanoseconds", value: Int(clamping: variant.processorNanoseconds),
        text: NumberText.time(variant.processorNanoseconds), unit: "*", role: "processor")
    case .time:
      return ReportTable.Cell(
        metric: "nanoseconds", value: Int(clamping: variant.nanoseconds),
        text: NumberText.time(variant.nanoseconds), unit: "*", role: "time")
    }
  }

  /// Of the entities whose peak every variant knows, the one with the greatest.
  private static func peakEntity(in variants: [VariantResult]) -> String? {
    var greatest: [String: Int] = [:]
    for variant in variants {
      for (scoped, value) in variant.scopedMetrics where scoped.metric == .peak {
        guard case .entity(let name) = scoped.scope else { continue }
        greatest[name] = max(greatest[name] ?? 0, value)
      }
    }
    let shared = greatest.filter { name, _ in
      variants.allSatisfy { $0.scopedMetrics[ScopedMetric(.peak, .entity(name))] != nil }
    }
    return shared.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }
}
