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
    endReadTransaction()
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

extension NSManagedObjectContext {
  /// Fetches keys now and objects a page at a time, as they are looked at.
  ///
  /// Without a batch size, one page holds everything. Cost: one SELECT of keys; then one SELECT for
  /// each page looked at, and one for each prefetched step of it.
  /// - Throws: as `fetch`.
  public final func fetchBatched<T>(
    _ request: NSFetchRequest<T>, file: String = #fileID, line: Int = #line
  ) throws -> BatchedFetchResult<T> {
    try located(file, line) {
      BatchedFetchResult(
        try batches(FetchPlan(request, model: requiredCoordinator.managedObjectModel)))
    }
  }

  /// The keys of a request, to be loaded page by page.
  final func batches(_ request: FetchPlan) throws -> BatchedPages {
    var plan = request
    plan.includesPropertyValues = false
    let ids = try fetchIDs(plan)
    plan.includesPropertyValues = request.includesPropertyValues
    if parent != nil, !prefetchesThroughParent { plan.batchSize = 0 }
    if plan.batchSize <= 0 { plan.batchSize = max(ids.count, 1) }
    let keys = ids.map { $0.identity }
    // A save gives these another key.
    let unsaved = ids.filter(\.isTemporaryID).compactMap { registeredObject(for: $0) }
    return BatchedPages(keys: keys, unsaved: unsaved, plan: plan, context: self)
  }

  /// Loads one page: one SELECT of its rows, and its prefetches, in one snapshot.
  ///
  /// `unsaved` are the objects that had no permanent key when the keys were fetched.
  final func loadPage(
    _ keys: ArraySlice<FetchedIdentity>, _ plan: FetchPlan, unsaved: [Int64: NSManagedObject]
  ) throws -> [NSManagedObject] {
    if parent != nil { return try loadPageThroughParent(keys, plan, unsaved: unsaved) }
    let event = scope.begin(.batchLoad)
    defer {
      scope.end(event) { event in
        event.entity = plan.entityName
        event.rows = keys.count
      }
    }
    sweepBeforeLoad()
    guard plan.includesPropertyValues else {
      return keys.map { unsaved[$0.primaryKey] ?? registered($0.layout, $0.primaryKey) }
    }
    guard let store = try onlyStore(of: plan) else {
      // Held here until the page has them.
      var loaded: [NSManagedObject] = []
      try loadAcross(keys, plan) { loaded += $0 }
      return withExtendedLifetime(loaded) {
        keys.map { unsaved[$0.primaryKey] ?? registered($0.layout, $0.primaryKey) }
      }
    }
    let plan = plan.at(store)
    let saved = ContiguousArray(keys.lazy.map(\.primaryKey).filter { $0 > 0 })
    return try read(store) { reader in
      let rows = try reader.rows(saved, of: plan.layout, pageSize: plan.batchSize, in: scope)
      let loaded = materialise(rows, from: reader, plan)
      // Rows come in the order of their keys, the page is in the order of the fetch; a row that is
      // gone leaves a fault in its place.
      let page = withExtendedLifetime(loaded) {
        keys.map { unsaved[$0.primaryKey] ?? registered($0.layout, $0.primaryKey) }
      }
      try prefetch(plan.prefetchPaths, from: page, of: plan.entity, in: store)
      return page
    }
  }

  /// Unregisters those of the named objects that nobody else holds.
  final func letGo(_ keys: [(rootIndex: Int, key: Int64)]) {
    guard !retainsRegisteredObjects else { return }
    let swept = registry.sweep(keys)
    notifyDeregistered(swept.told)
    disown(swept.keys)
  }
}
