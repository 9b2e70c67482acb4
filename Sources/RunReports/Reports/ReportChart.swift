import Foundation
import ProfileEvents
import RunResults
import ScenarioLanguage
import WorkbenchText

/// A line chart with two logarithmic axes, 560 × 220 units, with a name at the end of each line.
///
/// Zero has no logarithm: if a count is 0, the axis has a line for 0, one step below the line for
/// 1.
package struct ReportChart {
  struct Line {
    /// The points of an SVG polyline, which need no escaping.
    var points: String
    var dots: [Dot]
    /// A class of the style sheet, which sets the dashes and the color.
    var role: String
  }

  struct Dot {
    var left: Int
    var top: Int
  }

  struct Label {
    var left: Int
    var top: Int
    var text: String
  }

  let lines: [Line]
  /// The names of the variants, moved apart if lines end close to each other.
  let names: [Label]
  let scales: [Label]
  let values: [Label]
  /// The position of the value axis, to the right of its widest label.
  let left: Int
  /// The position of the last scale.
  let right = ReportChart.right

  private static let minimumLeftMargin = 56
  private static let right = 330
  private static let top = 12
  private static let bottom = 196
  /// The number of characters that fit next to the end of a line.
  private static let longest = 34
  /// The height of a line of text.
  private static let leading = 15
  /// The number of names that fit below each other.
  private static let fitting = (bottom - top) / leading + 1
  /// The maximum width of a digit.
  private static let digit = 7
  /// The space between an axis and its labels.
  private static let gap = 8

  /// Lays out a chart.
  ///
  /// - Parameters:
  ///   - scales: The scales in ascending order.
  ///   - names: The name of each line.
  ///   - lines: The values of each line at the scales.
  package init(scales: [Int], names: [String], lines: [[Int]]) {
    let counts = lines.flatMap(\.self)
    let powers = Self.powers(upTo: counts.max() ?? 1)
    let ticks = (counts.contains { $0 < 1 } ? [0] : []) + powers
    let left = max(
      Self.minimumLeftMargin,
      (ticks.map { NumberText.grouped($0).count }.max() ?? 0) * Self.digit + 2 * Self.gap)
    func x(_ scale: Int) -> Int {
      guard let low = scales.first, let high = scales.last, low > 0, high > low, scale >= low
      else { return left }
      let part = Self.log(Double(scale) / Double(low), base: Double(high) / Double(low))
      return left + Int((Double(Self.right - left) * part).rounded())
    }
    let floor = ticks.count - powers.count
    func y(_ value: Int) -> Int {
      guard value > 0, let most = powers.last else { return Self.bottom }
      let height = Self.log(Double(value), base: 10) + Double(floor)
      let part = height / (Self.log(Double(most), base: 10) + Double(floor))
      // A value can exceed the largest power of ten that fits in an integer.
      return Self.bottom - Int((Double(Self.bottom - Self.top) * min(part, 1)).rounded())
    }
    self.left = left
    self.lines = lines.enumerated().map { index, values in
      let dots = zip(scales, values).map { Dot(left: x($0), top: y($1)) }
      return Line(
        points: dots.map { "\($0.left),\($0.top)" }.joined(separator: " "), dots: dots,
        role: "line-\(index % 6 + 1)")
    }
    self.names = Self.apart(
      zip(names, lines).compactMap { name, values in
        values.last.map { Label(left: Self.right + 8, top: y($0) + 4, text: name) }
      })
    self.scales = scales.map {
      Label(left: x($0), top: Self.bottom + 18, text: NumberText.grouped($0))
    }
    // Label as many ticks as fit below each other.
    let step = (ticks.count * (Self.leading - 1)) / (Self.bottom - Self.top) + 1
    values = ticks.enumerated().compactMap { position, value in
      guard position.isMultiple(of: step) else { return nil }
      return Label(left: left - Self.gap, top: y(value) + 4, text: NumberText.grouped(value))
    }
  }

  /// Returns 1, 10, and further powers of ten up to the first that isn't less than a number.
  private static func powers(upTo most: Int) -> [Int] {
    var powers = [1, 10]
    while let last = powers.last, last < most {
      let (next, overflows) = last.multipliedReportingOverflow(by: 10)
      if overflows { break }
      powers.append(next)
    }
    return powers
  }

  static func log(_ number: Double, base: Double) -> Double {
    Foundation.log(number) / Foundation.log(base)
  }

  /// Moves labels vertically so that they don't overlap.
  ///
  /// Labels at the same position are joined, and the closest ones if there are more than fit; those
  /// that are too long are truncated.
  private static func apart(_ labels: [Label]) -> [Label] {
    var joined: [Label] = []
    for label in labels.sorted(by: { $0.top < $1.top }) {
      if let last = joined.indices.last, joined[last].top == label.top {
        joined[last].text += ", \(label.text)"
      } else {
        joined.append(label)
      }
    }
    func distance(_ index: Int) -> Int { joined[index].top - joined[index - 1].top }
    while joined.count > fitting,
      let closest = joined.indices.dropFirst().min(by: { distance($0) < distance($1) })
    {
      joined[closest - 1].text += ", \(joined[closest].text)"
      joined.remove(at: closest)
    }
    for index in joined.indices where joined[index].text.count > longest {
      joined[index].text = String(joined[index].text.prefix(longest - 1)) + "…"
    }
    for index in joined.indices.dropFirst() {
      joined[index].top = max(joined[index].top, joined[index - 1].top + leading)
    }
    let over = (joined.last?.top ?? 0) - (bottom + 4)
    guard over > 0 else { return joined }
    var floor = bottom + 4
    for index in joined.indices.reversed() {
      joined[index].top = min(joined[index].top, floor)
      floor = joined[index].top - leading
    }
    return joined
  }
}

