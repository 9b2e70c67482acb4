import ManagedModel

extension NSError {
  /// Creates an error of `NSCocoaErrorDomain` with a message.
  static func coreData(
    _ code: Int, _ message: String, _ userInfo: [String: Any] = [:]
  ) -> NSError {
    var info = userInfo
    info[NSLocalizedDescriptionKey] = message
    return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: info)
  }

  /// Creates an error for a request that can't be executed.
  static func fetch(_ message: String) -> NSError {
    coreData(NSCoreDataError, message)
  }

  /// Creates an error for a predicate that can't be evaluated.
  static func unanswerable(_ predicate: NSPredicate, _ reason: any Error) -> NSError {
    fetch("The predicate '\(predicate)' can't be evaluated: \(reason).")
  }

}
