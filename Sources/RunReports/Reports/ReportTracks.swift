import Profiling
import WorkbenchText

/// What happened when: one panel a variant, all on one time axis.
struct ReportTracks {
  struct Tick {
    var position: String
    var label: String
  }

  /// The axis with as many ticks as find room.
  struct Ruler {
    /// How many times as wide as the box it is seen in.
    var zoom: Int
    var ticks: [Tick]
  }

  /// How many times the tracks can be made wider.
  static let zooms = [1, 4, 16]

  /// Bytes that the paths of all tracks may take together.
  private static let pathBudget = 250_000

  /// The end of the axis in words.
  let end: String
  let rulers: [Ruler]
  /// Of the axis; as many as the budget allows.
  let units: Int
  let panels: [ReportPanel]

  init(_ result: RunResult) {
    let length = max(1, result.variants.map(\.extent).max() ?? 1)
    end = NumberText.time(length)
    rulers = ReportTracks.zooms.map { zoom in
      Ruler(zoom: zoom, ticks: ReportTracks.ticks(length, atMost: 6 * zoom))
    }
    var units = 16_000
    while true {
      let panels = result.variants.enumerated().map { index, variant in
        ReportPanel(variant, number: index + 1, length: length, units: units)
      }
      let bytes = panels.reduce(0) { $0 + $1.pathLength }
      if bytes <= ReportTracks.pathBudget || units <= 500 {
        self.units = units
        self.panels = panels
        return
      }
      units /= 2
    }
  }

  /// About as many ticks as there is room for, at round times.
  static func ticks(_ length: UInt64, atMost limit: Int = 6) -> [Tick] {
    var step: UInt64 = 1_000
    let factors: [UInt64] = [2, 5, 2]
    var turn = 0
    while length / step > UInt64(limit) {
      step = step / (turn % 3 == 1 ? 2 : 1) * factors[turn % 3]
      turn += 1
    }
    return stride(from: UInt64(0), through: length, by: Int(step)).map { time in
      Tick(
        position: ReportPanel.percent(time, of: length), label: label(time, step: step))
    }
  }

  /// With as many places as the steps between ticks have: `1.5 ms` is not `2 ms`.
  private static func label(_ time: UInt64, step: UInt64) -> String {
    let places = places(of: step)
    guard places > 0 else { return NumberText.time(time) }
    return NumberText.milliseconds(time).dropLast(3 - places) + " ms"
  }

  /// Decimal places of a step in milliseconds.
  private static func places(of step: UInt64) -> Int {
    switch step {
    case 1_000_000...: 0
    case 100_000...: 1
    case 10_000...: 2
    default: 3
    }
  }
}

extension VariantResult {
  /// Nanoseconds until the last event or step was over.
  var extent: UInt64 {
    let marks = tracks.flatMap(\.marks).map(\.end).max() ?? 0
    let steps = steps.map { $0.offset + $0.costs.nanoseconds }.max() ?? 0
    return max(marks, steps, 1)
  }
}
