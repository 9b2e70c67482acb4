/// What happened when: one panel a variant, all on one time axis.
struct ReportTracks {
  struct Tick {
    var position: String
    var label: String
  }

  /// The end of the axis in words.
  let end: String
  let ticks: [Tick]
  let panels: [ReportPanel]

  init(_ result: RunResult) {
    let length = max(1, result.variants.map(\.extent).max() ?? 1)
    end = NumberText.time(length)
    ticks = ReportTracks.ticks(length)
    panels = result.variants.enumerated().map { index, variant in
      ReportPanel(variant, number: index + 1, length: length)
    }
  }

  /// About five ticks at round times.
  static func ticks(_ length: UInt64) -> [Tick] {
    var step: UInt64 = 1_000
    let factors: [UInt64] = [2, 5, 2]
    var turn = 0
    while length / step > 6 {
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
