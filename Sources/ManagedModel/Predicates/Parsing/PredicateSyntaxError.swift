/// What is wrong with a predicate format, and where.
package struct PredicateSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  package let format: String
  /// The place, in characters, from 1.
  ///
  /// One past the last character if the text ends too early.
  package let column: Int
  /// One sentence without place: `the string does not end`.
  package let message: String
  /// What may stand at the place; empty if the message says it all.
  package let expected: String
  /// The known word that is nearest to the one written there.
  package let suggestion: String?

  package init(
    format: String, column: Int, message: String, expected: String = "",
    suggestion: String? = nil
  ) {
    self.format = format
    self.column = column
    self.message = message
    self.expected = expected
    self.suggestion = suggestion
  }

  /// Two lines: the format, cut to the surroundings of the place if it is long, and a `^` below.
  package func caret() -> String {
    let characters = Array(format).map { $0.isNewline || $0 == "\t" ? " " : $0 }
    let start = max(0, column - 1 - 60)
    let end = min(characters.count, max(start, column - 1) + 40)
    let head = start > 0 ? "…" : ""
    let tail = end < characters.count ? "…" : ""
    let line = head + String(characters[min(start, end)..<end]) + tail
    return line + "\n" + String(repeating: " ", count: column - 1 - start + head.count) + "^"
  }

  /// Place and message, what was expected, a suggestion, then the caret: several lines.
  package var description: String {
    var text = "predicate, column \(column): \(message)"
    if !expected.isEmpty { text += "; expected \(expected)" }
    if let suggestion { text += ". Did you mean \(suggestion)?" }
    return text + "\n" + caret()
  }
}
