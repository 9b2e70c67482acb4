import Foundation
import OpenCoreData
package import WorkbenchText

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

/// What the shell says to one line.
package struct ShellAnswer: Sendable {
  /// Lines for standard output, without ends of line.
  package var lines: [String]
  /// The same as rows, for modes other than `table`, or instead of lines; nil for running text.
  package var table: ShellTable?
  /// Why the line was not done; nil when it was.
  package var failure: CommandFailure?
  /// Whether the shell is to end now.
  package var ends: Bool

  package init(
    _ lines: [String] = [], table: ShellTable? = nil, failure: CommandFailure? = nil,
    ends: Bool = false
  ) {
    self.lines = lines
    self.table = table
    self.failure = failure
    self.ends = ends
  }

  package init(_ line: String) {
    self.init([line])
  }

  /// The answer as a mode prints it, in lines alone.
  func printed(in mode: ShellMode) -> ShellAnswer {
    guard let table, mode != .table || lines.isEmpty else { return self }
    return ShellAnswer(table.lines(mode), failure: failure, ends: ends)
  }
}

/// A file that takes the shell's answers.
final class ShellOutput {
  /// As it was given.
  let path: String
  private let file: Int32

  /// Opens a file to add to its end; creates it if it doesn't exist.
  ///
  /// A database, and a file that SQLite keeps next to one, is never opened; nor is a folder, pipe, or
  /// device.
  /// - Parameter force: whether a file that exists may be added to.
  /// - Throws: `InvalidInputError`; the file system's `NSError`.
  init(path: String, force: Bool) throws {
    self.path = path
    if let store = ShellOutput.store(besideWhich: path) {
      throw InvalidInputError(
        kind: .unusable, message: "SQLite would take \(path) for a part of \(store)",
        nextStep: "choose another name")
    }
    let exists = FileKind.mode(of: path, followingLinks: false) != nil
    if exists {
      let mode = FileKind.mode(of: path, followingLinks: true) ?? S_IFLNK
      guard FileKind.isRegular(mode), !OutputMark.isDatabase(path) else {
        throw InvalidInputError(
          kind: .unusable,
          message: "\(path) is "
            + (FileKind.isRegular(mode) ? "a database" : FileKind.words(mode)) + ", not text",
          nextStep: "choose another name")
      }
      guard force else {
        throw InvalidInputError(
          kind: .unusable, message: "there is a file \(path) already",
          nextStep: "choose another name, or add to the file with `output FILE force`")
      }
    }
    // Between the check and now, nothing may have come into its place.
    let flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | (exists ? 0 : O_CREAT | O_EXCL)
    file = open(path, flags, 0o666)
    guard file >= 0 else { throw OutputFile.error(errno, path) }
  }

  deinit {
    // Every write was checked.
    if file >= 0 { close(file) }
  }

  /// Adds lines.
  ///
  /// - Throws: the file system's `NSError`, such as for a full disk.
  func add(_ lines: [String]) throws {
    guard !lines.isEmpty else { return }
    let text = lines.map { PrintableText.line($0) + "\n" }.joined()
    if let problem = OutputFile.writeAll(Array(text.utf8), to: file) {
      throw OutputFile.error(problem, path)
    }
  }

  /// The database next to which SQLite would look for a file of this name; nil if there's none.
  ///
  /// Such a file is its WAL, its index, or its journal.
  static func store(besideWhich path: String) -> String? {
    for ending in ["-wal", "-shm", "-journal"] where path.hasSuffix(ending) {
      let store = String(path.dropLast(ending.count))
      if OutputMark.isDatabase(store) { return store }
    }
    return nil
  }
}

/// How the shell prints what has rows.
package enum ShellMode: String, CaseIterable, Sendable {
  /// For people: aligned columns.
  case table
  /// An array of objects, one a line.
  case json
  /// As RFC 4180 has it, with a line of headings.
  case csv
  /// One value a line, `name = value`, a blank line between rows.
  case line
}
