import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// The attempts to write that a save makes: a policy that settles nothing must not go on for ever.
  private static let mostAttempts = 100

  /// Writes what is pending, as often as the merge policy settles a conflict.
  ///
  /// - Returns: What was written, the new objects among it as a set, and those that went because of a
  ///   constraint.
  final func writeChanges() throws -> (
    SavePlan, insertions: Set<NSManagedObject>, displaced: [NSManagedObject]
  ) {
    var keys: [ObjectIdentifier: Int64] = [:]
    for attempt in 1...NSManagedObjectContext.mostAttempts {
      let plan = savePlan()
      do {
        if coordinator?.isSpread == true, parent == nil {
          try writeAcross(plan, &keys)
        } else {
          try plan.checkConstraints()
          if !plan.isEmpty { try write(plan, &keys) }
        }
        let displaced = changes.displaced
        let insertions = changes.insertions(plan.inserted)
        changes.removeAll()
        return (plan, insertions, displaced)
      } catch let error as SaveConflicts {
        let conflicts = error.conflicts.map(NSMergeConflict.init)
        guard attempt < NSManagedObjectContext.mostAttempts else {
          throw NSError.mergeConflicts(conflicts)
        }
        try policy.resolve(optimisticLockingConflicts: conflicts)
      } catch let error as ConstraintViolations {
        let conflicts = error.violations.map(constraintConflict)
        guard attempt < NSManagedObjectContext.mostAttempts else {
          throw NSError.constraintConflicts(conflicts)
        }
        try policy.resolve(constraintConflicts: conflicts)
      }
      // What the policy deleted or set is told before it is saved.
      if !propagatesDeletesAtEndOfEvent { propagateDeletions() }
      processPendingChanges()
      endBurst()
    }
    return (SavePlan(), [], [])
  }

  private var policy: NSMergePolicy {
    mergePolicy as? NSMergePolicy ?? .error
  }

  /// One attempt; after a failure the new objects have their temporary keys again.
  private func write(_ plan: SavePlan, _ keys: inout [ObjectIdentifier: Int64]) throws {
    if parent != nil { return try push(plan) }
    guard let store = try firstStore?.writable() else { throw NSError.noStore() }
    try write(plan, to: store, &keys)
  }

  /// One attempt at several stores: each has its own transaction inside that of the one before, and
  /// commits before it.
  ///
  /// Nothing is kept anywhere when one refuses, unless a COMMIT itself fails after another has succeeded.
  private func writeAcross(_ plan: SavePlan, _ keys: inout [ObjectIdentifier: Int64]) throws {
    guard !plan.isEmpty else { return }
    try settlePlaces()
    try checkStores(of: plan.written)
    // A store in memory keeps what it is given once all files have.
    let parts = try plan.parts.map { place, part in
      guard let store = try store(at: place)?.writable() else { throw NSError.noStore() }
      return (store: store, plan: part)
    }.sorted { $0.store is MemoryStore && !($1.store is MemoryStore) }
    for (_, part) in parts { try part.checkConstraints() }
    try write(parts[...], &keys)
    try saveMetadata()
  }

  private func write(
    _ parts: ArraySlice<(store: RowStore, plan: SavePlan)>,
    _ keys: inout [ObjectIdentifier: Int64]
  ) throws {
    guard let first = parts.first else { return }
    let rest = parts.dropFirst()
    try write(first.plan, to: first.store, &keys) { keys in try self.write(rest, &keys) }
  }

  private func write(
    _ plan: SavePlan, to store: RowStore, _ keys: inout [ObjectIdentifier: Int64],
    beforeCommit: ((inout [ObjectIdentifier: Int64]) throws -> Void)? = nil
  ) throws {
    let unkeyed = plan.inserted.filter { $0.primaryKey <= 0 }
    let keyed = plan.inserted.filter { $0.primaryKey > 0 }
    let temporary = unkeyed.map(\.primaryKey)
    do {
      // New objects have no row that could have changed.
      let conflicts = store.cacheConflicts(plan.compared)
      guard conflicts.isEmpty else { throw SaveConflicts(conflicts: conflicts) }
      let unreserved = keys.isEmpty ? unkeyed : unkeyed.filter { keys[ObjectIdentifier($0)] == nil }
      if !unreserved.isEmpty { try store.reserveKeys(for: unreserved, in: scope) }
      if !keys.isEmpty {
        for object in unkeyed {
          if let key = keys[ObjectIdentifier(object)] { object.primaryKey = key }
        }
      }
      let rows: [Row]
      if let beforeCommit {
        rows = try store.write(plan, in: scope) { try beforeCommit(&keys) }
      } else {
        rows = try store.write(plan, in: scope)
      }
      for (object, key) in zip(unkeyed, temporary) { rekey(object, from: key) }
      for object in keyed {
        // An owner came with the key, another with the row.
        store.disown(
          rootIndex: object.layout.rootIndex, keys: CollectionOfOne(object.primaryKey))
      }
      for (object, row) in zip(plan.written, rows) { object.settle(on: row) }
      for object in plan.deleted { detach(object) }
    } catch {
      for (object, key) in zip(unkeyed, temporary) where object.primaryKey > 0 {
        // The key is reserved: the next attempt uses it.
        keys[ObjectIdentifier(object)] = object.primaryKey
        object.primaryKey = key
      }
      if error is SaveConflicts || error is ConstraintViolations { throw error }
      throw NSError.from(error, store: store)
    }
  }

  private func constraintConflict(_ violation: ConstraintViolation) -> NSConstraintConflict {
    NSConstraintConflict(
      constraint: violation.constraint.names,
      database: violation.stored.map { registered($0.layout, $0.primaryKey) },
      databaseSnapshot: violation.storedSnapshot, conflictingObjects: violation.objects,
      conflictingSnapshots: violation.objects.map { $0.isInserted ? [:] : $0.snapshot })
  }

  /// Takes an object whose row was deleted out of the context.
  final func detach(_ object: NSManagedObject) {
    store(for: object)?.disown(
      rootIndex: object.layout.rootIndex, keys: CollectionOfOne(object.primaryKey))
    object.keepStore(store(for: object))
    leave(object)
  }
}
