import ManagedModel

// Requests that only an incremental store can execute: batch requests, and those of the program.

extension NSManagedObjectContext {
  /// Passes a request to the coordinator's incremental store, if that's the only store it affects.
  ///
  /// - Returns: `nil` if there's another store.
  /// - Throws: The store's errors; 134070 if its result isn't that of the request; 134030 for a
  ///   batch on a read-only store.
  final func delegate(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult? {
    let stores = requiredCoordinator.rowStores.filter { store in
      request.affectedStores?.contains { $0 === store } ?? true
    }
    guard stores.count == 1, let store = stores.first as? NSIncrementalStore else { return nil }
    let isBatch = NSPersistentStoreRequestType.batches.contains(request.requestType)
    if isBatch { _ = try store.writable() }
    let result = try store.calling(in: scope) { try store.execute(request, with: self) }
    // Any cached to-many may have changed, as after a batch on a SQLite store.
    if isBatch { store.forget(MergedChanges()) }
    if let result = result as? NSPersistentStoreResult { return result }
    switch request {
    case let request as NSBatchInsertRequest:
      return NSBatchInsertResult(result, request.resultType)
    case let request as NSBatchUpdateRequest:
      return NSBatchUpdateResult(result, request.resultType)
    case let request as NSBatchDeleteRequest:
      return NSBatchDeleteResult(result, request.resultType)
    default:
      throw NSError.store(
        "execute(_:with:) of \(type(of: store)) returned \(type(of: result)) for a request of the "
          + "class \(type(of: request)): return an NSPersistentStoreResult.")
    }
  }
}
