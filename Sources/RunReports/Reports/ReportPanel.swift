import ProfileEvents
import Profiling
import ScenarioLanguage
import WorkbenchText

/// One variant's tracks with the steps below them.
struct ReportPanel {
  struct Band {
    /// In percent of the axis.
    var left: String
    var width: String
    var label: String
    /// A class of the style sheet: from which zoom on the label finds room.
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
  /// What the density strips must say of themselves.
  let density: String?

  init(
    _ variant: VariantResult, number: Int, length: UInt64, units: Int
  ) {
    name = variant.name
    id = "tracks-\(number)"
    isFirst = number == 1
    let tallest = ReportLane.tallest(in: variant.tracks, length: length)
    lanes = variant.tracks.map {
      ReportLane($0, length: length, units: units, tallest: tallest ?? 1)
    }
    density = tallest.map { tallest in
      let names = variant.tracks.filter(\.isDensity).map(\.name.rawValue)
      let width = NumberText.time(ReportLane.barWidth(length: length))
      return names.joined(separator: " and ") + (names.count == 1 ? " is" : " are")
        + " a density strip: a full bar stands for \(NumberText.grouped(tallest)) in \(width)"
    }
    bands = variant.steps.map { step in
      Band(
        left: ReportPanel.percent(step.offset, of: length),
        width: ReportPanel.percent(step.costs.nanoseconds, of: length),
        label: "\(step.location.line) \(step.text)",
        room: ReportPanel.room(step.costs.nanoseconds, of: length))
    }
    steps = variant.steps.map { step in
      Step(
        location: step.location.description, text: step.text,
        events: step.groups.isEmpty
          ? "no statement, no fault" : step.groups.map(\.phrase).joined(separator: ", "),
        time: NumberText.time(step.costs.nanoseconds))
    }
  }

  private static func room(_ part: UInt64, of whole: UInt64) -> String {
    if part > whole / 20 { return "wide" }
    return part > whole / 80 ? "mid" : "thin"
  }

  /// Bytes of all its paths.
  var pathLength: Int { lanes.reduce(0) { $0 + $1.path.utf8.count } }

  static func percent(_ part: UInt64, of whole: UInt64) -> String {
    let hundredths = Int((Double(part) / Double(whole) * 10_000).rounded())
    let places = hundredths % 100
    return "\(hundredths / 100).\(places < 10 ? "0" : "")\(places)"
  }
}

extension EventGroup {
  /// `5,000 × fault Mood (miss)`.
  var phrase: String {
    let source = sourceWord.isEmpty ? "" : " (\(sourceWord))"
    return "\(NumberText.grouped(count)) × \(word)\(subject.isEmpty ? "" : " \(subject)")\(source)"
  }
}
