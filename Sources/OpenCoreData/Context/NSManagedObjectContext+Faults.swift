import ManagedModel
import ProfileEvents
import SQLiteDriver

extension NSManagedObjectContext {
  /// Fills a fault that was read; one whose row is gone becomes deleted, or traps.
  final func fire(_ object: NSManagedObject) {
    do {
      if try fill(object) { return }
    } catch {
      preconditionFailure("a fault of \(object.objectID) could not be filled: \(error)")
    }
    guard shouldDeleteInaccessibleFaults else {
      preconditionFailure("the row of \(object.objectID) does not exist any more")
    }
    object.becomeInaccessible()
    changes.eventDeleted.insert(object)
  }

  /// Fills a fault from the row cache or the database: one object fault, told and counted.
  /// - Returns: False when the row does not exist.
  final func fill(_ object: NSManagedObject) throws -> Bool {
    let layout = object.layout
    let store = requiredCoordinator.store(for: layout)
    let event = scope.begin(.objectFault)
    var source = FaultSource.rowCache
    var row = cachedRow(of: object, in: store)
    tellLookup(row != nil, of: object, in: store)
    if row == nil {
      source = .database
      do {
        row = try storedRow(of: object, in: store)
      } catch {
        scope.abandon(event)
        throw error
      }
    }
    switch source {
    case .rowCache: scope.counters.objectFaultHits += 1
    default: scope.counters.objectFaultMisses += 1
    }
    scope.end(event) { event in
      event.entity = layout.entity.name
      event.object = store.reference(layout, object.primaryKey)
      event.source = source
      event.rows = row == nil ? 0 : 1
    }
    guard let row else { return false }
    object.fill(with: row)
    return true
  }

  /// Fills a to-many: its keys from the cache beside the rows or from the database, its objects as
  /// faults.
  ///
  /// One relationship fault.
  final func fireRelationship(
    _ relationship: NSRelationshipDescription, of object: NSManagedObject, into value: ToManyValue
  ) {
    do {
      value.fill(try destinations(of: relationship, of: object))
    } catch {
      preconditionFailure("'\(relationship.name)' of \(object.objectID) failed to load: \(error)")
    }
  }

  /// The oldest timestamp that a row of the row cache may have.
  final var oldestAccepted: Double {
    if stalenessInterval < 0 { return -.infinity }
    return Date.timeIntervalSinceReferenceDate - stalenessInterval
  }

  /// Reads through the burst's connection inside a perform block, else through one of its own.
  ///
  /// Whatever goes wrong is thrown as an `NSError`.
  @discardableResult
  final func read<R>(_ store: SQLiteStore, _ body: (Connection, UInt64) throws -> R) throws -> R {
    do {
      if depth == 0 {
        let single = try ReadBurst(store: store)
        defer { single.end() }
        return try body(single.connection, single.commit)
      }
      let current = try currentBurst(of: store)
      return try body(current.connection, current.commit)
    } catch {
      throw NSError.from(error, store: store)
    }
  }

  private func currentBurst(of store: SQLiteStore) throws -> ReadBurst {
    if let burst, burst.store === store, burst.isFresh { return burst }
    endBurst()
    let fresh = try ReadBurst(store: store)
    burst = fresh
    return fresh
  }

  private func destinations(
    of relationship: NSRelationshipDescription, of object: NSManagedObject
  ) throws -> [NSManagedObject] {
    let store = requiredCoordinator.store(for: object.layout)
    let key = ToManyCache.Key(
      rootIndex: object.layout.rootIndex, primaryKey: object.primaryKey,
      relationship: relationship.name)
    let event = scope.begin(.relationshipFault)
    var source = FaultSource.rowCache
    let oldest = oldestAccepted
    var found = store.withShared { $0.toMany.destinations(key, notBefore: oldest) }
    defer {
      switch source {
      case .rowCache: scope.counters.relationshipFaultHits += 1
      default: scope.counters.relationshipFaultMisses += 1
      }
      scope.end(event) { event in
        event.entity = object.layout.entity.name
        event.relationship = relationship.name
        event.object = store.reference(object.layout, object.primaryKey)
        event.source = source
        event.rows = found?.count ?? 0
      }
    }
    if found == nil {
      source = .database
      found = try storedDestinations(of: relationship, of: object, key: key, in: store)
    }
    sweepBeforeLoad()
    let objects = (found ?? []).map { registered($0.layout, $0.primaryKey) }
    registry.notePeaks()
    return objects
  }

  private func storedDestinations(
    of relationship: NSRelationshipDescription, of object: NSManagedObject, key: ToManyCache.Key,
    in store: SQLiteStore
  ) throws -> [FetchedIdentity] {
    guard let mapped = store.entity(object.layout).toMany[relationship.name] else {
      throw NSError.fetch("The store does not keep the relationship '\(relationship.name)'.")
    }
    var query = store.translator.toMany(mapped)
    query.binds = [.integer(object.primaryKey)]
    return try read(store) { connection, commit in
      let found = try store.keys(
        query, on: connection, for: relationship.destinationEntity?.name ?? "", in: scope)
      let entry = ToManyCache.Entry(
        destinations: found, commit: commit, timestamp: Date.timeIntervalSinceReferenceDate)
      store.withShared { $0.toMany.install(entry, for: key) }
      return found
    }
  }

  private func cachedRow(of object: NSManagedObject, in store: SQLiteStore) -> Row? {
    let (rootIndex, key, oldest) = (object.layout.rootIndex, object.primaryKey, oldestAccepted)
    return store.withShared {
      $0.rows.row(rootIndex: rootIndex, key: key, notBefore: oldest)
    }
  }

  /// Reads one row by its key and puts it into the row cache; nil when it does not exist.
  private func storedRow(of object: NSManagedObject, in store: SQLiteStore) throws -> Row? {
    let plan = faultPlan(object.layout, in: store)
    var query = plan.query
    query.binds = [.integer(object.primaryKey)]
    return try read(store) { connection, commit in
      var fetched: FetchedRow?
      try store.select(query, on: connection, for: object.layout.entity.name ?? "", in: scope) {
        fetched = try plan.decoder.row($0)
      }
      guard let fetched else { return nil }
      return store.install(fetched, commit: commit)
    }
  }

  /// The statement and the decoder of an entity's faults, made once for each context.
  private func faultPlan(_ layout: EntityLayout, in store: SQLiteStore) -> FaultPlan {
    if let plan = faultPlans[layout.index] { return plan }
    let query = store.translator.fault(entity: store.entity(layout))
    let plan = FaultPlan(
      query: query, decoder: RowDecoder(projection: query.projection, layouts: store.layouts))
    faultPlans[layout.index] = plan
    return plan
  }

  private func tellLookup(_ found: Bool, of object: NSManagedObject, in store: SQLiteStore) {
    scope.end(scope.begin(found ? .rowCacheHit : .rowCacheMiss)) { event in
      event.entity = object.layout.entity.name
      event.object = store.reference(object.layout, object.primaryKey)
    }
  }
}

/// How the faults of one entity are read.
struct FaultPlan {
  let query: SelectQuery
  let decoder: RowDecoder
}

extension SQLiteStore {
  /// Puts a row that was read into the row cache and returns the one to use, with a count.
  func install(_ fetched: FetchedRow, commit: UInt64) -> Row {
    let timestamp = Date.timeIntervalSinceReferenceDate
    return withShared {
      $0.rows.install(
        fetched.row, rootIndex: fetched.layout.rootIndex, key: fetched.primaryKey, commit: commit,
        timestamp: timestamp)
    }
  }
}
