import OpenCoreData
import WorkbenchText
internal import Yams

/// Finds the source positions of a scalar's characters, which aren't consecutive if the scalar has
/// escapes or several lines.
struct ScalarPositions {
  private let lines: [String]
  private let style: Node.Scalar.Style
  /// The current position in the source, both from 0, and the characters of its line.
  private var line: Int
  private var column: Int
  private var characters: [Character] = []

  /// The maximum length of the first line, in bytes of UTF-8: the line is read once for each scalar
  /// with escapes.
  private static let lineLimit = 1_000

  /// The position of each character and of the end; `nil` if they're consecutive on a line, if they
  /// can't be found, or if the first line is very long.
  private(set) var all: [SourceRange]?

  /// Finds the positions.
  ///
  /// - Parameters:
  ///   - scalar: The scalar.
  ///   - range: Where it begins, with its quotation mark or indicator.
  ///   - lines: The lines of the file.
  init(_ scalar: Node.Scalar, at range: SourceRange, in lines: [String]) {
    self.lines = lines
    style = scalar.style
    (line, column) = (range.line - 1, range.column - 1)
    guard lines.indices.contains(line), lines[line].utf8.count <= Self.lineLimit else { return }
    if style == .literal || style == .folded {
      // The text begins on the line after the indicator.
      beginLine(line + 1)
    } else {
      if style == .singleQuoted || style == .doubleQuoted { column += 1 }
      if lines[line].dropFirst(column).utf8.starts(with: scalar.string.utf8) { return }
      characters = Array(lines[line])
    }
    var found: [SourceRange] = []
    for character in scalar.string {
      guard let position = take(character) else { return }
      found.append(position)
    }
    all = found + [position]
  }

  private var position: SourceRange { SourceRange(line: line + 1, column: column + 1) }

  private mutating func beginLine(_ number: Int) {
    (line, column) = (number, 0)
    characters = lines.indices.contains(line) ? Array(lines[line]) : []
  }

  /// Advances to a character and past it.
  ///
  /// Folding changes white space, so one character of white space stands for any.
  ///
  /// - Returns: Where the character is; `nil` if the source has another one.
  private mutating func take(_ character: Character) -> SourceRange? {
    if let escaped = takeEscape() { return escaped }
    if character.isWhitespace {
      let found = position
      if column < characters.count, characters[column].isWhitespace { column += 1 }
      return found
    }
    while column >= characters.count || characters[column].isWhitespace {
      guard line < lines.count else { return nil }
      if column >= characters.count { beginLine(line + 1) } else { column += 1 }
    }
    if let escaped = takeEscape() { return escaped }
    guard characters[column] == character else { return nil }
    defer { column += 1 }
    return position
  }

  /// Advances past an escape at the current position, and returns where it is; `nil` if there's
  /// none.
  private mutating func takeEscape() -> SourceRange? {
    guard column + 1 < characters.count else { return nil }
    let (first, second) = (characters[column], characters[column + 1])
    let length: Int
    switch (style, first) {
    case (.singleQuoted, "'") where second == "'": length = 2
    case (.doubleQuoted, "\\"):
      length = ["x": 4, "u": 6, "U": 10][second] ?? 2
    default: return nil
    }
    defer { column += length }
    return position
  }
}
