import Foundation
import OpenCoreData

/// Why a line of the shell was not done.
package struct ShellFailure: Error, Sendable {
  /// What is wrong, in a sentence without a full stop.
  package let message: String
  /// The line with carets under the words it is about; nil when no word is to blame.
  package let excerpt: String?
  /// What to do now; nil when the message says all.
  package let nextStep: String?

  package init(_ message: String, nextStep: String? = nil) {
    self.message = message
    excerpt = nil
    self.nextStep = nextStep
  }

  /// A problem of the language, drawn under the line it was found in.
  package init(_ problem: LanguageProblem, in line: String) {
    message = problem.question
    excerpt = CaretExcerpt(line: line, place: problem.place).text
    nextStep = problem.nextStep
  }

  /// Whatever was thrown, in words.
  init(_ error: any Error, in line: String) {
    switch error {
    case let failure as ShellFailure: self = failure
    case let problem as LanguageProblem: self.init(problem, in: line)
    case let error as LineError: self.init(error.problem, in: line)
    case let refusal as InputRefusal:
      self.init(
        PrintableText.line(refusal.message), nextStep: PrintableText.line(refusal.nextStep))
    case let failure as StepFailure:
      let details = ErrorText.details(of: failure.error).map { "  \(PrintableText.line($0))" }
      self.init(
        "`\(failure.step)` failed: \(ErrorText.of(failure.error)) (\(failure.error.code))",
        nextStep: details.isEmpty ? nil : details.joined(separator: "\n"))
    default:
      self.init("\(ErrorText.of(error))")
    }
  }

  /// The failure of a line that stands in a file.
  func at(_ place: String) -> ShellFailure {
    ShellFailure(message: "\(place): \(message)", excerpt: excerpt, nextStep: nextStep)
  }

  private init(message: String, excerpt: String?, nextStep: String?) {
    self.message = message
    self.excerpt = excerpt
    self.nextStep = nextStep
  }

  /// Message, excerpt and next step, one below the other.
  ///
  /// - Parameter number: put before the message, for lines that nobody sees any more.
  package func text(line number: Int? = nil) -> String {
    let head = number.map { "line \($0): \(message)" } ?? message
    return [head, excerpt, nextStep].compactMap(\.self).joined(separator: "\n")
  }
}
