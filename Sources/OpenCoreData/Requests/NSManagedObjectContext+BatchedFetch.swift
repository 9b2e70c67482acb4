import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Fetches object IDs now and objects in batches, on demand.
  ///
  /// Without a batch size, one batch contains everything. **Cost:** one SELECT of object IDs; then
  /// one SELECT for each batch that is used, and one for each prefetched step of it.
  /// - Throws: As `fetch`.
  public final func fetchBatched<T>(
    _ request: NSFetchRequest<T>, file: String = #fileID, line: Int = #line
  ) throws -> BatchedFetchResult<T> {
    try located(file, line) {
      BatchedFetchResult(
        try fetchBatches(FetchPlan(request, model: requiredCoordinator.managedObjectModel)))
    }
  }

  /// Returns the primary keys of a request, to be loaded in batches.
  final func fetchBatches(_ request: FetchPlan) throws -> FetchBatches {
    var plan = request
    plan.includesPropertyValues = false
    if let keys = try fetchIdentities(plan) {
      // Most incremental stores read rows one by one, and don't load batches.
      let incremental = try onlyStore(of: plan) as? NSIncrementalStore
      plan.includesPropertyValues =
        request.includesPropertyValues && (incremental.map { type(of: $0).loadsBatches } ?? true)
      if plan.batchSize <= 0 { plan.batchSize = max(keys.count, 1) }
      return FetchBatches(keys: keys, unsaved: [], plan: plan, context: self)
    }
    let ids = try fetchIDs(plan)
    plan.includesPropertyValues = request.includesPropertyValues
    if parent != nil, !prefetchesThroughParent { plan.batchSize = 0 }
    if plan.batchSize <= 0 { plan.batchSize = max(ids.count, 1) }
    let keys = ids.map { $0.identity }
    // A save changes the keys of these.
    let unsaved = ids.filter(\.isTemporaryID).compactMap { registeredObject(for: $0) }
    return FetchBatches(keys: keys, unsaved: unsaved, plan: plan, context: self)
  }

  /// Loads a batch: one SELECT of its rows, and its prefetches, in one snapshot.
  ///
  /// `unsaved` are the objects that had no permanent key when the keys were fetched.
  final func loadBatch(
    _ keys: ArraySlice<FetchedIdentity>, _ plan: FetchPlan, unsaved: [Int64: NSManagedObject]
  ) throws -> [NSManagedObject] {
    let event = scope.begin(.batchLoad)
    defer {
      scope.end(event) { event in
        event.entity = plan.entityName
        event.rows = keys.count
      }
    }
    sweepBeforeLoad()
    if parent != nil { return try loadBatchThroughParent(keys, plan, unsaved: unsaved) }
    guard plan.includesPropertyValues else {
      return keys.map { unsaved[$0.primaryKey] ?? registered($0.layout, $0.primaryKey) }
    }
    guard let store = try onlyStore(of: plan) else {
      // Retained here until the batch has them.
      var loaded: [NSManagedObject] = []
      try loadAcross(keys, plan) { loaded += $0 }
      return withExtendedLifetime(loaded) {
        keys.map { unsaved[$0.primaryKey] ?? registered($0.layout, $0.primaryKey) }
      }
    }
    let plan = plan.at(store)
    let saved = ContiguousArray(keys.lazy.map(\.primaryKey).filter { $0 > 0 })
    return try read(store) { reader in
      let rows = try reader.rows(saved, of: plan.layout, batchSize: plan.batchSize, in: scope)
      let loaded = makeObservedObjects(rows, from: reader, plan)
      // Rows come in the order of their keys, the batch has the order of the fetch; a row that no
      // longer exists is represented by a fault.
      let batch = withExtendedLifetime(loaded) {
        keys.map { unsaved[$0.primaryKey] ?? registered($0.layout, $0.primaryKey) }
      }
      try prefetch(plan.prefetchPaths, from: batch, of: plan.entity, in: store)
      return batch
    }
  }

  /// Deregisters those of the given objects that aren't retained elsewhere.
  final func release(_ keys: [(rootIndex: Int, key: Int64)]) {
    guard !retainsRegisteredObjects else { return }
    let swept = registry.sweep(keys)
    notifyDeregistered(swept.notified)
    removeOwner(of: swept.keys)
  }
}