/// How counts grow with the scale: a chart and a table for each relevant metric.
struct ReportCurves {
  struct Curve {
    var heading: String
    /// A description of the chart for assistive technology.
    var title: String
    var chart: ReportChart
    var scales: [String]
    var rows: [Row]
  }

  struct Row {
    var name: String
    var values: [String]
    /// The growth in words, such as `constant` or `linear`.
    var growth: String
  }

  let curves: [Curve]

  /// The maximum number of charts; the first is of the metric with the bars.
  private static let limit = 4

  /// Returns `nil` for a run at a single scale.
  init?(_ result: RunResult, lead: ScopedMetric) {
    let runs = ([ScaledRun(result)] + result.scales).sorted { $0.scale < $1.scale }
    guard runs.count > 1 else { return nil }
    let usual: [Metric] = [.selects, .rows, .misses, .faults, .peak, .inserts, .updates]
    var metrics: [ScopedMetric] = []
    for metric in [lead] + usual.map({ ScopedMetric($0) }) where !metrics.contains(metric) {
      let values = runs.flatMap { $0.variants.map { $0.value(of: metric) ?? 0 } }
      if metric == lead || Set(values).count > 1 { metrics.append(metric) }
    }
    curves = metrics.prefix(ReportCurves.limit).map { metric in
      ReportCurves.curve(metric, runs, names: result.variants.map(\.name))
    }
  }

  private static func curve(_ metric: ScopedMetric, _ runs: [ScaledRun], names: [String]) -> Curve {
    let lines = names.map { name in
      runs.map { run in run.variants.first { $0.name == name }?.value(of: metric) ?? 0 }
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

  /// Returns the growth of values with the scale, in words or as a power of the scale.
  static func growth(from values: [Int], at scales: [Int]) -> String {
    guard let first = values.first, let last = values.last, let low = scales.first,
      let high = scales.last, high > low
    else { return "" }
    if Set(values).count == 1 { return "constant" }
    guard first > 0, last > 0 else { return first < last ? "grows" : "shrinks" }
    // With a constant and a growing part, the last two values show the growth best.
    let before = values[values.count - 2]
    let part = Double(scales[scales.count - 1]) / Double(scales[scales.count - 2])
    guard before > 0, part > 1 else { return last < first ? "shrinks" : "grows" }
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
