import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Carries out a request: a batch, a look at the history, a fetch at once or asynchronously.
  ///
  /// Batch requests go past the context: see `NSBatchUpdateRequest` and its kin for what they cost and
  /// leave out. A fetch costs what `fetch(_:)` does. On the context's queue.
  /// - Returns: The request's own kind of result; of a fetch an `NSAsynchronousFetchResult`, whose
  ///   `finalResult` an asynchronous one fills in later.
  /// - Throws: 134091 for a kind of request that the store does not know, 134030 for a batch on a store
  ///   that is looked at, 134301 for a token of the history that has expired, an error of the request or
  ///   of the store.
  @discardableResult
  public final func execute(
    _ request: NSPersistentStoreRequest, file: String = #fileID, line: Int = #line
  ) throws -> NSPersistentStoreResult {
    try located(file, line) { try request.run(in: self) }
  }

  /// Carries out a batch request on the stores that hold its entity: one event, and what was read is old
  /// afterwards.
  ///
  /// - Parameters:
  ///   - affected: The stores to ask; nil is all.
  ///   - isInsertion: Whether the first store alone is asked.
  ///   - body: Is given each store, and the plan for it. Each has a transaction of its own.
  final func runBatch(
    _ plan: FetchPlan, on affected: [NSPersistentStore]?, isInsertion: Bool = false,
    _ body: (SQLiteStore, FetchPlan) throws -> BatchOutcome
  ) throws -> [BatchOutcome] {
    endBurst()
    var stores = requiredCoordinator.stores(holding: plan.layout)
    if let affected { stores = stores.filter { store in affected.contains { $0 === store } } }
    if isInsertion { stores = Array(stores.prefix(1)) }
    if stores.isEmpty, affected == nil { throw NSError.noStore() }
    let files = try stores.map { store in
      guard let sqlite = try store.writable() as? SQLiteStore else {
        throw NSError.coreData(
          NSPersistentStoreUnsupportedRequestTypeError,
          "Batch requests are for SQLite stores; this store is of the type \(store.type).")
      }
      return sqlite
    }
    let event = scope.begin(.batchRequest)
    do {
      let outcomes = try files.map { store in
        do {
          return try body(store, plan.at(store))
        } catch {
          throw NSError.from(error, store: store)
        }
      }
      scope.end(event) { event in
        event.entity = plan.entityName
        event.rows = outcomes.reduce(0) { $0 + $1.count }
      }
      return outcomes
    } catch {
      scope.abandon(event)
      throw error
    }
  }
}
