import Foundation
import OpenCoreData
package import WorkbenchText

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
    if let store = ShellOutput.store(nextTo: path) {
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
    if let problem = OutputFile.append(text, to: file) {
      throw OutputFile.error(problem, path)
    }
  }

  /// Returns the database to which SQLite would assign a file by its name, or `nil` if there's
  /// none.
  ///
  /// Such a file is the database's WAL, shared-memory file, or rollback journal.
  static func store(nextTo path: String) -> String? {
    for ending in ["-wal", "-shm", "-journal"] where path.hasSuffix(ending) {
      let store = String(path.dropLast(ending.count))
      if OutputMark.isDatabase(store) { return store }
    }
    return nil
  }
}

/// The result of a line of the shell.
package struct ShellAnswer: Sendable {
  /// The lines for standard output, without line feeds.
  package var lines: [String]
  /// The result as rows, for modes other than `table` or if `lines` is empty; `nil` for text.
  package var table: ShellTable?
  /// The lines after the table in the `table` mode.
  package var notes: [String] = []
  /// The reason why the line failed; `nil` if it succeeded.
  package var failure: CommandFailure?
  /// Whether the shell quits.
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
  ///
  /// - Parameters:
  ///   - mode: The mode for the result's rows.
  ///   - width: The width of the screen in columns; `nil` for no limit.
  func printed(in mode: ShellMode, width: Int?) -> ShellAnswer {
    guard let table, mode != .table || lines.isEmpty else { return self }
    return ShellAnswer(
      table.lines(mode, width: width) + (mode == .table ? notes : []), failure: failure, ends: ends)
  }
}

/// Lines of text that fit a screen.
enum ScreenText {
  /// Returns a line in parts that fit a width, the later ones indented further.
  ///
  /// Wide gaps between columns are narrowed first. A word that's longer than the width isn't
  /// broken, so that a path can be copied.
  ///
  /// - Parameters:
  ///   - line: The line, without line feeds.
  ///   - width: The width in columns.
  static func fitted(_ line: String, to width: Int) -> [String] {
    guard TextWidth.of(line) > width, width > 20 else { return [line] }
    let margin = String(line.prefix { $0 == " " })
    let written = String(line.dropFirst(margin.count))
    // A name and its description stay aligned with those of the lines around.
    let text = written.matches(of: /\S {3,}/).count > 1 ? narrowed(written[...]) : written
    guard margin.count + TextWidth.of(text) > width else { return [margin + text] }
    // In a list of names and descriptions, the description's later lines begin where it begins.
    let gap = text.firstRange(of: "   ").map { TextWidth.of(text[..<$0.upperBound]) }
    let indent =
      margin + String(repeating: " ", count: gap.map { $0 <= 20 && $0 * 2 < width ? $0 : 4 } ?? 4)
    var lines: [String] = []
    var current = margin
    var isEmpty = true
    for word in words(of: text) {
      let next = word.spaces + word.text
      if !isEmpty, TextWidth.of(current) + TextWidth.of(next) > width {
        lines.append(current)
        current = indent + word.text
      } else {
        current += isEmpty ? word.text : next
      }
      isEmpty = false
    }
    return lines + [current]
  }

  /// Returns text in which no gap is wider than three spaces.
  private static func narrowed(_ text: Substring) -> String {
    var result = ""
    var spaces = 0
    for character in text {
      spaces = character == " " ? spaces + 1 : 0
      if spaces <= 3 { result.append(character) }
    }
    while result.last == " " { result.removeLast() }
    return result
  }

  /// Returns the words of a text, each with the spaces before it.
  private static func words(of text: String) -> [(spaces: String, text: String)] {
    var words: [(spaces: String, text: String)] = []
    var rest = Substring(text)
    while !rest.isEmpty {
      let spaces = rest.prefix { $0 == " " }
      rest = rest.dropFirst(spaces.count)
      let word = rest.prefix { $0 != " " }
      rest = rest.dropFirst(word.count)
      words.append((String(spaces), String(word)))
    }
    return words
  }
}
