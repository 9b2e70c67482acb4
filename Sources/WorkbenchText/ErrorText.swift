package import OpenCoreData

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
  /// Empty for an error that stands for itself alone.
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
