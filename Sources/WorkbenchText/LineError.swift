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
