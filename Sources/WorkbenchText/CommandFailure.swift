import Foundation
package import ManagedModel

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

/// Formats words of a command line.
package enum CommandWord {
  /// Returns a word for `sh`, in single quotes if it needs them.
  package static func quoted(_ word: String) -> String {
    let isSafe =
      !word.isEmpty
      && word.unicodeScalars.allSatisfy { scalar in
        !scalar.isASCII || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
          || "_-./:,+@%=".unicodeScalars.contains(scalar)
      }
    return isSafe ? word : "'" + word.replacingScalars(["'": "'\\''"]) + "'"
  }
}

/// Formats errors.
package enum ErrorText {
  /// Returns the message of an error of any kind.
  package static func of(_ error: any Error) -> String {
    if let problem = error as? LanguageProblem { return problem.text }
    let isFoundations = type(of: error) is AnyClass || error is CocoaError || error is POSIXError
    return isFoundations ? FileErrorText.of(error) : "\(error)"
  }

  /// Returns the first line of an error's message, for a message that quotes it.
  package static func firstLine(of error: any Error) -> String {
    let text = of(error)
    return text.split(separator: "\n").first.map(String.init) ?? text
  }

  /// Returns the messages of an error's `NSDetailedErrorsKey`, with equal messages counted.
  ///
  /// The array is empty if the error has no detailed errors, and contains at most five messages.
  package static func details(of error: NSError) -> [String] {
    let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
    var order: [String] = []
    var counts: [String: Int] = [:]
    for detail in details {
      let text = FileErrorText.of(detail)
      if counts[text] == nil { order.append(text) }
      counts[text, default: 0] += 1
    }
    let lines = order.prefix(detailLimit).map { text in
      let count = counts[text] ?? 1
      return count > 1 ? "\(NumberText.grouped(count)) x \(text)" : text
    }
    return order.count > detailLimit ? lines + ["and \(order.count - detailLimit) more"] : lines
  }

  private static let detailLimit = 5
}
