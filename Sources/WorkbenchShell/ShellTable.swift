import OpenCoreData
import WorkbenchText

/// Rows with headings, printed in whichever mode the shell is in.
package struct ShellTable: Sendable, Equatable {
  /// One value.
  package enum Cell: Sendable, Equatable {
    case text(String)
    case number(Int)
    /// A number as SQLite prints it, to be pasted into a statement: never grouped.
    case literal(Int)
    case real(Double)
    /// Nanoseconds; a person reads milliseconds.
    case time(UInt64)
    case bytes([UInt8])
    case null
  }

  package let columns: [String]
  package let rows: [[Cell]]

  package init(_ columns: [String], _ rows: [[Cell]]) {
    self.columns = columns
    self.rows = rows
  }

  /// The lines in a mode, without ends of line.
  package func lines(_ mode: ShellMode) -> [String] {
    switch mode {
    case .table: aligned
    case .json: objects
    case .csv: ([columns.map(Cell.text)] + rows).flatMap(ShellTable.csv)
    case .line: pairs
    }
  }

  private var aligned: [String] {
    guard !rows.isEmpty else { return ["  no rows"] }
    let texts = rows.map { $0.map(\.shown) }
    let widths = columns.indices.map { column in
      max(columns[column].count, texts.map { $0[column].count }.max() ?? 0)
    }
    func line(_ cells: [String], _ isRight: (Int) -> Bool) -> String {
      let parts = cells.enumerated().map { index, cell in
        isRight(index)
          ? NumberText.right(cell, widths[index]) : NumberText.left(cell, widths[index])
      }
      let line = "  " + parts.joined(separator: "  ")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
    func isNumeric(_ column: Int) -> Bool {
      rows.allSatisfy { $0[column].isNumeric || $0[column] == .null }
    }
    let numeric = columns.indices.map(isNumeric)
    return [
      line(columns) { numeric[$0] },
      line(widths.map { String(repeating: "-", count: $0) }) { _ in false },
    ] + texts.map { line($0) { numeric[$0] } }
  }

  private var pairs: [String] {
    let width = columns.map(\.count).max() ?? 0
    return rows.enumerated().flatMap { index, row in
      (index > 0 ? [""] : [])
        + zip(columns, row).map { "\(NumberText.right($0, width)) = \($1.plain)" }
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

  /// The lines of a row: a quoted value may contain line feeds.
  private static func csv(_ row: [Cell]) -> [String] {
    row.map { quoted($0.plain) }.joined(separator: ",")
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  private static func quoted(_ text: String) -> String {
    guard text.contains(where: { ",\"".contains($0) || $0.isNewline }) else { return text }
    return "\"\(text.replacing("\"", with: "\"\""))\""
  }
}

extension ShellTable.Cell {
  fileprivate var isNumeric: Bool {
    switch self {
    case .number, .literal, .real, .time: true
    case .text, .bytes, .null: false
    }
  }

  /// As a person reads it: numbers grouped, control characters made visible, long bytes cut.
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
    case .literal, .bytes, .real, .null: plain
    }
  }

  /// The whole value; nothing for NULL.
  fileprivate var plain: String {
    switch self {
    case .text(let text): text
    case .number(let number), .literal(let number): String(number)
    case .real(let number): "\(number)"
    case .time(let time): String(time)
    case .bytes(let bytes): "x'\(Self.hex(bytes[...]))'"
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
    case .null: "null"
    }
  }

  private static func hex(_ bytes: ArraySlice<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
