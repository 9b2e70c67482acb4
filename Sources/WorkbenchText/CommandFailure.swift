import Foundation
import OpenCoreData

/// Why a command, or a line of the shell, was not carried out.
package struct CommandFailure: Error, Sendable {
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

  /// The failure of a line that stands in a file.
  package func at(_ place: String) -> CommandFailure {
    CommandFailure(message: "\(place): \(message)", excerpt: excerpt, nextStep: nextStep)
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
