/// The reason why a command or a line of the shell failed.
package struct CommandFailure: Error, Sendable {
  /// The error message, without a period.
  package let message: String
  /// The line with carets under the words that caused the error; `nil` if it isn't about any.
  package let excerpt: String?
  /// A suggestion of what to do; `nil` if the message is sufficient.
  package let nextStep: String?

  package init(_ message: String, nextStep: String? = nil) {
    self.message = message
    excerpt = nil
    self.nextStep = nextStep
  }

  /// Creates a failure from a problem of the language, with an excerpt of the line.
  package init(_ problem: LanguageProblem, in line: String) {
    message = problem.text
    excerpt = CaretExcerpt(line: line, range: problem.range).text
    nextStep = problem.nextStep
  }

  /// Returns the failure with a source location before its message.
  package func at(_ range: String) -> CommandFailure {
    CommandFailure(message: "\(range): \(message)", excerpt: excerpt, nextStep: nextStep)
  }

  private init(message: String, excerpt: String?, nextStep: String?) {
    self.message = message
    self.excerpt = excerpt
    self.nextStep = nextStep
  }

  /// Returns the message, the excerpt, and the next step on separate lines.
  ///
  /// - Parameter number: The number to print before the message, for a line that isn't visible.
  package func text(line number: Int? = nil) -> String {
    let head = number.map { "line \($0): \(message)" } ?? message
    return [head, excerpt, nextStep].compactMap(\.self).joined(separator: "\n")
  }
}
