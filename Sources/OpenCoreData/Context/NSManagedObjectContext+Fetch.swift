import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Returns the items that match a fetch request.
  ///
  /// With a batch size, loads all batches before it returns; `fetchBatched` loads them on demand.
  ///
  /// Unsaved changes are merged into what the store returns, before the offset and the limit are
  /// applied: objects that no longer match are removed, and objects that match now are inserted in
  /// order. If an unsaved change of a related object alters the order, all are sorted in memory.
  /// Only unsaved changes of the fetched entity are merged, so without any, the predicate and the
  /// order are those of the saved values of related objects.
  ///
  /// **Cost:** one SELECT, and one for each relationship of a prefetched key path, two if it's
  /// many-to-many; with a batch size, one SELECT for the object IDs and one for each batch; all of
  /// that for each store that contains the entity. Rows: the matches; with several stores, up to
  /// offset plus limit from each; with unsaved changes, also the skipped ones, and one for each
  /// updated or deleted object. Faults: none, except those of destinations by which objects of
  /// several stores are sorted, and those of all matches if an in-memory store sorts by a transient
  /// property.
  /// - Parameters:
  ///   - request: The request to execute.
  ///   - file: The file of the call site, which the events contain.
  ///   - line: The line of the call site, which the events contain.
  /// - Throws: An `NSError` if the entity is unknown, the predicate can't be translated to SQL, the
  ///   store can't be read, or the results aren't of the requested type.
  public final func fetch<T>(
    _ request: NSFetchRequest<T>, file: String = #fileID, line: Int = #line
  ) throws -> [T] {
    try located(file, line) {
      let plan = try FetchPlan(request, model: requiredCoordinator.managedObjectModel)
      switch request.resultType {
      case .managedObjectIDResultType: return try cast(fetchIDs(plan))
      case .countResultType: return try cast([NSNumber(value: count(plan))])
      case .dictionaryResultType: return try castDictionaries(fetchDictionaries(plan))
      default:
        if plan.batchSize > 0, parent == nil || prefetchesThroughParent {
          let pages = try fetchBatches(plan)
          return try cast((0..<pages.count).map { try pages.object(at: $0) })
        }
        return try castObjects(fetchObjects(plan), of: plan)
      }
    }
  }

  /// Returns the number of objects that match a fetch request.
  ///
  /// **Cost:** one `SELECT COUNT`, which adds no rows to the row cache; with unsaved changes of
  /// the entity, a fetch of object IDs into which the changes are merged.
  /// - Parameters:
  ///   - request: The request whose matches to count.
  ///   - file: The file of the call site, which the events contain.
  ///   - line: The line of the call site, which the events contain.
  /// - Returns: The number, after the request's offset and limit.
  /// - Throws: The errors of `fetch(_:)`.
  public final func count<T>(
    for request: NSFetchRequest<T>, file: String = #fileID, line: Int = #line
  ) throws -> Int {
    try located(file, line) {
      try count(FetchPlan(request, model: requiredCoordinator.managedObjectModel))
    }
  }

  /// Runs a body with a call site, unless one was set for the context.
  final func located<R>(_ file: String, _ line: Int, _ body: () throws -> R) rethrows -> R {
    checkQueue()
    guard scope.callSite == nil else { return try body() }
    scope.callSite = CallSite(file: file, line: line)
    defer { scope.callSite = nil }
    return try body()
  }

  /// Runs one fetch of objects, including prefetches, in one snapshot.
  final func fetchObjects(_ plan: FetchPlan) throws -> [NSManagedObject] {
    if let widened = widened(plan) { return try fetchObjects(widened) }
    if parent != nil { return try fetchThroughParent(plan) }
    guard let store = try onlyStore(of: plan), !plan.isSortedByObjects(of: store) else {
      return try fetchAcross(plan)
    }
    let plan = plan.at(store)
    return try fetching(plan, from: store) { reader in
      sweepBeforeLoad()
      var objects: [NSManagedObject]
      if plan.includesPropertyValues {
        let rows = try reader.rows(plan, in: scope)
        objects = makeObjects(rows, from: reader, plan)
      } else {
        objects = register(try reader.identities(plan, in: scope), from: reader.store)
      }
      objects = try overlay(plan, on: objects)
      try prefetch(plan.prefetchPaths, from: objects, of: plan.entity, in: store)
      return (objects, objects.count)
    }
  }

  /// Fetches object IDs only, or object IDs whose rows are added to the row cache and retained by
  /// the IDs.
  final func fetchIDs(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
    if let widened = widened(plan) { return try fetchIDs(widened) }
    return try overlay(plan, on: parent == nil ? storedIDs(plan) : parentIDs(plan))
  }

  /// Fetches identities only, without an object ID for each.
  ///
  /// - Returns: `nil` if unsaved changes must be merged, or the matches aren't those of one store's
  ///   SELECT.
  final func fetchIdentities(_ plan: FetchPlan) throws -> [FetchedIdentity]? {
    guard parent == nil, !plan.includesPendingChanges || !hasPendingChanges(touching: plan),
      let store = try onlyStore(of: plan), !plan.isSortedByObjects(of: store)
    else { return nil }
    let plan = plan.at(store)
    return try fetching(plan, from: store) { reader in
      let identities = try reader.identities(plan, in: scope)
      return (identities, identities.count)
    }
  }

  private func storedIDs(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
    guard let store = try onlyStore(of: plan), !plan.isSortedByObjects(of: store) else {
      return try fetchIDsAcross(plan)
    }
    let plan = plan.at(store)
    return try fetching(plan, from: store) { reader in
      let ids: [NSManagedObjectID]
      if plan.includesPropertyValues {
        let rows = try reader.rows(plan, in: scope)
        reader.cache(rows)
        ids = rows.map {
          NSManagedObjectID(owning: $0.layout, primaryKey: $0.primaryKey, store: store)
        }
      } else {
        ids = try reader.identities(plan, in: scope).map {
          NSManagedObjectID(layout: $0.layout, primaryKey: $0.primaryKey, store: store)
        }
      }
      return (ids, ids.count)
    }
  }

  /// Fetches dictionaries of saved values: no objects are created, no rows cached, and unsaved
  /// changes ignored.
  final func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] {
    if parent != nil { return try parentDictionaries(plan) }
    guard let store = try onlyStore(of: plan) else { return try fetchDictionariesAcross(plan) }
    let plan = plan.at(store)
    return try fetching(plan, from: store) { reader in
      guard let dictionary = plan.dictionary else { return ([], 0) }
      let dictionaries = try reader.dictionaries(plan, dictionary, in: scope)
      return (dictionaries, dictionaries.count)
    }
  }

  final func count(_ plan: FetchPlan) throws -> Int {
    if plan.dictionary == nil, plan.includesPendingChanges, hasPendingChanges(touching: plan) {
      var keysOnly = plan
      keysOnly.includesPropertyValues = false
      // The order only determines which rows are within the limits.
      if plan.limit == 0, plan.offset == 0 { keysOnly.sort = [] }
      return try fetchIDs(keysOnly).count
    }
    if parent != nil { return try parentCount(plan) }
    guard let store = try onlyStore(of: plan) else { return try countAcross(plan) }
    let plan = plan.at(store)
    return try fetching(plan, from: store) { reader in
      let count = try reader.count(plan, in: scope)
      return (count, count)
    }
  }

  /// Runs one fetch in its own snapshot, then counts and reports it if it succeeded.
  ///
  /// - Parameter body: Returns the result and the number of rows to report.
  private func fetching<R>(
    _ plan: FetchPlan, from store: RowStore,
    _ body: (any StoreReader) throws -> (result: R, rows: Int)
  ) throws -> R {
    try fetching(plan) { try read(store, body) }
  }

  /// Runs one fetch, then counts and reports it if it succeeded.
  ///
  /// - Parameter body: Returns the result and the number of rows to report.
  final func fetching<R>(
    _ plan: FetchPlan, _ body: () throws -> (result: R, rows: Int)
  ) throws -> R {
    endReadTransaction()
    defer { endReadTransaction() }
    let event = scope.begin(.fetch)
    do {
      let (result, rows) = try body()
      scope.counters.fetches += 1
      scope.end(event) { event in
        event.entity = plan.entityName
        event.rows = rows
        if scope.demand.includes(.rows) { event.request = plan.record }
      }
      return result
    } catch {
      scope.abandon(event)
      throw error
    }
  }

  /// Returns the objects of fetched rows, registered and, if requested, realized.
  final func makeObjects(
    _ rows: [FetchedRow], from reader: any StoreReader, _ plan: FetchPlan
  ) -> [NSManagedObject] {
    var isNew: [Bool] = []
    isNew.reserveCapacity(rows.count)
    let objects = register(rows.lazy.map(\.identity)) { isNew.append($1) }
    let current = reader.install(rows, owning: isNew)
    let seesNewest = reads.pin == nil && parent == nil
    for (object, row) in zip(objects, current) {
      if object.isFault, !plan.returnsObjectsAsFaults {
        object.fulfill(with: row)
      } else if plan.refreshes, !object.isFault {
        refresh(object, with: row)
      } else if seesNewest, object.isFault, row.layoutIndex == object.layout.index {
        object.retainCachedRow(row)
      } else if object.state.contains(.inaccessible) {
        revive(object, with: row)
      } else {
        row.release()
      }
    }
    return objects
  }

  /// Returns faults for fetched primary keys, which have one root entity.
  ///
  /// The row cache only records that they have an owner.
  final func register(_ keys: [FetchedIdentity], from store: CachingStore) -> [NSManagedObject] {
    guard let rootIndex = keys.first?.layout.rootIndex else { return [] }
    var fresh: [Int64] = []
    fresh.reserveCapacity(keys.count)
    let objects = register(keys) { key, isNew in
      if isNew { fresh.append(key) }
    }
    store.addOwner(rootIndex: rootIndex, keys: fresh)
    return objects
  }

  /// Returns the registered objects of rows of one root entity, creating faults where there are
  /// none; the caller adds those as owners to the row cache.
  ///
  /// An object is retained by the registry and by the array, and by nothing else in between.
  ///
  /// - Parameter visit: Gets each key, and whether its object is new.
  @inline(__always)
  private func register(
    _ identities: some Collection<FetchedIdentity>,
    _ visit: (_ primaryKey: Int64, _ isNew: Bool) -> Void
  ) -> [NSManagedObject] {
    guard let first = identities.first?.layout else { return [] }
    // All are in one store; the objects of any other store need its layout.
    if first.storeIndex != 0 { return registerElsewhere(identities, visit) }
    registry.reserve(rootIndex: first.rootIndex, identities.count)
    return Array(unsafeUninitializedCapacity: identities.count) { objects, count in
      // Variables that the closure captured would be retained for each row.
      var layout = first
      var (entity, objectClass) = (layout.entity, layout.objectClass)
      for identity in identities {
        if !identity.isOf(layout) {
          layout = identity.layout
          (entity, objectClass) = (layout.entity, layout.objectClass)
        }
        if let known = known(layout, identity.primaryKey) {
          objects.initializeElement(at: count, to: known)
          visit(identity.primaryKey, false)
        } else {
          let object = objectClass.init(entity: entity, insertInto: nil)
          object.becomeFault(primaryKey: identity.primaryKey, in: self)
          registry.add(object, rootIndex: layout.rootIndex, index: layout.index)
          objects.initializeElement(at: count, to: object)
          visit(identity.primaryKey, true)
        }
        count += 1
      }
    }
  }

  private func registerElsewhere(
    _ identities: some Collection<FetchedIdentity>,
    _ visit: (_ primaryKey: Int64, _ isNew: Bool) -> Void
  ) -> [NSManagedObject] {
    identities.map { identity in
      let layout = identity.layout
      let known = known(layout, identity.primaryKey)
      visit(identity.primaryKey, known == nil)
      if let known { return known }
      let object = layout.makeObject()
      object.becomeFault(primaryKey: identity.primaryKey, in: self)
      registry.add(object)
      return object
    }
  }

  /// Casts a result to the type that the caller requested.
  private func cast<T, U>(_ values: [U]) throws -> [T] {
    guard let values = values as? [T] else {
      throw NSError.fetch("The result contains \(U.self), but the request is for \(T.self).")
    }
    return values
  }

  /// Returns dictionaries as Swift's or Foundation's type, as the caller requested.
  private func castDictionaries<T>(_ dictionaries: [[String: Any]]) throws -> [T] {
    if T.self == [String: Any].self { return try cast(dictionaries) }
    return try cast(dictionaries.map { NSDictionary(dictionary: $0) })
  }

  /// Casts fetched objects to the class that the caller requested, with one check for each entity.
  private func castObjects<T>(_ objects: [NSManagedObject], of plan: FetchPlan) throws -> [T] {
    if T.self is NSManagedObject.Type, !hasObjectsOfOtherClasses,
      plan.classes.allSatisfy({ $0 is T.Type })
    {
      // Every object is an instance of a class of the plan's entities, which are T or subclasses,
      // and arrays of class references have one layout. A checked cast of the array checks each
      // object: 411 more instructions for each, 8 % of a realized fetch (`make gates`).
      return unsafeBitCast(objects, to: [T].self)
    }
    return try cast(objects)
  }
}

extension FetchPlan {
  var entityName: String { entity.name ?? "" }
}
