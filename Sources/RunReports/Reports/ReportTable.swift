import ProfileEvents
import RunResults
import ScenarioLanguage
import WorkbenchText

/// The table of costs, with a row for each variant in the order of the file.
struct ReportTable {
  /// The metric that's shown with bars.
  let lead: ScopedMetric
  let leadHeading: String
  let headings: [Heading]
  /// Whether there are too many columns for wide bars.
  let isWide: Bool
  let rows: [Row]

  struct Heading {
    var text: String
    /// `=` or `+`, which show that three columns are a sum; `nil` if they aren't in some variant.
    var sign: String?
  }

  struct Row {
    var name: String
    /// The section of the variant; `nil` if it has none.
    var anchor: String?
    var holds: Bool
    /// The number of findings; `nil` if there are none.
    var findings: Int?
    /// The noun after the number of findings.
    var findingNoun: String
    var value: Int
    var text: String
    /// The unit, which narrow screens show after the number.
    var unit: String
    /// The width of the bar, in percent of the widest one.
    var width: String
    /// Whether the bar is too narrow to be visible.
    var isDot: Bool
    /// The expected formula; if the expectation isn't met, with its value.
    var formula: String?
    var isFormulaMissed: Bool
    var cells: [Cell]
    var metric: String
    /// The explanation of the variant; `nil` if there's none.
    var why: String?
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
    let metrics = ReportMetrics(result)
    let lead = metrics.lead
    let columns = ReportColumn.all(for: result.variants, metrics)
    let most = result.variants.map { $0.value(of: lead) ?? 0 }.max() ?? 0
    self.lead = lead
    leadHeading = lead.heading
    // Faults that a parent context fulfills are neither hits nor misses.
    let isSum = result.variants.map(\.metrics).allSatisfy { metrics in
      metrics[.faults, default: 0] == metrics[.hits, default: 0] + metrics[.misses, default: 0]
    }
    headings = columns.map { Heading(text: $0.heading, sign: isSum ? $0.sign : nil) }
    isWide = columns.count > ReportColumn.limit
    let detailed = Set(result.detailedVariants)
    rows = result.variants.enumerated().map { index, variant in
      let value = variant.value(of: lead) ?? 0
      // A step can have an expectation of the same metric, for itself only.
      let expectation = variant.expectations.first {
        $0.metric == lead.description && $0.actual == .number(value)
      }
      let width = most > 0 ? Double(value) / Double(most) * 100 : 0
      return Row(
        name: variant.name, anchor: detailed.contains(index) ? "variant-\(index + 1)" : nil,
        holds: variant.passes,
        findings: variant.findings.isEmpty ? nil : variant.findings.count,
        findingNoun: variant.findings.count == 1 ? "finding" : "findings", value: value,
        text: NumberText.grouped(value), unit: lead.unit(of: value),
        width: ReportTable.percent(width), isDot: width < 0.2,
        formula: expectation.map(ReportTable.formula),
        isFormulaMissed: expectation?.isUnmet == true,
        cells: columns.map { $0.cell(of: variant) }, metric: lead.description,
        why: variant.why.nonEmpty)
    }
  }

  private static func formula(_ expectation: ExpectationResult) -> String {
    if !expectation.isUnmet { return expectation.formula }
    let asked = expectation.expectedText
    return "expected \(asked)" + (expectation.calculation.map { " = \($0)" } ?? "")
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
  case metric(ScopedMetric)
  case processor
  case time

  /// The maximum number of columns next to wide bars.
  static let limit = 9

  /// Returns the columns to show.
  ///
  /// They are every metric that an expectation names, and the time; furthermore, statements,
  /// faults, hits, misses, rows, and round trips, if there are any; the peak, if it was measured;
  /// and what differs between the migrations. If these are too many, only what's named and faults,
  /// hits, misses, rows, and round trips are shown.
  static func all(for variants: [VariantResult], _ metrics: ReportMetrics) -> [ReportColumn] {
    var shown: [ScopedMetric] = []
    func add(_ metric: ScopedMetric, if isRelevant: Bool = true) {
      if metrics.named.contains(metric) || isRelevant, !shown.contains(metric) {
        shown.append(metric)
      }
    }
    func isCounted(_ metric: Metric) -> Bool {
      variants.contains { ($0.metrics[metric] ?? 0) != 0 }
    }
    for metric in [.selects, .inserts, .updates, .deletes, .saves, .transactions] as [Metric] {
      add(ScopedMetric(metric), if: isCounted(metric))
    }
    let faults = [.faults, .hits, .misses].map { ScopedMetric($0) }
    let hasFaults = faults.contains { metrics.named.contains($0) || isCounted($0.metric) }
    for metric in faults { add(metric, if: hasFaults) }
    add(ScopedMetric(.rows), if: isCounted(.rows))
    add(ScopedMetric(.roundtrips), if: isCounted(.roundtrips))
    if let peak = peak(in: variants) { add(peak) }
    for metric in Metric.allCases where metric.isOfMigration {
      add(ScopedMetric(metric), if: Set(variants.map { $0.metrics[metric] ?? 0 }).count > 1)
    }
    for metric in Metric.allCases where metric.isOfPages {
      add(ScopedMetric(metric), if: variants.contains { $0.metrics[metric] != nil })
    }
    for metric in metrics.named { add(metric) }
    shown.removeAll { $0 == metrics.lead }
    if shown.count + 1 > limit {
      let kept = metrics.named + faults + [ScopedMetric(.rows), ScopedMetric(.roundtrips)]
      shown.removeAll { !kept.contains($0) }
    }
    var columns = shown.map(ReportColumn.metric)
    if variants.contains(where: { $0.processorNanoseconds > 0 }) { columns.append(.processor) }
    return columns + [.time]
  }

  var heading: String {
    switch self {
    case .metric(let metric): metric.heading
    case .processor: "CPU*"
    case .time: "time*"
    }
  }

  /// The sign before the heading, as in `faults = hits + misses`.
  var sign: String? {
    switch self {
    case .metric(ScopedMetric(.hits)): "="
    case .metric(ScopedMetric(.misses)): "+"
    default: nil
    }
  }

  func cell(of variant: VariantResult) -> ReportTable.Cell {
    switch self {
    case .metric(let scoped):
      let metric = scoped.metric
      let measured = variant.value(of: scoped) ?? (scoped.scope == .all ? 0 : nil)
      let value = measured ?? 0
      return ReportTable.Cell(
        metric: scoped.description, value: value, text: measured.map(NumberText.grouped) ?? "–",
        unit: scoped.unit(of: value),
        role: scoped.scope == .all ? metric.rawValue : "scoped")
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

  /// Returns the peak of the entity with the most objects among those whose peak was measured in
  /// all variants.
  private static func peak(in variants: [VariantResult]) -> ScopedMetric? {
    var greatest: [String: Int] = [:]
    for variant in variants {
      for (scoped, value) in variant.scopedMetrics where scoped.metric == .peak {
        guard case .entity(let name) = scoped.scope else { continue }
        greatest[name] = max(greatest[name] ?? 0, value)
      }
    }
    let shared = greatest.filter { name, _ in
      variants.allSatisfy { $0.value(of: ScopedMetric(.peak, .entity(name))) != nil }
    }
    return shared.max { ($0.value, $1.key) < ($1.value, $0.key) }
      .map { ScopedMetric(.peak, .entity($0.key)) }
  }
}
