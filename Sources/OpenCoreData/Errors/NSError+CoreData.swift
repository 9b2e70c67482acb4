import ManagedModel

extension NSError {
  /// An error of `NSCocoaErrorDomain` with a sentence.
  static func coreData(
    _ code: Int, _ message: String, _ userInfo: [String: Any] = [:]
  ) -> NSError {
    var info = userInfo
    info[NSLocalizedDescriptionKey] = message
    return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: info)
  }

  /// A request that cannot be carried out.
  static func fetch(_ message: String) -> NSError {
    coreData(NSCoreDataError, message)
  }

  /// A predicate that can't be evaluated.
  static func unanswerable(_ predicate: NSPredicate, _ reason: any Error) -> NSError {
    fetch("The predicate '\(predicate)' can't be evaluated: \(reason).")
  }

}
