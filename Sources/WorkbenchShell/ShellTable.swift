import Foundation
import OpenCoreData
package import WorkbenchText

/// Rows with column names, which the shell prints in its current mode.
package struct ShellTable: Sendable, Equatable {
  /// A value of a row.
  package enum Cell: Sendable, Equatable {
    case text(String)
    case number(Int)
    /// An integer that's printed without grouping, so that it can be pasted into a statement.
    case literal(Int)
    case real(Double)
    /// A time in nanoseconds; the `table` mode prints milliseconds.
    case time(UInt64)
    case bytes([UInt8])
    /// The value of a property.
    case value(RowText)
    case null
  }

  package let columns: [String]
  package let rows: [[Cell]]

  package init(_ columns: [String], _ rows: [[Cell]]) {
    self.columns = columns
    self.rows = rows
  }

  /// Returns the lines of the table in a mode, without line feeds.
  ///
  /// - Parameters:
  ///   - mode: The mode.
  ///   - width: The width of the screen in columns, to which the `table` mode truncates strings
  ///     and omits columns on the right; `nil` for no limit.
  package func lines(_ mode: ShellMode, width: Int? = nil) -> [String] {
    switch mode {
    case .table: aligned(width)
    case .json: objects
    case .csv: ([columns.map(Cell.text)] + rows).flatMap { CSVText.lines($0.map(\.plain)) }
    case .line: pairs
    }
  }

  private func aligned(_ width: Int?) -> [String] {
    guard !rows.isEmpty else { return ["  no rows"] }
    let titles = columns.map(PrintableText.line)
    let texts = rows.map { $0.map(\.shown) }
    let numeric = columns.indices.map { column in
      rows.allSatisfy { $0[column].isNumeric || $0[column] == .null }
    }
    let widths = ColumnWidths(
      columns.indices.map { column in
        max(TextWidth.of(titles[column]), texts.map { TextWidth.of($0[column]) }.max() ?? 0)
      }, fixed: numeric, in: width
    ).values
    func line(_ cells: [String], _ isRight: (Int) -> Bool) -> String {
      let parts = zip(cells, widths).enumerated().map { index, cell in
        let text = TextWidth.truncated(cell.0, columns: cell.1)
        return isRight(index)
          ? NumberText.right(text, cell.1) : NumberText.left(text, cell.1)
      }
      let line = "  " + parts.joined(separator: "  ")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
    let hidden = titles.dropFirst(widths.count)
    let note =
      hidden.isEmpty
      ? []
      : [
        "  \(NumberText.counted(hidden.count, "more column")): \(hidden.joined(separator: ", ")); "
          + "`mode line` shows all"
      ]
    return [
      line(titles) { numeric[$0] },
      line(widths.map { String(repeating: "-", count: $0) }) { _ in false },
    ] + texts.map { line($0) { numeric[$0] } } + note
  }

  private var pairs: [String] {
    let width = columns.map { TextWidth.of($0) }.max() ?? 0
    return rows.enumerated().flatMap { index, row in
      (index > 0 ? [""] : [])
        + zip(columns, row).map { "\(NumberText.right($0, width)) = \($1.whole)" }
    }
  }

  private var objects: [String] {
    let lines = rows.map { row in
      let pairs = zip(columns, row).map { "\(JSONText.quoted($0)): \($1.json)" }
      return "{\(pairs.joined(separator: ", "))}"
    }
    guard let last = lines.last else { return ["[]"] }
    return ["["] + lines.dropLast().map { "  \($0)," } + ["  \(last)", "]"]
  }
}

extension ShellTable.Cell {
  fileprivate var isNumeric: Bool {
    switch self {
    case .number, .literal, .real, .time: true
    case .value(.integer), .value(.real), .value(.decimal): true
    case .text, .bytes, .value, .null: false
    }
  }

  /// The complete value for the `line` mode.
  fileprivate var whole: String {
    switch self {
    case .null, .value(.null): "NULL"
    default: plain
    }
  }

  /// The value for the `table` mode: digits grouped, control characters escaped, long blobs
  /// truncated.
  fileprivate var shown: String {
    switch self {
    case .number(let number): NumberText.grouped(number)
    case .time(let time): NumberText.time(time)
    case .text(let text):
      PrintableText.line(
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
          .joined(separator: "⏎"))
    case .bytes(let bytes) where bytes.count > 16:
      "x'\(Self.hex(bytes.prefix(16)))…' (\(NumberText.counted(bytes.count, "byte")))"
    case .value(let value): value.cell
    case .null: "NULL"
    case .literal, .bytes, .real: plain
    }
  }

  /// The complete value; an empty string for NULL.
  fileprivate var plain: String {
    switch self {
    case .text(let text): text
    case .number(let number), .literal(let number): String(number)
    case .real(let number): "\(number)"
    case .time(let time): String(time)
    case .bytes(let bytes): "x'\(Self.hex(bytes[...]))'"
    case .value(let value): value.plain
    case .null: ""
    }
  }

  fileprivate var json: String {
    switch self {
    case .text(let text): JSONText.quoted(text)
    // JSON has no infinities and no NaN.
    case .real(let number) where !number.isFinite: JSONText.quoted("\(number)")
    case .number, .literal, .real, .time: plain
    case .bytes: JSONText.quoted(plain)
    case .value(let value): value.json
    case .null: "null"
    }
  }

  private static func hex(_ bytes: ArraySlice<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

/// The widths of the columns of a table that fit a screen.
struct ColumnWidths {
  /// The widths of the leading columns that fit, in columns.
  private(set) var values: [Int]

  /// The width below which no column is truncated.
  private static let least = 12
  private static let gap = 2

  /// Creates the widths of the columns.
  ///
  /// - Parameters:
  ///   - natural: The widths that the columns need.
  ///   - fixed: Whether a column can't be truncated, because it contains numbers.
  ///   - screen: The width of the screen; `nil` for no limit.
  init(_ natural: [Int], fixed: [Bool], in screen: Int?) {
    values = natural
    guard let screen else { return }
    while total > screen {
      let wide = values.indices.filter { !fixed[$0] && values[$0] > ColumnWidths.least }
      guard let widest = wide.max(by: { values[$0] < values[$1] }) else { break }
      // Columns of the same width are narrowed in turn, here by several characters at once.
      let level = wide.filter { values[$0] == values[widest] }
      let below = wide.map { values[$0] }.filter { $0 < values[widest] }.max()
      let rounds = min(
        (total - screen) / level.count, values[widest] - (below ?? ColumnWidths.least))
      if rounds > 1 {
        for column in level { values[column] -= rounds }
        continue
      }
      let next = wide.filter { $0 != widest }.map { values[$0] }.max() ?? 0
      values[widest] = max(
        ColumnWidths.least, min(values[widest] - 1, next), values[widest] - (total - screen))
    }
    while total > screen, values.count > 1 { values.removeLast() }
    if total > screen { values[0] = max(ColumnWidths.least, screen - ColumnWidths.gap) }
  }

  private var total: Int { values.reduce(0) { $0 + $1 + ColumnWidths.gap } }
}

/// The format in which the shell prints rows.
package enum ShellMode: String, CaseIterable, Sendable {
  /// Aligned columns.
  case table
  /// An array of JSON objects, one per line.
  case json
  /// Comma-separated values (RFC 4180) with a header line.
  case csv
  /// One value per line, as `name = value`, with an empty line between rows.
  case line
}
