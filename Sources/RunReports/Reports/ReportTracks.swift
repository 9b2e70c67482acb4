import ProfileEvents
import RunResults
import ScenarioLanguage
import WorkbenchText

/// The timeline: a panel for each variant that's shown in detail, all with the same time axis.
struct ReportTracks {
  struct Tick {
    var position: String
    var label: String
  }

  /// The time axis with as many ticks as fit.
  struct Ruler {
    /// The width of the axis, as a multiple of the visible width.
    var zoom: Int
    var ticks: [Tick]
  }

  /// The zoom levels.
  static let zooms = [1, 4, 16]

  /// The maximum total size of the tracks' paths, in bytes.
  private static let pathBudget = 250_000

  /// The time at the end of the axis, formatted.
  let end: String
  let rulers: [Ruler]
  /// The number of units of the axis, as many as the size limit allows.
  let units: Int
  let panels: [ReportPanel]

  init(_ result: RunResult) {
    let detailed = result.detailedVariants
    let variants = detailed.map { result.variants[$0] }
    let length = max(1, variants.map(\.extent).max() ?? 1)
    end = NumberText.time(length)
    rulers = ReportTracks.zooms.map { zoom in
      Ruler(zoom: zoom, ticks: ReportTracks.ticks(length, atMost: 6 * zoom))
    }
    let steps = ReportVariant.Limits(variants).steps
    var units = 16_000
    while true {
      let panels = detailed.map { index in
        ReportPanel(
          result.variants[index], number: index + 1, isFirst: index == detailed.first,
          length: length, units: units, stepLimit: steps)
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

  /// Returns at most a number of ticks at round times.
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

  /// Returns a time with as many decimal places as the step between ticks requires.
  private static func label(_ time: UInt64, step: UInt64) -> String {
    let decimals = decimals(of: step)
    guard decimals > 0 else { return NumberText.time(time) }
    return NumberText.milliseconds(time).dropLast(3 - decimals) + " ms"
  }

  /// Returns the number of decimal places of a step in milliseconds.
  private static func decimals(of step: UInt64) -> Int {
    switch step {
    case 1_000_000...: 0
    case 100_000...: 1
    case 10_000...: 2
    default: 3
    }
  }
}

extension VariantResult {
  /// The time in nanoseconds at which the last event or step ended.
  var extent: UInt64 {
    let marks = tracks.flatMap(\.marks).map(\.end).max() ?? 0
    let steps = steps.map { $0.offset + $0.costs.nanoseconds }.max() ?? 0
    return max(marks, steps, 1)
  }
}

/// A track as an SVG path, 16 units high and up to several thousand wide.
struct ReportLane {
  /// The number of bars of an event density.
  private static let bins = 400

  let name: String
  /// A class of the style sheet.
  let role: String
  let count: String
  let raw: Int
  /// The SVG path, which needs no escaping.
  let path: String
  /// Whether the track shows event density, and must be labeled so.
  let isDensity: Bool

  /// - Parameters:
  ///   - track: The track to draw.
  ///   - length: The length of the axis in nanoseconds.
  ///   - units: The number of units of the axis; more units show more detail when zoomed in.
  ///   - tallest: The number of events in the fullest bar of any track of the variant, so that all
  ///     tracks have the same scale and misses are visibly part of the faults.
  init(_ track: Track, length: UInt64, units: Int, tallest: Int) {
    name = track.name.rawValue
    role = track.name.rawValue.lowercased().split(separator: " ").joined(separator: "-")
    count = NumberText.grouped(track.count)
    raw = track.count
    if track.isDensity {
      path = ReportLane.strip(
        ReportLane.histogram(track, length: length), units: units, tallest: tallest)
    } else {
      path = ReportLane.marks(track.marks, length: length, units: units)
    }
    isDensity = track.isDensity
  }

  /// Returns the number of events in the fullest bar of the tracks that show event density, or
  /// `nil` if none does.
  static func tallest(in tracks: [Track], length: UInt64) -> Int? {
    let strips = tracks.filter(\.isDensity)
    let most = strips.flatMap { histogram($0, length: length) }.max()
    return most.map { max(1, Int($0.rounded(.up))) }
  }

  /// Returns the duration that a bar of the event density represents, in nanoseconds.
  static func barWidth(length: UInt64) -> UInt64 { length / UInt64(bins) }

  /// Returns the number of events in each bar; a mark across several bars is distributed evenly.
  private static func histogram(_ track: Track, length: UInt64) -> [Double] {
    var result = [Double](repeating: 0, count: bins)
    let width = Double(length) / Double(bins)
    for mark in track.marks {
      let begin = Double(mark.begin) / width
      let end = max(begin, Double(mark.end) / width)
      let first = min(bins - 1, Int(begin))
      let last = min(bins - 1, Int(end))
      guard last > first else {
        result[first] += Double(mark.count)
        continue
      }
      let density = Double(mark.count) / (end - begin)
      for bin in first...last {
        result[bin] += density * (min(end, Double(bin + 1)) - max(begin, Double(bin)))
      }
    }
    return result
  }

  /// Returns the outline of the bars; a bar that isn't empty is at least two units high.
  private static func strip(_ bars: [Double], units: Int, tallest: Int) -> String {
    func x(_ index: Int) -> Int { index * units / bins }
    var path = ""
    var level = 0
    for (index, bar) in bars.enumerated() {
      let height = bar > 0 ? max(2, Int((bar / Double(max(1, tallest)) * 16).rounded())) : 0
      guard height != level else { continue }
      path +=
        level == 0 ? "M\(x(index)) 16V\(16 - height)" : "H\(x(index))V\(16 - height)"
      if height == 0 { path += "Z" }
      level = height
    }
    return level == 0 ? path : path + "H\(units)V16Z"
  }

  /// Returns a box for each mark, relative to the previous one; boxes that touch are merged.
  ///
  /// A box can have a width of 0; the stroke in the style sheet makes it visible.
  private static func marks(_ marks: [Track.Mark], length: UInt64, units: Int) -> String {
    let unit = Double(length) / Double(units)
    var boxes: [(begin: Int, end: Int)] = []
    for mark in marks {
      let begin = min(units, Int(Double(mark.begin) / unit))
      let end = min(units, max(begin, Int((Double(mark.end) / unit).rounded(.up))))
      if let last = boxes.indices.last, begin <= boxes[last].end {
        boxes[last].end = max(boxes[last].end, end)
      } else {
        boxes.append((begin, end))
      }
    }
    var path = ""
    var before = 0
    for box in boxes {
      let width = box.end - box.begin
      path += path.isEmpty ? "M\(box.begin) 1" : "m\(box.begin - before) 0"
      path += width > 0 ? "h\(width)v14h-\(width)z" : "v14z"
      before = box.begin
    }
    return path
  }
}

/// The tracks of a variant, with its steps below them.
struct ReportPanel {
  struct Band {
    /// The position in percent of the axis.
    var left: String
    var width: String
    var label: String
    /// A class of the style sheet that determines at which zoom level the label is shown.
    var room: String
  }

  struct Step {
    var location: String
    var text: String
    var events: String
    var time: String
  }

  let name: String
  let id: String
  let isFirst: Bool
  let lanes: [ReportLane]
  let bands: [Band]
  let steps: [Step]
  let moreSteps: String?
  /// The legend of the event density; `nil` if no track shows it.
  let density: String?

  init(
    _ variant: VariantResult, number: Int, isFirst: Bool, length: UInt64, units: Int,
    stepLimit: Int
  ) {
    name = variant.name
    id = "tracks-\(number)"
    self.isFirst = isFirst
    let tallest = ReportLane.tallest(in: variant.tracks, length: length)
    lanes = variant.tracks.map {
      ReportLane($0, length: length, units: units, tallest: tallest ?? 1)
    }
    density = tallest.map { tallest in
      let names = variant.tracks.filter(\.isDensity).map(\.name.rawValue)
      let width = NumberText.time(ReportLane.barWidth(length: length))
      return names.joined(separator: " and ") + (names.count == 1 ? " is" : " are")
        + " event density: a full bar is \(NumberText.counted(tallest, "event")) in \(width)"
    }
    let shown = variant.steps.prefix(stepLimit)
    moreSteps =
      shown.count < variant.steps.count
      ? NumberText.grouped(variant.steps.count - shown.count) : nil
    bands = shown.map { step in
      Band(
        left: ReportPanel.percent(step.offset, of: length),
        width: ReportPanel.percent(step.costs.nanoseconds, of: length),
        label: "\(step.location.line) \(step.text)",
        room: ReportPanel.room(step.costs.nanoseconds, of: length))
    }
    steps = shown.map { step in
      Step(
        location: step.location.description, text: step.text,
        events: step.groups.isEmpty
          ? "no statements, no faults" : step.groups.phrases.joined(separator: ", "),
        time: NumberText.time(step.costs.nanoseconds))
    }
  }

  private static func room(_ part: UInt64, of whole: UInt64) -> String {
    if part > whole / 20 { return "wide" }
    return part > whole / 80 ? "mid" : "thin"
  }

  /// The size of the panel's paths, in bytes.
  var pathLength: Int { lanes.reduce(0) { $0 + $1.path.utf8.count } }

  static func percent(_ part: UInt64, of whole: UInt64) -> String {
    let hundredths = Int((Double(part) / Double(whole) * 10_000).rounded())
    let decimals = hundredths % 100
    return "\(hundredths / 100).\(decimals < 10 ? "0" : "")\(decimals)"
  }
}

extension [EventGroup] {
  /// The groups in words; the steps of migrations, which all differ, are one phrase.
  fileprivate var phrases: [String] {
    let steps = filter { $0.word == EventKind.migrationStep.groupWord }
    let count = steps.reduce(0) { $0 + $1.count }
    let others = filter { $0.word != EventKind.migrationStep.groupWord }.map(\.phrase)
    guard count > 0 else { return others }
    let rows = steps.reduce(0) { $0 + $1.rows }
    return others + [
      "\(NumberText.counted(count, "step")) of migrations, "
        + "\(NumberText.counted(rows, "row")) written"
    ]
  }
}

extension EventGroup {
  /// The group in words, such as `5,000 × fault Mood (miss)`.
  fileprivate var phrase: String {
    let source = sourceWord.isEmpty ? "" : " (\(sourceWord))"
    return "\(NumberText.grouped(count)) × \(word)\(subject.isEmpty ? "" : " \(subject)")\(source)"
  }
}
