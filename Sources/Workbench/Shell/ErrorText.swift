import Foundation

/// What was thrown, as a person reads it.
package enum ErrorText {
  /// The sentence of an error, whatever its kind; never the name of a Swift type alone.
  package static func of(_ error: any Error) -> String {
    if let problem = error as? LanguageProblem { return problem.question }
    let isFoundations = type(of: error) is AnyClass || error is CocoaError || error is POSIXError
    return isFoundations ? (error as NSError).localizedDescription : "\(error)"
  }
}
