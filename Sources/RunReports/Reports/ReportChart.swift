import Foundation
import WorkbenchText

/// Lines over two logarithmic axes, 560 wide and 220 high, with a name at the end of each line.
///
/// No logarithm has zero: where a count is 0, the axis has a line for it, one step below that for 1.
struct ReportChart {
  struct Line {
    /// Points of an SVG polyline: digits only.
    var points: String
    var dots: [Dot]
    /// A class of the style sheet, which gives dashes and colour.
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
  /// The variants' names, moved apart where lines end close to one another.
  let names: [Label]
  let scales: [Label]
  let values: [Label]
  /// Where the axis of values is: behind the widest of its labels.
  let left: Int
  /// Where the last scale is.
  let right = ReportChart.right

  private static let leastLeft = 56
  private static let right = 330
  private static let top = 12
  private static let bottom = 196
  /// Characters that find room beside the end of a line.
  private static let longest = 34
  /// Height of a line of text.
  private static let leading = 15
  /// Width of a digit, or less.
  private static let digit = 7
  /// Blank between an axis and its labels.
  private static let gap = 8

  /// - Parameters:
  ///   - scales: in rising order.
  ///   - lines: for each name its values at the scales.
  init(scales: [Int], names: [String], lines: [[Int]]) {
    let counts = lines.flatMap(\.self)
    let powers = Self.powers(upTo: counts.max() ?? 1)
    let ticks = (counts.contains { $0 < 1 } ? [0] : []) + powers
    let left = max(
      Self.leastLeft,
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
      // Beyond the last power of ten that a number holds there is no more room.
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
    // As many as find room under one another.
    let step = (ticks.count * (Self.leading - 1)) / (Self.bottom - Self.top) + 1
    values = ticks.enumerated().compactMap { place, value in
      guard place.isMultiple(of: step) else { return nil }
      return Label(left: left - Self.gap, top: y(value) + 4, text: NumberText.grouped(value))
    }
  }

  /// 1, 10, 100 and so on, to the first that is no less than a number, and 10 at the least.
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

  /// Moves labels up and down until none lies on another; those of one place share a line.
  private static func apart(_ labels: [Label]) -> [Label] {
    var joined: [Label] = []
    for label in labels.sorted(by: { $0.top < $1.top }) {
      if let last = joined.indices.last, joined[last].top == label.top {
        joined[last].text += ", \(label.text)"
        if joined[last].text.count > longest {
          joined[last].text = String(joined[last].text.prefix(longest - 1)) + "…"
        }
      } else {
        joined.append(label)
      }
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
