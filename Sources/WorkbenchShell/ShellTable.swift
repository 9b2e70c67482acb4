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
    case null
  }

  package let columns: [String]
  package let rows: [[Cell]]

  package init(_ columns: [String], _ rows: [[Cell]]) {
    self.columns = columns
    self.rows = rows
  }

  /// Returns the lines of the table in a mode, without line feeds.
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

  /// Returns the lines of a row; a quoted value can contain line feeds.
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
    case .literal, .bytes, .real, .null: plain
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

/// The result of a line of the shell.
package struct ShellAnswer: Sendable {
  /// The lines for standard output, without line feeds.
  package var lines: [String]
  /// The result as rows, for modes other than `table` or if `lines` is empty; nil for text.
  package var table: ShellTable?
  /// The reason why the line failed; nil if it succeeded.
  package var failure: CommandFailure?
  /// A Boolean value that indicates whether the shell quits.
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

  /// Returns the result in a mode, with lines only.
  func printed(in mode: ShellMode) -> ShellAnswer {
    guard let table, mode != .table || lines.isEmpty else { return self }
    return ShellAnswer(table.lines(mode), failure: failure, ends: ends)
  }
}

/// A file to which the shell appends results.
final class ShellOutput {
  /// The path as typed.
  let path: String
  private let file: Int32

  /// Opens a file for appending; creates it if it doesn't exist.
  ///
  /// Databases, the files that SQLite keeps next to them, folders, pipes, and devices are never
  /// opened.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - force: Whether to append to an existing file.
  /// - Throws: An `InvalidInputError`; an `NSError` of the file system.
  init(path: String, force: Bool) throws {
    self.path = path
    if let store = ShellOutput.store(besideWhich: path) {
      throw InvalidInputError(
        kind: .unusable, message: "SQLite would treat \(path) as part of \(store)",
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
          kind: .unusable, message: "\(path) already exists",
          nextStep: "choose another name, or append to the file with `output FILE force`")
      }
    }
    // `O_EXCL` fails if a file was created since the check.
    let flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | (exists ? 0 : O_CREAT | O_EXCL)
    file = open(path, flags, 0o666)
    guard file >= 0 else { throw OutputFile.error(errno, path) }
  }

  deinit {
    // Each write has been checked, so an error of `close` can be ignored.
    if file >= 0 { close(file) }
  }

  /// Appends lines.
  ///
  /// - Throws: An `NSError` of the file system, such as for a full disk.
  func add(_ lines: [String]) throws {
    guard !lines.isEmpty else { return }
    let text = lines.map { PrintableText.line($0) + "\n" }.joined()
    if let problem = OutputFile.writeAll(Array(text.utf8), to: file) {
      throw OutputFile.error(problem, path)
    }
  }

  /// Returns the database to which SQLite would assign a file by its name, or nil if there's none.
  ///
  /// Such a file is the database's WAL, shared-memory file, or rollback journal.
  static func store(besideWhich path: String) -> String? {
    for ending in ["-wal", "-shm", "-journal"] where path.hasSuffix(ending) {
      let store = String(path.dropLast(ending.count))
      if OutputMark.isDatabase(store) { return store }
    }
    return nil
  }
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
