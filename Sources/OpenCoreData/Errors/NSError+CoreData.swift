import ManagedModel

// The form of all errors, and the errors of requests.

extension NSError {
  /// Creates an error of `NSCocoaErrorDomain` with a message.
  static func coreData(
    _ code: Int, _ message: String, _ userInfo: [String: Any] = [:]
  ) -> NSError {
    var info = userInfo
    info[NSLocalizedDescriptionKey] = message
    return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: info)
  }

  /// Creates an error for a batch deletion of rows that others require.
  static func requiredInverse(_ name: String, of entity: String, _ rows: Int) -> NSError {
    let reason = "The batch deletion failed due to the required inverse \(entity).\(name)."
    return coreData(
      NSPersistentStoreSaveError,
      "\(reason) It would be nil in \(PluralForm.counted(rows, "row")): delete these first, or make "
        + "the relationship optional.", [NSLocalizedFailureReasonErrorKey: reason])
  }

  /// Creates an error for a request that can't be executed.
  static func fetch(_ message: String) -> NSError {
    coreData(NSCoreDataError, message)
  }

  /// Creates an error for a predicate that can't be evaluated.
  static func unanswerable(_ predicate: NSPredicate, _ reason: any Error) -> NSError {
    fetch("The predicate '\(predicate)' can't be evaluated: \(reason).")
  }

  /// Creates an error for an order by values that can't be computed.
  static func unsortable(_ sort: [NSSortDescriptor], _ reason: any Error) -> NSError {
    let keys = sort.map { "'\($0.key ?? "self")'" }.joined(separator: ", ")
    return fetch("An order by \(keys) can't be computed: \(reason).")
  }
}
