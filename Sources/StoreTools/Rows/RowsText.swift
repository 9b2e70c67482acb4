package import Foundation
import OpenCoreData
import WorkbenchText

/// The text format of a row.
package enum RowsText {
  /// Returns a line with the row's URI, and one for each value.
  ///
  /// Long strings are truncated; of binary data, only the size is included.
  package static func lines(_ row: StoreRow) -> [String] {
    let width = row.values.map(\.name.count).max() ?? 0
    return [row.id] + row.values.map { "  \(NumberText.left($0.name, width))   \($0.value.line)" }
  }
}

/// The JSON format of rows: an array with one object for each row, which is written row by row.
///
/// Dates are ISO 8601 with milliseconds, in UTC. Binary data is Base64. A to-one relationship is a
/// URI, and a to-many relationship an array of URIs.
package struct RowsJSON {
  private var isFirst = true

  /// Creates a writer that hasn't written any rows.
  package init() {}

  /// Returns the JSON of a row, after a separator.
  package mutating func row(_ row: StoreRow) -> Data {
    let values = row.values.map { "\(quoted($0.name)): \($0.value.json)" }
    let line =
      "{\"entity\": \(quoted(row.entity)), \"id\": \(quoted(row.id)), "
      + "\"values\": {\(values.joined(separator: ", "))}}"
    defer { isFirst = false }
    return Data(((isFirst ? "[\n  " : ",\n  ") + line).utf8)
  }

  /// Returns the JSON after the last row.
  package func end() -> Data {
    Data((isFirst ? "[]\n" : "\n]\n").utf8)
  }

  private func quoted(_ text: String) -> String { JSONText.quoted(text) }
}

/// The CSV format of rows: a header line, and a line for each row.
///
/// Values are those of `RowsJSON`, except that binary data is hexadecimal, a to-many relationship's URIs
/// are separated by spaces, and a missing value is empty.
package struct RowsCSV {
  private let properties: [String]

  /// Creates a writer for rows.
  ///
  /// - Parameter properties: The names of the columns after `entity` and `id`.
  package init(_ properties: [String]) {
    self.properties = properties
  }

  /// The header line.
  package var header: [String] { CSVText.lines(["entity", "id"] + properties) }

  /// Returns the lines of a row, which are several if a value contains line feeds.
  package func lines(_ row: StoreRow) -> [String] {
    let values = Dictionary(row.values.map { ($0.name, $0.value.plain) }) { first, _ in first }
    return CSVText.lines([row.entity, row.id] + properties.map { values[$0] ?? "" })
  }
}

/// The text format of errors for rows that couldn't be read.
package enum DamagedRowsText {
  private static let most = 20

  /// Returns the first errors, one on each line, and the number of further errors.
  package static func list(_ errors: [NSError]) -> String {
    let shown = errors.prefix(most).map { ErrorText.of($0) }.joined(separator: "\n  ")
    return errors.count <= most ? shown : "\(shown)\n  … and \(errors.count - most) more"
  }
}
