import Profiling
import WorkbenchText

/// One track drawn on an axis of some thousand units, 16 high.
struct ReportLane {
  /// Bars of a density strip.
  private static let bins = 400

  let name: String
  /// A class of the style sheet.
  let role: String
  let count: String
  let raw: Int
  /// Digits and letters of an SVG path only.
  let path: String
  /// Whether it is a density strip, which must say so.
  let isDensity: Bool

  /// - Parameters:
  ///   - length: Nanoseconds of the whole axis.
  ///   - units: Of the axis; more show more when the reader zooms in.
  ///   - tallest: Events in the fullest bar of any track of the variant, so that misses are seen to
  ///     be part of the faults.
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

  /// Events in the fullest bar of the tracks that are density strips; nil when none is.
  static func tallest(in tracks: [Track], length: UInt64) -> Int? {
    let strips = tracks.filter(\.isDensity)
    let most = strips.flatMap { histogram($0, length: length) }.max()
    return most.map { max(1, Int($0.rounded(.up))) }
  }

  /// Nanoseconds that one bar of a density strip stands for.
  static func barWidth(length: UInt64) -> UInt64 { length / UInt64(bins) }

  /// How many events lie in each bar; a mark that spans several is shared out evenly.
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

  /// An outline of bars; what is there at all is at least two units high.
  private static func strip(_ bars: [Double], units: Int, tallest: Int) -> String {
    func place(_ index: Int) -> Int { index * units / bins }
    var path = ""
    var level = 0
    for (index, bar) in bars.enumerated() {
      let height = bar > 0 ? max(2, Int((bar / Double(max(1, tallest)) * 16).rounded())) : 0
      guard height != level else { continue }
      path +=
        level == 0 ? "M\(place(index)) 16V\(16 - height)" : "H\(place(index))V\(16 - height)"
      if height == 0 { path += "Z" }
      level = height
    }
    return level == 0 ? path : path + "H\(units)V16Z"
  }

  /// A box for each mark, in steps from the one before; boxes that touch are one.
  ///
  /// A box may have no width: the style sheet's outline keeps it visible.
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
