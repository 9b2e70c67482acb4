package import ManagedModel

/// An error in the language of steps, which is reported before anything runs.
///
/// A problem has a source range but not the source; `LineError` and `ScenarioDiagnostic` add the
/// source and the excerpt with carets.
package struct LanguageProblem: Error, Sendable, Equatable {
  /// The source range to mark with carets.
  package var range: SourceRange
  /// The error message, without a period.
  package var message: String
  /// The word that was probably intended.
  package var suggestion: String?
  /// A suggestion of what to do, without a period.
  package var nextStep: String

  package init(
    _ message: String, at range: SourceRange, didYouMean suggestion: String? = nil,
    nextStep: String
  ) {
    self.range = range
    // The strings quote the source, and each must be a single line.
    self.message = PrintableText.line(message)
    self.suggestion = suggestion.map(PrintableText.line)
    self.nextStep = PrintableText.line(nextStep)
  }

  /// Returns the problem of a part of a word at the part's range in the source.
  package func located(in word: Word) -> LanguageProblem {
    var problem = self
    problem.range = word.sourceRange(of: range)
    return problem
  }

  /// The message with the suggestion; a very long message is truncated.
  package var text: String {
    let limit = LanguageProblem.longestMessage
    let message = message.count > limit ? "\(message.prefix(limit))…" : message
    return message + NearestName.question(suggestion)
  }

  private static let longestMessage = 240
}

extension NearestName {
  /// Returns the end of a message about an unknown word: the question whether the most similar name
  /// is meant, or an empty string if no name is similar.
  package static func question(for word: String, among names: some Sequence<String>) -> String {
    question(of(word, among: names))
  }

  fileprivate static func question(_ name: String?) -> String {
    name.map { "; did you mean `\($0)`?" } ?? ""
  }
}

/// A range of characters on a line.
package struct SourceRange: Sendable, Hashable {
  /// The line, starting at 1.
  package var line: Int
  /// The column in characters, starting at 1.
  package var column: Int
  /// The length in characters, at least 1.
  package var length: Int

  package init(line: Int, column: Int, length: Int = 1) {
    self.line = line
    self.column = column
    self.length = max(1, length)
  }

  /// Returns a range on the same line that starts a number of characters after this one.
  package func part(at offset: Int, length: Int = 1) -> SourceRange {
    SourceRange(line: line, column: column + offset, length: length)
  }
}

/// A word of a step, with its source range.
package struct Word: Sendable, Hashable {
  /// The word without quotation marks, with escapes resolved.
  package var text: String
  package var range: SourceRange
  /// Whether the word is quoted; a quoted word is never a keyword.
  package var isQuoted: Bool
  /// The source positions of the characters and of the end; `nil` if they're consecutive on a line.
  private let positions: [SourceRange]?

  /// Creates a word.
  ///
  /// - Parameters:
  ///   - text: The word without quotation marks, with escapes resolved.
  ///   - range: The range of the word, with its quotation marks.
  ///   - isQuoted: Whether it's quoted.
  ///   - positions: The position of each character of the text, and of the end, in a word with
  ///     escapes or on several lines.
  package init(
    _ text: String, at range: SourceRange, isQuoted: Bool = false,
    positions: [SourceRange]? = nil
  ) {
    self.text = text
    self.range = range
    self.isQuoted = isQuoted
    self.positions = positions
  }

  /// Returns the source range of characters of the word; of those on the first line, if they're on
  /// several.
  ///
  /// - Parameters:
  ///   - offset: The offset in `text`, in characters.
  ///   - length: The number of characters.
  package func range(at offset: Int, length: Int = 1) -> SourceRange {
    guard let positions, let last = positions.last else {
      return range.part(at: offset + (isQuoted ? 1 : 0), length: length)
    }
    let start = offset < positions.count ? positions[offset] : last
    let characters = positions[min(offset, positions.count)...].prefix(length + 1)
    let end = characters.last { $0.line == start.line } ?? start
    return SourceRange(line: start.line, column: start.column, length: end.column - start.column)
  }

  /// Returns the source range of a part of the word.
  ///
  /// - Parameter part: The part's range as if the word's text were written on one line, without
  ///   escapes, from `range(at: 0)` on.
  package func sourceRange(of part: SourceRange) -> SourceRange {
    guard positions != nil else { return part }
    return range(at: part.column - range(at: 0).column, length: part.length)
  }

  /// Returns a part of the word with its positions in the source.
  ///
  /// - Parameter part: A word in this word's text, with a range as in `sourceRange(of:)`.
  package func sourceWord(of part: Word) -> Word {
    guard positions != nil else { return part }
    return Word(
      part.text, at: sourceRange(of: part.range), isQuoted: part.isQuoted,
      positions: (0...part.text.count).map { sourceRange(of: part.range(at: $0)) })
  }

  /// Whether the word can be a name: a letter or `_`, followed by letters, digits, `_`, and `-`.
  package var isName: Bool {
    guard let first = text.first, first.isLetter || first == "_" else { return false }
    return text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
  }
}

/// An error in a line of the shell.
package struct LineError: Error, Sendable, CustomStringConvertible {
  /// The line as typed.
  package let line: String
  /// The problem, with the number of the line in the shell.
  package let problem: LanguageProblem

  /// Creates an error from a problem and the complete line.
  package init(_ problem: LanguageProblem, in line: String) {
    self.problem = problem
    self.line = line
  }

  /// The line with carets, the message, and the next step.
  package var description: String {
    let excerpt = CaretExcerpt(line: line, range: problem.range)
    return "\(excerpt.text)\n\(problem.text)\n\(problem.nextStep)"
  }
}

/// An excerpt of a line with carets below a part of it; a very long line is truncated around it.
package struct CaretExcerpt: Sendable {
  private let line: String
  private let range: SourceRange

  /// - Parameters:
  ///   - line: The complete line, without a line feed.
  ///   - range: The range to mark; its `line` is ignored.
  package init(line: String, range: SourceRange) {
    self.line = line
    self.range = range
  }

  /// The maximum number of characters of a line to show.
  private static let width = 160

  /// The line and the carets, without a final line feed.
  ///
  /// Tabs before the carets are kept, and wide characters have two, so that both lines align.
  package var text: String {
    let (characters, column) = shown
    let before = CaretExcerpt.printed(characters.prefix(max(0, column - 1)))
    let marked = characters.dropFirst(max(0, column - 1)).prefix(max(1, range.length))
    let padding =
      before.split(separator: "\t", omittingEmptySubsequences: false)
      .map { String(repeating: " ", count: TextWidth.of($0)) }.joined(separator: "\t")
      + String(repeating: " ", count: max(0, column - 1 - characters.count))
    let carets = String(
      repeating: "^", count: max(1, TextWidth.of(CaretExcerpt.printed(marked))))
    return "  \(CaretExcerpt.printed(characters[...]))\n  \(padding)\(carets)"
  }

  /// Returns characters with escapes, which take several columns.
  private static func printed(_ characters: ArraySlice<Character>) -> String {
    PrintableText.line(String(characters))
  }

  /// The characters to show, and the column of the carets.
  private var shown: ([Character], column: Int) {
    let characters = Array(line)
    guard characters.count > Self.width else { return (characters, range.column) }
    let start = max(0, min(range.column - 1 - Self.width / 2, characters.count - Self.width))
    let end = start + Self.width
    let head: [Character] = start > 0 ? ["…"] : []
    let tail: [Character] = end < characters.count ? ["…"] : []
    return (head + characters[start..<end] + tail, range.column - start + head.count)
  }
}
