import ManagedModel
import ProfileEvents
import SQLiteDriver

// The errors of the driver and of stores, as a context throws and reports them.

extension NSError {
  /// Returns the error for one of the driver's, with SQLite's code and the statement, and reports
  /// it as a failed read of the running block's context if a sink requires failures.
  static func from(_ error: any Error, store: NSPersistentStore?) -> NSError {
    let error = converted(error, store: store)
    RunningContext.current?.noteFailedRead(error)
    return error
  }

  private static func converted(_ error: any Error, store: NSPersistentStore?) -> NSError {
    guard let error = error as? SQLiteError else { return error as NSError }
    var info: [String: Any] = [NSSQLiteErrorDomain: Int(error.code.rawValue)]
    info[NSFilePathErrorKey] = store?.url?.path
    info[NSUnderlyingErrorKey] = NSError(
      domain: NSSQLiteErrorDomain, code: Int(error.code.rawValue),
      userInfo: [NSLocalizedDescriptionKey: error.description])
    if error.code == .functionFailed {
      // Only functions in predicates fail.
      return coreData(
        NSCoreDataError, "The predicate can't be evaluated: \(error.message).", info)
    }
    if error.isOfNesting {
      // Only predicates and expressions are nested deeply.
      return coreData(
        NSCoreDataError,
        "The predicate or expression is nested too deeply for SQLite (\(error.message)): its parser "
          + "has a stack of 100 entries, of which each level takes one to four. Use fewer levels, or "
          + "filter the fetched objects.", info)
    }
    return coreData(NSSQLiteError, error.description, info)
  }
}

extension NSManagedObjectContext {
  /// Reports a read of the current event that failed, if a sink requires failures.
  fileprivate final func noteFailedRead(_ error: NSError) {
    guard scope.demand.includes(.failures) else { return }
    scope.emit(.failure) { $0.failure = .read(FailureCode(error)) }
    blocks.noteFailure()
  }
}
