import ProfileEvents
import Profiling
import ScenarioLanguage
import WorkbenchText

/// The table of costs, with a row for each variant in the order of the file.
struct ReportTable {
  /// The metric that's shown with bars.
  let lead: Metric
  let leadHeading: String
  let headings: [Heading]
  let rows: [Row]

  struct Heading {
    var text: String
    /// `=` or `+`, which show that three columns are a sum.
    var sign: String?
  }

  struct Row {
    var name: String
    var anchor: String
    var holds: Bool
    /// The number of findings; nil if there are none.
    var findings: Int?
    var value: Int
    var text: String
    /// The width of the bar, in percent of the widest one.
    var width: String
    /// A Boolean value that indicates whether the bar is too narrow to be visible.
    var isDot: Bool
    /// The expected formula; if the expectation isn't met, with its value.
    var formula: String?
    var isFormulaMissed: Bool
    var cells: [Cell]
    var metric: String
  }

  struct Cell {
    var metric: String
    var value: Int
    var text: String
    /// The unit, which narrow screens show after the number.
    var unit: String
    /// A class of the style sheet.
    var role: String
  }

  init(_ result: RunResult) {
    let lead = ReportTable.lead(of: result.variants)
    let columns = ReportColumn.all(for: result.variants, lead: lead)
    let most = result.variants.map { $0.metrics[lead] ?? 0 }.max() ?? 0
    self.lead = lead
    leadHeading = lead.heading
    headings = columns.map { Heading(text: $0.heading, sign: $0.sign) }
    rows = result.variants.enumerated().map { index, variant in
      let value = variant.metrics[lead] ?? 0
      let expectation = variant.expectations.first { $0.metric == lead.rawValue }
      let width = most > 0 ? Double(value) / Double(most) * 100 : 0
      return Row(
        name: variant.name, anchor: "variant-\(index + 1)", holds: variant.passes,
        findings: variant.findings.isEmpty ? nil : variant.findings.count, value: value,
        text: NumberText.grouped(value), width: ReportTable.percent(width), isDot: width < 0.2,
        formula: expectation.map(ReportTable.formula), isFormulaMissed: expectation?.isMet == false,
        cells: columns.map { $0.cell(of: variant) }, metric: lead.rawValue)
    }
  }

  private static func formula(_ expectation: ExpectationResult) -> String {
    if expectation.isMet { return expectation.formula }
    let asked = expectation.expectedText
    return asked == expectation.formula
      ? "expected \(asked)" : "expected \(asked) = \(expectation.formula)"
  }

  /// Returns the metric for the summary and the bars.
  ///
  /// If variants migrate different numbers of rows, or run different numbers of migrations, it's that
  /// number. Otherwise, it's the kind of statement whose count varies most between the variants. If no statement
  /// count varies, it's the first of these that does: rows; misses; faults; transactions, saves, or
  /// fetches. If nothing varies, it's SELECTs.
  static func lead(of variants: [VariantResult]) -> Metric {
    for candidates: [Metric] in [
      [.migratedrows], [.migrations], [.createdindexes], [.selects, .inserts, .updates, .deletes],
      [.rows], [.misses], [.faults],
      [.transactions, .saves, .fetches],
    ] {
      let spreads = candidates.map { ($0, spread(of: $0, in: variants)) }
      if let widest = spreads.max(by: { $0.1 < $1.1 }), widest.1 > 1 {
        // `max` returns the last of equal elements, but the first is the most important one.
        return spreads.first { $0.1 == widest.1 }?.0 ?? widest.0
      }
    }
    return .selects
  }

  /// Returns the ratio of the highest to the lowest value; a lowest value of 0 is treated as 1, and
  /// adds 1 to the ratio.
  private static func spread(of metric: Metric, in variants: [VariantResult]) -> Double {
    let values = variants.map { $0.metrics[metric] ?? 0 }
    guard let least = values.min(), let most = values.max(), most > least else { return 1 }
    return Double(most) / Double(max(1, least)) + (least == 0 ? 1 : 0)
  }

  /// Returns a number with two decimal places, or without any if it's an integer.
  private static func percent(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let decimals = hundredths % 100
    return decimals == 0
      ? "\(hundredths / 100)" : "\(hundredths / 100).\(decimals < 10 ? "0" : "")\(decimals)"
  }
}

/// A column of the table to the right of the bars.
enum ReportColumn {
  case metric(Metric)
  /// The maximum number of objects of an entity that were registered at the same time.
  case peak(entity: String)
  case processor
  case time

  /// Returns the columns to show.
  ///
  /// The time is always shown; faults, hits, and misses too, except for migrations without faults;
  /// other statements, if there are any; the peak, if it was measured; what differs between the
  /// migrations; pages, if an expectation uses them.
  static func all(for variants: [VariantResult], lead: Metric) -> [ReportColumn] {
    var columns: [ReportColumn] = []
    for metric in [.selects, .inserts, .updates, .deletes, .saves, .transactions] as [Metric]
    where metric != lead && variants.contains(where: { ($0.metrics[metric] ?? 0) != 0 }) {
      columns.append(.metric(metric))
    }
    let isMigrating = variants.contains { $0.metrics[.migrations] != nil }
    if !isMigrating || variants.contains(where: { ($0.metrics[.faults] ?? 0) != 0 }) {
      columns += [.metric(.faults), .metric(.hits), .metric(.misses)]
    }
    if lead != .rows { columns.append(.metric(.rows)) }
    if let entity = peakEntity(in: variants) { columns.append(.peak(entity: entity)) }
    for metric in Metric.allCases
    where metric.isOfMigration && metric != lead
      && Set(variants.map { $0.metrics[metric] ?? 0 }).count > 1
    {
      columns.append(.metric(metric))
    }
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

  /// The sign before the heading, as in `faults = hits + misses`.
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
      let unit = metric.isOfPages || metric.isOfMigration ? metric.heading : last
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

  /// Returns the entity with the highest peak among those whose peak was measured in all variants.
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
