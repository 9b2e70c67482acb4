package import Foundation
import WorkbenchText

/// Rows as JSON: an array with an object a row, written row by row.
///
/// Dates are seconds since 2001-01-01 UTC, as in the file; bytes are in base 64; a relationship is
/// the URI of its object, a to-many one an array of them.
package struct RowsJSON {
  private var isFirst = true

  /// Before the first row.
  package init() {}

  /// One row, with what stands before it.
  package mutating func row(_ row: StoreRow) -> Data {
    let values = row.values.map { "\(quoted($0.name)): \(text($0.value))" }
    let line =
      "{\"entity\": \(quoted(row.entity)), \"id\": \(quoted(row.id)), "
      + "\"values\": {\(values.joined(separator: ", "))}}"
    defer { isFirst = false }
    return Data(((isFirst ? "[\n  " : ",\n  ") + line).utf8)
  }

  /// What stands behind the last row.
  package func end() -> Data {
    Data((isFirst ? "[]\n" : "\n]\n").utf8)
  }

  private func text(_ value: RowText) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .real(let value): number(value)
    case .decimal(let value): value.isNaN ? "null" : "\(value)"
    case .date(let value): number(value.timeIntervalSinceReferenceDate)
    case .text(let value), .object(let value): quoted(value)
    case .bytes(let value): quoted(value.base64EncodedString())
    case .objects(let values): "[\(values.map(quoted).joined(separator: ", "))]"
    case .group(let values):
      "{"
        + values.sorted { $0.key < $1.key }.map { "\(quoted($0.key)): \(text($0.value))" }
        .joined(separator: ", ") + "}"
    }
  }

  /// JSON has no infinity and no NaN; they are texts.
  private func number(_ value: Double) -> String {
    value.isFinite ? "\(value)" : quoted("\(value)")
  }

  private func quoted(_ text: String) -> String { JSONText.quoted(text) }
}
