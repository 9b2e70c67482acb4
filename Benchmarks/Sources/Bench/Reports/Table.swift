import Foundation

/// Formats the rows of a report for a terminal.
enum Table {
  static let header =
    pad("", 46) + left("floor ns", 15) + left("ours ns", 15) + left("ratio", 8)
    + left("medians", 9) + left("CPU", 8) + left("limit", 7) + "  "

  /// Returns a row: minimum and median times, ratios, and whether the limit is met.
  static func line(_ floor: Floor, _ peers: [Peer] = []) -> String {
    var text = pad(floor.name, 46)
    text += left(pair(floor.floorMinimum, floor.floorMedian), 15)
    text += left(pair(floor.oursMinimum, floor.oursMedian), 15)
    text += left(number(floor.ratio), 8)
    text += left(floor.medianRatio.map(number) ?? "", 9)
    text += left(floor.processorRatio.map(number) ?? "", 8)
    text += left(floor.limit.map { String(format: "%g", $0) } ?? "", 7)
    text += "  " + pad(floor.met.map { $0 ? "met" : "EXCEEDED" } ?? "", 9)
    if let plain = floor.plainRatio { text += " plain Swift \(number(plain))" }
    for peer in peers { text += " \(peer.name) \(number(peer.ratio))" }
    return text
  }

  /// Returns a number with about three significant digits.
  static func number(_ value: Double) -> String {
    String(format: value < 100 ? "%.2f" : "%.0f", value)
  }

  /// Returns `minimum / median`, or an empty string.
  static func pair(_ minimum: Double?, _ median: Double?) -> String {
    guard let minimum, let median else { return "" }
    let format = minimum < 100 ? "%.1f / %.1f" : "%.0f / %.0f"
    return String(format: format, minimum, median)
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(width - text.count, 1))
  }

  private static func left(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(width - text.count, 1)) + text
  }
}
