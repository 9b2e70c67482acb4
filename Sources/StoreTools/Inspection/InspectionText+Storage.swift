import Foundation
import WorkbenchText

// Room, files, history and metadata of an inspection, for a terminal.

extension InspectionText {
  /// The tables and indexes that take the most room.
  static func spaces(_ inspection: StoreInspection) -> [String] {
    guard let spaces = inspection.spaces, !spaces.isEmpty else { return [] }
    let shown = spaces.prefix(spaceLimit)
    let width = shown.map(\.name.count).max() ?? 0
    let number = shown.map { NumberText.grouped($0.bytes).count }.max() ?? 0
    let total = spaces.reduce(0) { $0 + $1.bytes }
    let unused = spaces.reduce(0) { $0 + $1.unused }
    let rest = spaces.count - shown.count
    return ["", "Room of tables and indexes"]
      + shown.map { space in
        "  \(NumberText.left(space.name, width))   \(NumberText.right(space.bytes, number)) bytes"
          + "   \(percent(space.unused, of: space.bytes)) unused"
      }
      + (rest > 0 ? ["  and \(rest) more"] : [])
      + ["  \(percent(unused, of: total)) of all pages is unused"]
  }

  private static let spaceLimit = 20

  /// What lies beside the file, the history, the app's own metadata.
  static func storage(_ inspection: StoreInspection) -> [String] {
    var lines: [String] = []
    let external = inspection.externalFiles
    if external.count > 0 {
      lines.append(
        "  values outside    \(NumberText.counted(external.count, "file")), "
          + NumberText.counted(external.bytes, "byte"))
    }
    if let history = inspection.history {
      lines.append(
        "  history           \(NumberText.counted(history.transactions, "transaction")), "
          + NumberText.counted(history.changes, "change") + period(history))
    }
    for (key, value) in inspection.metadata {
      lines.append("  metadata          \(key) = \(value)")
    }
    return lines
  }

  private static func period(_ history: InspectedHistory) -> String {
    guard let first = history.first, let last = history.last else { return "" }
    return ", \(day(first)) to \(day(last))"
  }

  private static func day(_ seconds: Double) -> String {
    Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601.year().month().day())
  }

  private static func percent(_ part: Int, of whole: Int) -> String {
    whole == 0 ? "0 %" : "\(part * 100 / whole) %"
  }
}

extension InspectedSpread {
  /// `0 to 120, 8.3 in the mean, 4 with none`.
  func text(isToMany: Bool) -> String? {
    guard owners > 0 else { return nil }
    guard isToMany else { return empty == 0 ? nil : "\(NumberText.grouped(empty)) with none" }
    let tenths = Int((mean * 10).rounded())
    return "up to \(NumberText.grouped(most)), \(NumberText.grouped(tenths / 10)).\(tenths % 10) "
      + "in the mean, \(NumberText.grouped(empty)) with none"
  }
}
