import ManagedModel

/// A fetch whose SELECT runs beside the context's queue.
///
/// Execute it with `context.execute(_:)`, which returns at once. Apple counterpart: the same name; the
/// book's chapter 6.
public final class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
  /// What to fetch, as it is when the request is executed.
  public let fetchRequest: NSFetchRequest<ResultType>
  /// Called once on the context's queue, when there is a result, an error, or nothing because it was
  /// cancelled.
  public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
  /// How many rows are expected: the total of the progress; 0 when nobody knows.
  public var estimatedResultCount = 0

  /// A fetch with what is done at its end.
  public init(
    fetchRequest: NSFetchRequest<ResultType>,
    completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
  ) {
    self.fetchRequest = fetchRequest
    self.completionBlock = completionBlock
  }

  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    try context.fetchAsynchronously(self)
  }
}
