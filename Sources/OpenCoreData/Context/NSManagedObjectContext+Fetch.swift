import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Fetches what a request asks for.
  ///
  /// With a batch size, loads page by page to the end; `fetchBatched` loads what is looked at.
  ///
  /// Unsaved changes are merged into what the store returns: objects that no longer match are left
  /// out, those that match now are put at their positions. The store applies the offset and the limit
  /// to what is saved, before the merge; afterward only the limit is applied again. So with a limit the
  /// result may have fewer objects than a save followed by the fetch would return, since none are
  /// fetched in place of those that no longer match; and with an offset it has matching unsaved
  /// objects that belong before the offset. Save first to page through changed objects.
  ///
  /// Cost: one SELECT, and one for each prefetched step; with a batch size one SELECT of keys and one
  /// for each page; all of that for each store that holds the entity. Rows: the matches, of several
  /// stores up to offset and limit of each. Faults: none, but those of destinations by which several
  /// stores' objects are sorted, and those of all matches where a store in memory is to sort by a
  /// transient property.
  /// - Throws: an `NSError` for an unknown entity, a predicate that SQL cannot say, a damaged store.
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
          let pages = try batches(plan)
          return try cast((0..<pages.count).map { try pages.object(at: $0) })
        }
        return try castObjects(fetchObjects(plan), of: plan)
      }
    }
  }

  /// The number of objects that a request would fetch.
  ///
  /// Cost: one `SELECT COUNT`, no rows for the row cache; with pending updates or deletions of the
  /// entity, an ID fetch that is reconciled in memory.
  public final func count<T>(
    for request: NSFetchRequest<T>, file: String = #fileID, line: Int = #line
  ) throws -> Int {
    try located(file, line) {
      try count(FetchPlan(request, model: requiredCoordinator.managedObjectModel))
    }
  }

  /// Runs a body under a call site, unless one was set for everything.
  final func located<R>(_ file: String, _ line: Int, _ body: () throws -> R) rethrows -> R {
    checkQueue()
    guard scope.callSite == nil else { return try body() }
    scope.callSite = CallSite(file: file, line: line)
    defer { scope.callSite = nil }
    return try body()
  }

  /// One fetch of objects, prefetches included, in one snapshot.
  final func fetchObjects(_ plan: FetchPlan) throws -> [NSManagedObject] {
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
        objects = materialise(rows, from: reader, plan)
      } else {
        objects = register(try reader.identities(plan, in: scope), from: reader.store)
      }
      objects = try overlay(plan, on: objects)
      try prefetch(plan.prefetchPaths, from: objects, of: plan.entity, in: store)
      return (objects, objects.count)
    }
  }

  /// Keys alone, or keys whose rows go into the row cache, owned by the IDs.
  final func fetchIDs(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
    try overlay(plan, on: parent == nil ? storedIDs(plan) : parentIDs(plan))
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

  /// Dictionaries of what is saved: no object is made, no row is cached, pending changes are not seen.
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
      // An order only says which rows lie within the limits.
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

  /// Runs one fetch in a snapshot of its own: counts it and tells it once it has succeeded.
  ///
  /// - Parameter body: Gives the result and the number of rows to tell.
  private func fetching<R>(
    _ plan: FetchPlan, from store: RowStore,
    _ body: (any StoreReader) throws -> (result: R, rows: Int)
  ) throws -> R {
    try fetching(plan) { try read(store, body) }
  }

  /// Counts one fetch and tells it once it has succeeded.
  ///
  /// - Parameter body: Gives the result and the number of rows to tell.
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
        if scope.hub.detail.contains(.rows) { event.request = plan.record }
      }
      return result
    } catch {
      scope.abandon(event)
      throw error
    }
  }

  /// The objects of fetched rows, registered and, when asked for, filled.
  final func materialise(
    _ rows: [FetchedRow], from reader: any StoreReader, _ plan: FetchPlan
  ) -> [NSManagedObject] {
    var objects: [NSManagedObject] = []
    objects.reserveCapacity(rows.count)
    var isNew: [Bool] = []
    isNew.reserveCapacity(rows.count)
    register(rows.lazy.map(\.identity)) { object, new in
      objects.append(object)
      isNew.append(new)
    }
    let current = reader.install(rows, owning: isNew)
    let seesNewest = reads.pin == nil && parent == nil
    for (object, row) in zip(objects, current) {
      if object.isFault, !plan.returnsObjectsAsFaults {
        object.fill(with: row)
      } else if plan.refreshes, !object.isFault, !object.hasChanges {
        object.turnIntoFault()
        object.fill(with: row)
      } else if seesNewest, object.isFault, row.layoutIndex == object.layout.index {
        object.retainCachedRow(row)
      } else {
        row.release()
      }
    }
    return objects
  }

  /// Faults of fetched keys, which are of one root entity.
  ///
  /// The row cache learns nothing but that they are owned.
  final func register(_ keys: [FetchedIdentity], from store: CachingStore) -> [NSManagedObject] {
    guard let rootIndex = keys.first?.layout.rootIndex else { return [] }
    var objects: [NSManagedObject] = []
    objects.reserveCapacity(keys.count)
    var fresh: [Int64] = []
    fresh.reserveCapacity(keys.count)
    register(keys) { object, isNew in
      if isNew { fresh.append(object.primaryKey) }
      objects.append(object)
    }
    store.own(rootIndex: rootIndex, keys: fresh)
    return objects
  }

  /// Visits the registered objects of rows of one root entity, and new faults where there are none,
  /// whose owners the caller adds to the row cache.
  ///
  /// A layout is counted once for a run of its rows.
  @inline(__always)
  private func register(
    _ identities: some Collection<FetchedIdentity>,
    _ visit: (_ object: consuming NSManagedObject, _ isNew: Bool) -> Void
  ) {
    guard var layout = identities.first?.layout else { return }
    // All are of one store; those of a further one have to be told so.
    if layout.place != 0 { return registerElsewhere(identities, visit) }
    registry.reserve(rootIndex: layout.rootIndex, identities.count)
    var (entity, objectClass) = (layout.entity, layout.objectClass)
    for identity in identities {
      if !identity.isOf(layout) {
        layout = identity.layout
        (entity, objectClass) = (layout.entity, layout.objectClass)
      }
      if let known = known(layout, identity.primaryKey) {
        visit(known, false)
      } else {
        let object = objectClass.init(entity: entity, insertInto: nil)
        object.becomeFault(primaryKey: identity.primaryKey, in: self)
        registry.add(object, rootIndex: layout.rootIndex, index: layout.index)
        visit(object, true)
      }
    }
  }

  private func registerElsewhere(
    _ identities: some Collection<FetchedIdentity>,
    _ visit: (_ object: consuming NSManagedObject, _ isNew: Bool) -> Void
  ) {
    for identity in identities {
      let layout = identity.layout
      if let known = known(layout, identity.primaryKey) {
        visit(known, false)
      } else {
        let object = layout.makeObject()
        object.becomeFault(primaryKey: identity.primaryKey, in: self)
        registry.add(object)
        visit(object, true)
      }
    }
  }

  /// Gives a result the type the caller asked for.
  private func cast<T, U>(_ values: [U]) throws -> [T] {
    guard let values = values as? [T] else {
      throw NSError.fetch("The result contains \(U.self), but the request was made for \(T.self).")
    }
    return values
  }

  /// Gives dictionaries as Swift's or as Foundation's, as the caller asked.
  private func castDictionaries<T>(_ dictionaries: [[String: Any]]) throws -> [T] {
    if T.self == [String: Any].self { return try cast(dictionaries) }
    return try cast(dictionaries.map { NSDictionary(dictionary: $0) })
  }

  /// Gives fetched objects the class the caller asked for, at the price of a look at each entity.
  private func castObjects<T>(_ objects: [NSManagedObject], of plan: FetchPlan) throws -> [T] {
    if T.self is NSManagedObject.Type, plan.classes.allSatisfy({ $0 is T.Type }) {
      // Every object is an instance of a class of the plan's entities, which are T or subclasses, and
      // arrays of class references have one layout. A checked cast of the array looks at each object:
      // 411 more instructions for each, 8 % of a realized fetch (`make gates`).
      return unsafeBitCast(objects, to: [T].self)
    }
    return try cast(objects)
  }
}

extension FetchPlan {
  var entityName: String { entity.name ?? "" }
}
