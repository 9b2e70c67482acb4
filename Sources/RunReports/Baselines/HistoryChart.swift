import WorkbenchText

/// A chart of one count over the runs of a history, 560 × 120 units.
///
/// The count is a line with a step at each change. The vertical axis is linear and goes from the
/// lowest to the highest count, so that a small change is visible.
struct HistoryChart {
  struct Point: Equatable {
    var left: Int
    var top: Int
  }

  struct Label {
    var top: Int
    var text: String
  }

  /// The points of an SVG polyline.
  let points: String
  /// The runs in which the count differs from that of the run before.
  let dots: [Point]
  /// The highest and the lowest count.
  let values: [Label]
  let left: Int
  let right = 552
  static let top = 14
  static let bottom = 96

  /// - Parameters:
  ///   - counts: The counts with the indexes of their runs, in ascending order.
  ///   - runs: The number of runs.
  init(_ counts: [(run: Int, count: Int)], runs: Int) {
    let lowest = counts.map(\.count).min() ?? 0
    let highest = counts.map(\.count).max() ?? 0
    let widest = [lowest, highest].map { NumberText.grouped($0).count }.max() ?? 0
    let left = max(48, widest * 7 + 16)
    let width = Double(right - left)
    func point(_ run: Int, _ count: Int) -> Point {
      let across = runs > 1 ? Double(run) / Double(runs - 1) : 0
      // Counts are at most `InputLimits.value`, so their difference can't overflow.
      let up = highest > lowest ? Double(count - lowest) / Double(highest - lowest) : 0
      let height = Double(HistoryChart.bottom - HistoryChart.top)
      return Point(
        left: left + Int((width * across).rounded()),
        top: HistoryChart.bottom - Int((height * up).rounded()))
    }
    self.left = left
    var line: [Point] = []
    var dots: [Point] = []
    var last: Int?
    for (run, count) in counts where count != last {
      let next = point(run, count)
      if let before = line.last { line.append(Point(left: next.left, top: before.top)) }
      line.append(next)
      dots.append(next)
      last = count
    }
    if let end = counts.last { line.append(point(end.run, end.count)) }
    points = line.map { "\($0.left),\($0.top)" }.joined(separator: " ")
    self.dots = dots
    values = (highest > lowest ? [highest, lowest] : [lowest]).map {
      Label(top: point(0, $0).top + 4, text: NumberText.grouped($0))
    }
  }
}
