import Foundation

/// Lines over two logarithmic axes, 560 wide and 220 high, with a name at the end of each line.
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

  private static let left = 56
  private static let right = 330
  private static let top = 12
  private static let bottom = 196
  /// Characters that find room beside the end of a line.
  private static let longest = 34
  /// Height of a line of text.
  private static let leading = 15

  /// - Parameters:
  ///   - scales: in rising order.
  ///   - lines: for each name its values at the scales.
  init(scales: [Int], names: [String], lines: [[Int]]) {
    let most = max(1, lines.flatMap(\.self).max() ?? 1)
    let decades = max(1, Int(Self.log(Double(most), base: 10).rounded(.up)))
    func x(_ scale: Int) -> Int {
      guard let low = scales.first, let high = scales.last, high > low else { return Self.left }
      let part = Self.log(Double(scale) / Double(low), base: Double(high) / Double(low))
      return Self.left + Int((Double(Self.right - Self.left) * part).rounded())
    }
    func y(_ value: Int) -> Int {
      // A count of nothing lies on the floor, as no logarithm has it.
      let part = Self.log(Double(max(1, value)), base: 10) / Double(decades)
      return Self.bottom - Int((Double(Self.bottom - Self.top) * part).rounded())
    }
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
    values = (0...decades).map { power in
      let value = Int(pow(10, Double(power)))
      return Label(left: Self.left - 8, top: y(value) + 4, text: NumberText.grouped(value))
    }
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
