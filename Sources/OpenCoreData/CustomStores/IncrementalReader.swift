import ManagedModel
import ProfileEvents

/// Reads an incremental store for a context.
///
/// There's no snapshot: each call reads the store's current state.
final class IncrementalReader: StoreReader {
  private let source: NSIncrementalStore
  private unowned let context: NSManagedObjectContext

  init(_ source: NSIncrementalStore, _ context: NSManagedObjectContext) {
    self.source = source
    self.context = context
    commit = source.commitNumber
  }

  var store: CachingStore { source }
  /// The store's commit number before the last call.
  private(set) var commit: UInt64
  var generation: StoreGeneration? { nil }
  var isFresh: Bool { true }

  func end() {}

  /// Calls the store, after recording its commit number.
  private func calling<R>(
    in scope: ProfileScope, prefetching owner: PrefetchedRows? = nil,
    _ body: (NSIncrementalStore) throws -> R
  ) throws -> R {
    commit = source.commitNumber
    return try source.calling(in: scope, prefetching: owner) { try body(source) }
  }

  // MARK: Requests

  func identities(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedIdentity] {
    guard plan.delegated?.returnsObjects == true else {
      let ids: [NSManagedObjectID] = try items(plan, .managedObjectIDResultType, in: scope)
      return try ids.map { id in
        guard id.handle === source.handle, !id.isTemporaryID, plan.covers(id.layout) else {
          throw unexpected(id, plan)
        }
        return id.identity
      }
    }
    let paths = Set(plan.delegated?.prefetchPaths ?? [])
    let prefetched = paths.isEmpty ? nil : PrefetchedRows(store: source, paths: paths)
    let result = try result(
      of: plan, .managedObjectResultType, prefetching: prefetched, in: scope)
    if let rows = result as? IncrementalStoreRows {
      return try register(rows, plan, retaining: prefetched)
    }
    guard let objects = result as? [NSManagedObject] else { throw unexpected(result, plan) }
    for object in objects {
      guard object.context === context, object.primaryKey > 0, plan.covers(object.layout),
        object.layout.storeIndex == source.storeIndex
      else { throw unexpected(object, plan) }
      if plan.refreshes, !object.isFault {
        source.discard([object.identity])
        if let row = try row(of: object) { context.refresh(object, with: row) }
      } else if !plan.returnsObjectsAsFaults, object.isFault, let row = try row(of: object) {
        object.fulfill(with: row)
      }
    }
    retain(prefetched, by: objects)
    return objects.map(\.identity)
  }

  /// Returns an object's row from the row cache or the store, retained for the caller, without
  /// counting a fault; `nil` if there's none.
  private func row(of object: NSManagedObject) throws -> Row? {
    try context.cachedRow(of: object, in: source, notBefore: context.oldestAccepted)
      ?? context.storedRow(of: object, in: source)
  }

  /// Registers the objects of rows, and caches the rows.
  private func register(
    _ rows: IncrementalStoreRows, _ plan: FetchPlan, retaining prefetched: PrefetchedRows?
  ) throws -> [FetchedIdentity] {
    let identities = Array(rows.identities)
    var covered: EntityLayout?
    for identity in identities where covered.map({ !identity.isOf($0) }) ?? true {
      let layout = identity.layout
      guard layout.storeIndex == source.storeIndex, plan.covers(layout) else {
        throw unexpected(rows, plan)
      }
      covered = layout
    }
    guard covered != nil else { return [] }
    retain(prefetched, by: context.makeObservedObjects(rows.take(), from: self, plan))
    return identities
  }

  /// Makes objects retain the rows that were prefetched for their fetch.
  private func retain(_ prefetched: PrefetchedRows?, by objects: [NSManagedObject]) {
    guard let prefetched else { return }
    for object in objects {
      object.prefetched = object.prefetched.map { $0.joined(with: prefetched) } ?? prefetched
    }
  }

