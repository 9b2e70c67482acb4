import ManagedModel

// A coordinator may be used on any thread. Its queue is for programs that want several calls to it
// to come one after the other.

extension NSPersistentStoreCoordinator {
  /// Runs a block on the coordinator's queue later.
  public func perform(_ block: @escaping @Sendable () -> Void) {
    blocks.queue.async(execute: block)
  }

  /// Runs a block on the coordinator's queue and waits for it; on that queue already, runs it in place.
  @discardableResult
  public func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
    blocks.isCurrent ? try block() : try blocks.queue.sync(execute: block)
  }

  /// Runs a block on the coordinator's queue and gives its result.
  public func perform<T: Sendable, Failure: Error>(
    _ block: @escaping @Sendable () throws(Failure) -> T
  ) async throws(Failure) -> T {
    let result: Result<T, Failure> = await withCheckedContinuation { continuation in
      blocks.queue.async { continuation.resume(returning: Result(catching: block)) }
    }
    return try result.get()
  }

  /// Carries out a request for a context, on the context's queue.
  ///
  /// Cost: that of `fetch` or `execute` of the context.
  /// - Returns: What was fetched, in an array; the result of any other request.
  /// - Throws: What `fetch` or `execute` throws.
  public func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext
  ) throws -> Any {
    precondition(context.coordinator === self, "the context belongs to another coordinator")
    return try context.performAndWait { try request.answer(in: context) }
  }
}
