import ManagedModel

/// What an asynchronous request gives at once: how far it is, and later its outcome.
///
/// Read it on the context's queue; `progress` and `cancel()` may be used anywhere. Apple counterpart: the
/// same name.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
  // changed on the context's queue alone
  /// The context that executes the request.
  public let managedObjectContext: NSManagedObjectContext
  /// Why there is no result: an error of the fetch, 3072 after it was cancelled; nil before the end and
  /// when there is a result.
  public internal(set) var operationError: NSError?
  /// Counts rows; a child of the thread's current progress when the request was executed.
  ///
  /// Its total is the request's estimate, and is not known without one.
  public let progress: Progress?

  init(context: NSManagedObjectContext, estimate: Int) {
    managedObjectContext = context
    progress = Progress(totalUnitCount: estimate > 0 ? Int64(estimate) : -1)
  }

  /// Stops the request; what its SELECT has read is dropped.
  public func cancel() {
    progress?.cancel()
  }
}
