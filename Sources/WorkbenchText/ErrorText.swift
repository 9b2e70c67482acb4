import Foundation
package import ManagedModel

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
