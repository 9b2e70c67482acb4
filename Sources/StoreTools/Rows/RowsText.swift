import Foundation
import OpenCoreData
import WorkbenchText

/// A row as a person reads it in a terminal.
package enum RowsText {
  /// The row's URI, then a line a value; long texts are cut short, bytes are counted.
  package static func lines(_ row: StoreRow) -> [String] {
    let width = row.values.map(\.name.count).max() ?? 0
    return [row.id] + row.values.map { "  \(NumberText.left($0.name, width))   \(text($0.value))" }
  }

  private static let limit = 100

  private static func text(_ value: RowText) -> String {
    switch value {
    case .null: "nil"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .decimal(let value): "\(value)"
    case .date(let value): date(value)
    case .text(let value): "\"\(short(value))\""
    case .bytes(let value): NumberText.counted(value.count, "byte")
    case .object(let value): value
    case .objects(let values): list(values)
    case .group(let values):
      values.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }
        .joined(separator: ", ")
    }
  }

  /// The seconds of the years 1 to 9999, for which there are dates of four digits.
  private static let calendar = -63_114_076_800.0..<252_423_993_600.0

  private static func date(_ value: Date) -> String {
    let seconds = value.timeIntervalSinceReferenceDate
    return calendar.contains(seconds)
      ? value.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
      : "\(seconds) seconds from 2001-01-01"
  }

  private static func short(_ text: String) -> String {
    let scalars = text.unicodeScalars
    let start = PrintableText.line(String(String.UnicodeScalarView(scalars.prefix(limit))))
    return scalars.count > limit ? start + "…" : start
  }

  private static func list(_ uris: [String]) -> String {
    let shown = uris.prefix(3).joined(separator: ", ")
    return uris.count > 3
      ? "\(shown) and \(NumberText.grouped(uris.count - 3)) more"
      : uris.isEmpty ? "none" : shown
  }
}
