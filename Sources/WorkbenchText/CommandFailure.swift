import Foundation
package import OpenCoreData

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

  /// The failure of a line of a file.
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
  /// - Parameter number: put before the message, for lines that are no longer visible.
  package func text(line number: Int? = nil) -> String {
    let head = number.map { "line \($0): \(message)" } ?? message
    return [head, excerpt, nextStep].compactMap(\.self).joined(separator: "\n")
  }
}

/// Words of a command line that a person can copy into a shell.
package enum CommandWord {
  /// A word as `sh` reads it back: in single quotes only if it has to be.
  package static func quoted(_ word: String) -> String {
    let isSafe =
      !word.isEmpty
      && word.unicodeScalars.allSatisfy { scalar in
        !scalar.isASCII || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
          || "_-./:,+@%=".unicodeScalars.contains(scalar)
      }
    return isSafe
      ? word
      : "'"
        + word.split(separator: "'", omittingEmptySubsequences: false)
        .joined(separator: "'\\''") + "'"
  }
}

/// What was thrown, as a person reads it.
package enum ErrorText {
  /// The sentence of an error, whatever its kind; never the name of a Swift type alone.
  package static func of(_ error: any Error) -> String {
    if let problem = error as? LanguageProblem { return problem.question }
    let isFoundations = type(of: error) is AnyClass || error is CocoaError || error is POSIXError
    return isFoundations ? FileErrorText.of(error) : "\(error)"
  }

  /// The errors that an error sums up, a sentence each, those of the same words counted.
  ///
  /// Empty for an error that needs no next step.
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