  func dictionaries(
    _ plan: FetchPlan, _ dictionary: DictionaryPlan, in scope: ProfileScope
  ) throws -> [[String: Any]] {
    let request = plan.request(.dictionaryResultType, from: source)
    let result = try calling(in: scope) { try $0.execute(request, with: context) }
    if let dictionaries = result as? [[String: Any]] { return dictionaries }
    guard let dictionaries = result as? [NSDictionary] else { throw unexpected(result, plan) }
    return dictionaries.map { dictionary in
      Dictionary(
        dictionary.compactMap { key, value in (key as? String).map { ($0, value) } },
        uniquingKeysWith: { first, _ in first })
    }
  }

  func count(_ plan: FetchPlan, in scope: ProfileScope) throws -> Int {
    if let dictionary = plan.dictionary {
      return try dictionaries(plan, dictionary, in: scope).count
    }
    let request = plan.request(.countResultType, from: source)
    let result = try calling(in: scope) { try $0.execute(request, with: context) }
    let first = (result as? [Any])?.first ?? result
    guard let count = (first as? NSNumber)?.intValue ?? first as? Int, count >= 0 else {
      throw unexpected(result, plan)
    }
    return count
  }

  private func items<Item>(
    _ plan: FetchPlan, _ resultType: NSFetchRequestResultType, in scope: ProfileScope
  ) throws -> [Item] {
    let result = try result(of: plan, resultType, in: scope)
    guard let items = result as? [Item] else { throw unexpected(result, plan) }
    return items
  }

  private func result(
    of plan: FetchPlan, _ resultType: NSFetchRequestResultType,
    prefetching owner: PrefetchedRows? = nil, in scope: ProfileScope
  ) throws -> Any {
    let request = plan.request(resultType, from: source)
    return try calling(in: scope, prefetching: owner) { try $0.execute(request, with: context) }
  }

  private func unexpected(_ result: Any, _ plan: FetchPlan) -> NSError {
    NSError.store(
      "execute(_:with:) of \(type(of: source)) returned \(type(of: result)) for a fetch of "
        + "'\(plan.entityName)': return an array of the request's result type, with objects of the "
        + "context or IDs of the store, saved and of that entity.")
  }

  // MARK: Rows

  func row(_ layout: EntityLayout, _ key: Int64, in scope: ProfileScope) throws -> FetchedRow? {
    let id = NSManagedObjectID(layout: layout, primaryKey: key, store: source)
    let node: NSIncrementalStoreNode
    do {
      node = try calling(in: scope) { try $0.newValuesForObject(with: id, with: context) }
    } catch let error as NSError
      where error.domain == NSCocoaErrorDomain
      && error.code == NSManagedObjectReferentialIntegrityError
    {
      // There are no values: a fault is inaccessible, as one without a row.
      source.noteMissing(id, error)
      return nil
    }
    guard node.objectID.isEqual(id) else {
      throw NSError.store(
        "newValuesForObject(with:with:) of \(type(of: source)) returned the node of "
          + "\(node.objectID) for \(id).")
    }
    node.store = source
    let found = try IncrementalRow(node, layout, of: source) { relationship in
      let value = try calling(in: scope) {
        try $0.newValue(forRelationship: relationship, forObjectWith: id, with: context)
      }
      return try IncrementalRow.destination(value, relationship, source)
    }
    source.remember(found, commit: commit)
    return found.fetched
  }

  /// Fetches IDs, and reads the rows that the row cache doesn't have one by one.
  func rows(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedRow] {
    try rows(identities(plan, in: scope), in: scope)
  }

  func rows(
    _ keys: ContiguousArray<Int64>, of layout: EntityLayout, batchSize: Int?, in scope: ProfileScope
  ) throws -> [FetchedRow] {
    try rows(Set(keys).sorted().map { source.identity(of: $0, layout) }, in: scope)
  }

