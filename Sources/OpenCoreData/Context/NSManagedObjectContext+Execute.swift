import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Carries out a batch request or a request for history, and gives its result.
  ///
  /// Batch requests go past the context: see `NSBatchUpdateRequest` and its kin for what they cost and
  /// leave out.
  /// - Throws: 134091 for a kind of request that the store does not know, an error of the store.
  @discardableResult
  public final func execute(
    _ request: NSPersistentStoreRequest, file: String = #fileID, line: Int = #line
  ) throws -> NSPersistentStoreResult {
    try located(file, line) { try request.run(in: self) }
  }

  /// Carries out a batch request on the store: one event, and what was read is old afterwards.
  final func runBatch(
    _ entity: String, _ body: (SQLiteStore) throws -> BatchOutcome
  ) throws -> BatchOutcome {
    endBurst()
    let store = try requiredCoordinator.writableStore()
    guard let sqlite = store as? SQLiteStore else {
      throw NSError.coreData(
        NSPersistentStoreUnsupportedRequestTypeError,
        "Batch requests are for SQLite stores; this store is of the type \(store.type).")
    }
    let event = scope.begin(.batchRequest)
    do {
      let outcome = try body(sqlite)
      scope.end(event) { event in
        event.entity = entity
        event.rows = outcome.count
      }
      return outcome
    } catch {
      scope.abandon(event)
      throw NSError.from(error, store: store)
    }
  }
}
