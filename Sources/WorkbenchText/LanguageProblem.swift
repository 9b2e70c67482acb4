import OpenCoreData

/// What is wrong with a word of the language, before anything was run.
///
/// It knows its place in the text but not whose text it is; `LineError` and `ScenarioDiagnostic` add
/// that and draw the caret.
package struct LanguageProblem: Error, Sendable, Equatable {
  /// The words the caret goes under.
  package var place: SourceRange
  /// What is wrong, in a sentence without a full stop.
  package var message: String
  /// The word that was probably meant.
  package var suggestion: String?
  /// What to do now, in a sentence without a full stop.
  package var nextStep: String

  package init(
    _ message: String, at place: SourceRange, didYouMean suggestion: String? = nil,
    nextStep: String
  ) {
    self.place = place
    // They quote what was written, and each is one line of the report.
    self.message = PrintableText.line(message)
    self.suggestion = suggestion.map(PrintableText.line)
    self.nextStep = PrintableText.line(nextStep)
  }

  /// The message with the word that was probably meant; of a message that quotes a very long word, the
  /// beginning.
  package var question: String {
    let limit = LanguageProblem.longestMessage
    let message = message.count > limit ? "\(message.prefix(limit))…" : message
    return suggestion.map { "\(message); did you mean `\($0)`?" } ?? message
  }

  private static let longestMessage = 240
}

/// A stretch of one line of text: where a caret goes.
package struct SourceRange: Sendable, Hashable {
  /// Counted from 1.
  package var line: Int
  /// In characters, counted from 1.
  package var column: Int
  /// In characters, at least 1.
  package var length: Int

  package init(line: Int, column: Int, length: Int = 1) {
    self.line = line
    self.column = column
    self.length = max(1, length)
  }

  /// A part of this place: `offset` characters further on, on the same line.
  package func part(at offset: Int, length: Int = 1) -> SourceRange {
    SourceRange(line: line, column: column + offset, length: length)
  }
}

/// One word of a step, with its place.
package struct Word: Sendable, Hashable {
  /// Without quotes, escapes resolved.
  package var text: String
  package var place: SourceRange
  /// A quoted word is never a keyword.
  package var isQuoted: Bool

  package init(_ text: String, at place: SourceRange, isQuoted: Bool = false) {
    self.text = text
    self.place = place
    self.isQuoted = isQuoted
  }

  /// The source range of some characters, after an opening quote.
  ///
  /// - Parameter offset: in characters of `text`, from 0. Escapes before it shift the place.
  package func place(at offset: Int, length: Int = 1) -> SourceRange {
    place.part(at: offset + (isQuoted ? 1 : 0), length: length)
  }

  /// Whether the text can be a name: a letter or `_`, then letters, digits, `_` and `-`.
  package var isName: Bool {
    guard let first = text.first, first.isLetter || first == "_" else { return false }
    return text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
  }
}

/// A shell line that is wrong: what, where, and what to do.
package struct LineError: Error, Sendable, CustomStringConvertible {
  /// The line as it was typed.
  package let line: String
  /// What is wrong with it.
  package let problem: LanguageProblem

  /// - Parameters:
  ///   - problem: its place's `line` is the line's number in the shell.
  ///   - line: the whole line.
  package init(_ problem: LanguageProblem, in line: String) {
    self.problem = problem
    self.line = line
  }

  /// The line, carets under the words, then the message and the next step.
  package var description: String {
    let excerpt = CaretExcerpt(line: line, place: problem.place)
    return "\(excerpt.text)\n\(problem.question)\n\(problem.nextStep)"
  }
}

/// A line of a text with carets under a part of it; of a very long line the part around them.
package struct CaretExcerpt: Sendable {
  private let line: String
  private let place: SourceRange
  private let margin: String

  /// - Parameters:
  ///   - line: the whole line, without its end.
  ///   - place: what to mark; its `line` is not read.
  ///   - margin: put before both lines.
  package init(line: String, place: SourceRange, margin: String = "  ") {
    self.line = line
    self.place = place
    self.margin = margin
  }

  /// More characters of a line than this are not shown.
  private static let width = 160

  /// Two lines, without an end of line.
  ///
  /// Tabs before the mark are kept, so that both lines align.
  package var text: String {
    let (characters, column) = shown
    let before = CaretExcerpt.printed(characters.prefix(max(0, column - 1)))
    let marked = characters.dropFirst(max(0, column - 1)).prefix(max(1, place.length))
    let padding =
      String(before.map { $0 == "\t" ? "\t" : " " })
      + String(repeating: " ", count: max(0, column - 1 - characters.count))
    let carets = String(repeating: "^", count: max(1, CaretExcerpt.printed(marked).count))
    return "\(margin)\(CaretExcerpt.printed(characters[...]))\n\(margin)\(padding)\(carets)"
  }

  /// Characters as they are printed: the carets count those of escapes.
  private static func printed(_ characters: ArraySlice<Character>) -> String {
    PrintableText.line(String(characters))
  }

  /// The characters that are shown, and the column of the mark among them.
  private var shown: ([Character], column: Int) {
    let characters = Array(line)
    guard characters.count > Self.width else { return (characters, place.column) }
    let start = max(0, min(place.column - 1 - Self.width / 2, characters.count - Self.width))
    let end = start + Self.width
    let head: [Character] = start > 0 ? ["…"] : []
    let tail: [Character] = end < characters.count ? ["…"] : []
    return (head + characters[start..<end] + tail, place.column - start + head.count)
  }
}