  private func rows(
    _ identities: [FetchedIdentity], in scope: ProfileScope
  ) throws -> [FetchedRow] {
    let cached = identities.map(cachedRow)
    var rows: [FetchedRow] = []
    rows.reserveCapacity(identities.count)
    var reached = 0
    do {
      try prepare(zip(identities, cached).filter { $0.1 == nil }.map(\.0), in: scope)
      for (identity, cached) in zip(identities, cached) {
        let (layout, key) = (identity.layout, identity.primaryKey)
        if let cached {
          rows.append(FetchedRow(layout: layout, primaryKey: key, row: cached))
        } else if let row = try row(layout, key, in: scope) {
          rows.append(row)
        }
        reached += 1
      }
    } catch {
      for row in rows { row.row.release() }
      for row in cached[reached...] { row?.release() }
      throw error
    }
    return rows
  }

  /// Returns the row cache's row of an object if it's of exactly this entity, retained for the
  /// caller.
  private func cachedRow(_ identity: FetchedIdentity) -> Row? {
    let (layout, key) = (identity.layout, identity.primaryKey)
    let cached = source.withShared {
      $0.rows.row(rootIndex: layout.rootIndex, key: key, notBefore: context.oldestAccepted)
    }
    guard let cached, cached.layoutIndex != layout.index else { return cached }
    cached.release()
    return nil
  }

  /// Makes the store read the values of several objects together.
  private func prepare(_ missing: [FetchedIdentity], in scope: ProfileScope) throws {
    guard type(of: source).loadsBatches, missing.count > 1 else { return }
    let ids = missing.map {
      NSManagedObjectID(layout: $0.layout, primaryKey: $0.primaryKey, store: source)
    }
    try calling(in: scope) { try $0.prepareValues(forObjectsWith: ids, with: context) }
  }

  // MARK: Relationships

  func destinations(
    of relationship: NSRelationshipDescription, _ owner: FetchedIdentity, in scope: ProfileScope
  ) throws -> [FetchedIdentity] {
    let id = NSManagedObjectID(layout: owner.layout, primaryKey: owner.primaryKey, store: source)
    let value = try calling(in: scope) {
      try $0.newValue(forRelationship: relationship, forObjectWith: id, with: context)
    }
    return try IncrementalRow.destinations(value, relationship, source)
  }

  func linkedRows(
    of relationship: NSRelationshipDescription, _ owners: [FetchedIdentity],
    in scope: ProfileScope, links: inout [Int64: [FetchedIdentity]]
  ) throws -> [FetchedRow] {
    var seen: Set<RowKey> = []
    var reached: [FetchedIdentity] = []
    for owner in owners {
      let found = try destinations(of: relationship, owner, in: scope)
      links[owner.primaryKey] = found
      reached += found.filter { seen.insert(RowKey($0)).inserted }
    }
    return try rows(reached, in: scope)
  }
}

extension NSManagedObjectContext {
  /// Returns the objects of fetched rows as `makeObjects` does, and notifies an incremental store
  /// of those that weren't registered.
  final func makeObservedObjects(
    _ rows: [FetchedRow], from reader: any StoreReader, _ plan: FetchPlan
  ) -> [NSManagedObject] {
    guard let store = reader.store as? NSIncrementalStore,
      type(of: store).observesRegistrations, let rootIndex = rows.first?.layout.rootIndex
    else { return makeObjects(rows, from: reader, plan) }
    let new = Set(rows.map(\.identity).filter { isUnregistered($0) }.map(\.primaryKey))
    let objects = makeObjects(rows, from: reader, plan)
    if !new.isEmpty { store.didRegister(rootIndex: rootIndex, keys: new.sorted()) }
    return objects
  }

  private func isUnregistered(_ identity: FetchedIdentity) -> Bool {
    let object = registry.object(rootIndex: identity.layout.rootIndex, key: identity.primaryKey)
    return object.map { !identity.isOf($0.layout) } ?? true
  }
}
