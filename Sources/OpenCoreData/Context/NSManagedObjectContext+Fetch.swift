import ManagedModel
import ProfileEvents
import SQLiteDriver

extension NSManagedObjectContext {
  /// Fetches what a request asks for.
  ///
  /// With a batch size, loads page by page to the end; `fetchBatched` loads what is looked at. With
  /// pending changes, the result is what a save followed by the fetch would give, in its order.
  /// Cost: one SELECT, and one for each prefetched step; with a batch size one SELECT of keys and one
  /// for each page. Rows: the matches. Faults: none.
  /// - Throws: an `NSError` for an unknown entity, a predicate that SQL cannot say, a damaged store.
  public final func fetch<T>(
    _ request: NSFetchRequest<T>, file: String = #fileID, line: Int = #line
  ) throws -> [T] {
    try located(file, line) {
      let plan = try FetchPlan(request, model: requiredCoordinator.managedObjectModel)
      switch request.resultType {
      case .managedObjectIDResultType: return try cast(fetchIDs(plan))
      case .countResultType: return try cast([NSNumber(value: count(plan))])
      case .dictionaryResultType:
        throw NSError.fetch("Dictionary results are not supported yet: fetch objects instead.")
      default:
        if plan.batchSize > 0 {
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
    guard scope.callSite == nil else { return try body() }
    scope.callSite = CallSite(file: file, line: line)
    defer { scope.callSite = nil }
    return try body()
  }

  /// One fetch of objects, prefetches included, in one snapshot.
  final func fetchObjects(_ plan: FetchPlan) throws -> [NSManagedObject] {
    endBurst()
    let store = store(for: plan.layout)
    let query = try translate(
      plan, in: store, result: plan.includesPropertyValues ? .rows : .identifiers)
    scope.counters.fetches += 1
    let event = scope.begin(.fetch)
    var objects: [NSManagedObject] = []
    defer { endFetch(event, plan, rows: objects.count) }
    try read(store) { connection, commit in
      sweepBeforeLoad()
      if plan.includesPropertyValues {
        let rows = try store.rows(query, on: connection, for: plan.entityName, in: scope)
        objects = materialise(rows, from: store, commit: commit, plan)
      } else {
        let keys = try store.keys(query, on: connection, for: plan.entityName, in: scope)
        objects = register(keys, from: store)
      }
      objects = overlay(plan, on: objects)
      try prefetch(plan.prefetchPaths, from: objects, of: plan.entity, in: store)
    }
    endBurst()
    return objects
  }

  /// Keys alone, or keys whose rows go into the row cache, owned by the IDs.
  final func fetchIDs(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
    endBurst()
    defer { endBurst() }
    let store = store(for: plan.layout)
    let query = try translate(
      plan, in: store, result: plan.includesPropertyValues ? .rows : .identifiers)
    scope.counters.fetches += 1
    let event = scope.begin(.fetch)
    var ids: [NSManagedObjectID] = []
    defer { endFetch(event, plan, rows: ids.count) }
    try read(store) { connection, commit in
      if plan.includesPropertyValues {
        let rows = try store.rows(query, on: connection, for: plan.entityName, in: scope)
        store.cache(rows, commit: commit)
        ids = rows.map {
          NSManagedObjectID(owning: $0.layout, primaryKey: $0.primaryKey, store: store)
        }
      } else {
        let keys = try store.keys(query, on: connection, for: plan.entityName, in: scope)
        ids = keys.map {
          NSManagedObjectID(layout: $0.layout, primaryKey: $0.primaryKey, store: store)
        }
      }
    }
    guard plan.includesPendingChanges, hasPendingChanges(touching: plan) else { return ids }
    let fetched = ids.map { object(with: $0) }
    // The IDs of the fetch own their rows: those are the ones to give.
    let owning = Dictionary(zip(fetched, ids), uniquingKeysWith: { first, _ in first })
    ids = overlay(plan, on: fetched).map { owning[$0] ?? $0.objectID }
    return ids
  }

  final func count(_ plan: FetchPlan) throws -> Int {
    if plan.includesPendingChanges, hasPendingChanges(touching: plan) {
      var keysOnly = plan
      keysOnly.includesPropertyValues = false
      return try fetchIDs(keysOnly).count
    }
    endBurst()
    defer { endBurst() }
    let store = store(for: plan.layout)
    let query = try translate(plan, in: store, result: .count)
    scope.counters.fetches += 1
    let event = scope.begin(.fetch)
    var count = 0
    defer { endFetch(event, plan, rows: count) }
    try read(store) { connection, _ in
      try store.select(query, on: connection, for: plan.entityName, in: scope) { statement in
        count = Int(statement.int64(0))
      }
    }
    return count
  }

  /// The objects of fetched rows, registered and, when asked for, filled.
  final func materialise(
    _ rows: [FetchedRow], from store: SQLiteStore, commit: UInt64, _ plan: FetchPlan
  ) -> [NSManagedObject] {
    var objects: [NSManagedObject] = []
    objects.reserveCapacity(rows.count)
    var isNew: [Bool] = []
    isNew.reserveCapacity(rows.count)
    if let first = rows.first {
      registry.reserve(rootIndex: first.layout.rootIndex, rows.count)
    }
    for fetched in rows {
      let known = known(fetched.layout, fetched.primaryKey)
      objects.append(known ?? makeFault(fetched.layout, fetched.primaryKey))
      isNew.append(known == nil)
    }
    let current = store.install(rows, owning: isNew, commit: commit)
    for (object, row) in zip(objects, current) {
      if object.isFault, !plan.returnsObjectsAsFaults {
        object.fill(with: row)
      } else if plan.refreshes, !object.isFault, !object.hasChanges {
        object.turnIntoFault()
        object.fill(with: row)
      } else {
        row.release()
      }
    }
    return objects
  }

  /// Faults of fetched keys, which are of one root entity.
  ///
  /// The row cache learns nothing but that they are owned.
  final func register(_ keys: [FetchedIdentity], from store: SQLiteStore) -> [NSManagedObject] {
    guard let rootIndex = keys.first?.layout.rootIndex else { return [] }
    registry.reserve(rootIndex: rootIndex, keys.count)
    var objects: [NSManagedObject] = []
    objects.reserveCapacity(keys.count)
    var fresh: [Int64] = []
    fresh.reserveCapacity(keys.count)
    for identity in keys {
      if let known = known(identity.layout, identity.primaryKey) {
        objects.append(known)
      } else {
        objects.append(makeFault(identity.layout, identity.primaryKey))
        fresh.append(identity.primaryKey)
      }
    }
    store.own(rootIndex: rootIndex, keys: fresh)
    return objects
  }

  final func translate(
    _ plan: FetchPlan, in store: SQLiteStore, result: SQLTranslator.Result
  ) throws -> SelectQuery {
    do {
      return try store.translator.fetch(
        entity: store.entity(plan.layout), predicate: plan.predicate, sort: plan.sort,
        limit: plan.limit, offset: plan.offset, includesSubentities: plan.includesSubentities,
        result: result)
    } catch {
      throw NSError.translation(error, entity: plan.entityName)
    }
  }

  /// A fault of a row that is not registered yet; the caller adds its owner to the row cache.
  private func makeFault(_ layout: EntityLayout, _ key: Int64) -> NSManagedObject {
    let object = layout.objectClass.init(entity: layout.entity, insertInto: nil)
    object.becomeFault(primaryKey: key, in: self)
    registry.add(object)
    return object
  }

  private func endFetch(_ event: OpenEvent?, _ plan: FetchPlan, rows: Int) {
    scope.end(event) { event in
      event.entity = plan.entityName
      event.rows = rows
    }
  }

  /// Gives a result the type the caller asked for.
  private func cast<T, U>(_ values: [U]) throws -> [T] {
    guard let values = values as? [T] else {
      throw NSError.fetch("The result holds \(U.self), but the request was made for \(T.self).")
    }
    return values
  }

  /// Gives fetched objects the class the caller asked for, at the price of a look at each entity.
  private func castObjects<T>(_ objects: [NSManagedObject], of plan: FetchPlan) throws -> [T] {
    if T.self is NSManagedObject.Type, plan.classes.allSatisfy({ $0 is T.Type }) {
      // Every object is of a class of the plan's entities, all of them T or below it; arrays of
      // class references are laid out alike.
      return unsafeBitCast(objects, to: [T].self)
    }
    return try cast(objects)
  }
}

extension FetchPlan {
  var entityName: String { entity.name ?? "" }
}
