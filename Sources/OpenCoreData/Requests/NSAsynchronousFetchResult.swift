import ManagedModel

/// The result of an asynchronous fetch.
///
/// Apple counterpart: the same name.
public final class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult,
  @unchecked Sendable
{  // changed on the context's queue alone
  /// The request that was executed.
  public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
  /// What was fetched; nil before the end, after an error and after it was cancelled.
  public internal(set) var finalResult: [ResultType]?

  init(_ request: NSAsynchronousFetchRequest<ResultType>, context: NSManagedObjectContext) {
    fetchRequest = request
    super.init(context: context, estimate: request.estimatedResultCount)
  }
}
