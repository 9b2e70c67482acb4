import ManagedModel
import ProfileEvents

/// A save in progress: it validates the changes, writes them, and has the merge policy resolve
/// conflicts until an attempt succeeds.
///
/// Made for one call of `save()`, on the context's queue: `prepare()`, then `write(_:)`.
struct SaveOperation {
  private let context: NSManagedObjectContext
  /// The primary keys that failed attempts have reserved for new objects.
  private var keys: [ObjectIdentifier: Int64] = [:]
  /// The plan that was written.
  private(set) var plan = SavePlan()
  /// The new objects that were written.
  private(set) var insertions: Set<NSManagedObject> = []
  /// The new objects that the merge policy deleted because of a uniqueness constraint.
  private(set) var displaced: [NSManagedObject] = []
  /// The parts of a save to several stores that were committed, even if another part then failed.
  private(set) var committed: [SavePlan] = []

  /// The passes of validation and `willSave` that a save allows.
  private static let maximumPasses = 1_000
  /// The maximum number of attempts to write, in case a merge policy resolves nothing.
  private static let maximumAttempts = 100

  init(in context: NSManagedObjectContext) {
    self.context = context
  }

  /// Validates and calls `willSave` until a pass changes nothing.
  ///
  /// - Returns: The number of passes, including that one.
  /// - Throws: The errors of validation; 134070 if `willSave` keeps changing properties.
  func prepare() throws -> Int {
    var unsettled: NSManagedObject?
    for pass in 1...Self.maximumPasses {
      if !context.propagatesDeletesAtEndOfEvent { context.propagateDeletionsInSave() }
      // A new object that was refreshed has its default values.
      for object in context.changes.inserted.array where object.isFault { object.willAccess() }
      try fulfillChangedFaults()
      let before = context.changes.marks
      try validateChanges()
      for object in context.changes.all {
        let count = context.changes.marks
        object.willSave()
        if pass == Self.maximumPasses, context.changes.marks != count {
          unsettled = object
        }
      }
      // An observer of did-change may change objects, too.
      context.processPendingChanges()
      if context.changes.marks == before { return pass }
    }
    let name = unsettled.map { "willSave of \($0.objectID)" } ?? "Validation"
    throw NSError.coreData(
      NSPersistentStoreOperationError,
      "\(name) still changes properties after \(Self.maximumPasses) passes; set a "
        + "property there only when its value differs.",
      [NSAffectedObjectsErrorKey: [unsettled].compactMap { $0 }])
  }

  /// Fires the faults that couldn't be read when they were changed or deleted, reads outdated lists
  /// again, and applies the delete rules that couldn't be applied.
  ///
  /// - Throws: The error of the SELECT, if one can't be read again.
  private func fulfillChangedFaults() throws {
    for object in context.changes.updated.array {
      try object.fulfill()
      if object.layout.hasLists, !object.isDeleted { try object.readOutdatedLists() }
    }
    guard !context.changes.unpropagated.isEmpty else { return }
    for object in context.changes.unpropagated { try object.fulfill() }
    context.propagateDeletionsInSave()
    if !context.changes.unpropagated.isEmpty, let error = context.faultFailures.last { throw error }
  }

  private func validateChanges() throws {
    guard context.validatesOnSave else { return try checkTransformations() }
    var failures: [NSError] = []
    func check(_ objects: [NSManagedObject], _ validate: (NSManagedObject) throws -> Void) {
      for object in objects {
        do { try validate(object) } catch { failures.append(error as NSError) }
      }
    }
    let marks = context.changes.marks
    var inserted = context.changes.inserted.undeleted
    check(inserted) { try $0.validateForInsert() }
    check(context.changes.updated.undeleted.filter { !$0.isInserted }) {
      try $0.validateForUpdate()
    }
    check(context.changes.deleted.array) { try $0.validateForDelete() }
    // Validation may insert and delete objects.
    if context.changes.marks != marks { inserted = context.changes.inserted.undeleted }
    check(inserted) { try $0.validateReferences() }
    check(context.changes.updated.undeleted) { try $0.validateReferences() }
    try NSError.throwValidation(failures)
  }

  /// Checks that the new values of transformable attributes can be encoded, in a context that
  /// doesn't validate: they would be saved as `nil`.
  private func checkTransformations() throws {
    let updated = context.changes.updated.undeleted.filter { !$0.isInserted }
    let objects = (context.changes.inserted.undeleted + updated).filter { object in
      object.layout.hasTransformers
    }
    try NSError.throwValidation(objects.flatMap { $0.transformationFailures })
  }

  /// Writes the changes of the context, again after each conflict that the merge policy resolved.
  ///
  /// - Parameter first: The changes that the first attempt writes.
  /// - Throws: The merge policy's errors, those of validation if a policy has accepted the deletion
  ///   of a row, removed references, or deleted objects, and those of the store; nothing is written
  ///   then, except what another store has `committed`.
  mutating func write(_ first: SavePlan) throws {
    context.savedTransactions = [:]
    var plan = first
    for attempt in 1...Self.maximumAttempts {
      // The parts that were committed before another store found a conflict.
      let earlier = committed
      // Whether a required relationship may have lost its destination.
      var isToBeValidated = false
      do {
        if context.coordinator?.hasSeveralStores == true, context.parent == nil {
          try writeAcross(plan)
        } else {
          // A child's save has no merge policy: the save to the store finds the conflicts.
          if context.parent == nil { try plan.checkConstraints() }
          if !plan.isEmpty { try writeOnce(plan) }
        }
        self.plan = plan
        displaced = context.changes.displaced
        insertions = context.changes.insertions(plan.inserted)
        if !earlier.isEmpty {
          self.plan = SavePlan(joining: earlier + [plan])
          insertions.formUnion(earlier.flatMap(\.inserted))
        }
        context.changes.removeAll()
        return
      } catch let error as SaveConflicts {
        let conflicts = error.conflicts.map(NSMergeConflict.init)
        guard attempt < Self.maximumAttempts else { throw NSError.mergeConflicts(conflicts) }
        try policyOfNewestRows().resolve(optimisticLockingConflicts: conflicts)
        let lost = Set(conflicts.map(\.sourceObject).filter { $0.state.contains(.inaccessible) })
        context.discardKnownReferences(to: lost)
        isToBeValidated = !lost.isEmpty || context.changes.requiresValidation
        context.changes.requiresValidation = false
      } catch let error as ConstraintViolations {
        let conflicts = error.violations.map(constraintConflict)
        guard attempt < Self.maximumAttempts else { throw NSError.constraintConflicts(conflicts) }
        try policyOfNewestRows().resolve(constraintConflicts: conflicts)
        isToBeValidated = true
      }
      // Changes that the policy made are posted before they are saved.
      if !context.propagatesDeletesAtEndOfEvent { context.propagateDeletionsInSave() }
      context.processPendingChanges()
      // A fault that couldn't be read in between has no values to write.
      try fulfillChangedFaults()
      context.processPendingChanges()
      if isToBeValidated { try validateChanges() }
      context.endReadTransaction()
      plan = context.savePlan()
    }
  }

  /// Returns the merge policy, for which a pinned context reads the newest generation.
  ///
  /// The rows in conflict are newer than the generation that the context is pinned to.
  private func policyOfNewestRows() -> NSMergePolicy {
    let policy = context.mergePolicy as? NSMergePolicy ?? .error
    // This one reads nothing.
    if policy !== NSMergePolicy.error { context.advanceGeneration() }
    return policy
  }

  /// Attempts to write once; after a failure, the new objects have their temporary keys again.
  private mutating func writeOnce(_ plan: SavePlan) throws {
    if context.parent != nil { return try context.push(plan) }
    guard let store = try context.firstStore?.writable() else { throw NSError.noStore() }
    try write(plan, to: store)
  }

  /// Attempts to write to several stores: each has its own transaction inside that of the previous
  /// one, and commits before it.
  ///
  /// If one fails, none is changed, unless a COMMIT itself fails after another has succeeded: then
  /// the committed parts are saved, and the context retains the changes of the others.
  private mutating func writeAcross(_ plan: SavePlan) throws {
    guard !plan.isEmpty else { return }
    try context.assignUnassignedObjects()
    try context.checkStores(of: plan.written)
    // An in-memory store applies its part after all files have been written; a program's own store
    // has no transaction that waits for another, so it's written inside of all that have one.
    let parts = try plan.parts.map { storeIndex, part in
      guard let store = try context.store(at: storeIndex)?.writable() else {
        throw NSError.noStore()
      }
      return (store: store, plan: part)
    }.sorted { SaveOperation.rank($0.store) < SaveOperation.rank($1.store) }
    for (_, part) in parts { try part.checkConstraints() }
    try write(parts[...])
    try context.saveMetadata()
  }

  /// Returns the rank of a store in a save: each store is written before the previous one commits.
  private static func rank(_ store: RowStore) -> Int {
    if store is any CustomStore { return 2 }
    return store is MemoryStore ? 0 : 1
  }

  private mutating func write(_ parts: ArraySlice<(store: RowStore, plan: SavePlan)>) throws {
    guard let first = parts.first else { return }
    try write(first.plan, to: first.store, before: parts.dropFirst())
  }

  /// Writes the objects of one store.
  ///
  /// - Parameter others: The parts of other stores, which must be written before this one commits;
  ///   `nil` for a save to one store.
  private mutating func write(
    _ plan: SavePlan, to store: RowStore,
    before others: ArraySlice<(store: RowStore, plan: SavePlan)>? = nil
  ) throws {
    // Usually none has, and the array isn't copied.
    let hasKeys = plan.inserted.contains { $0.primaryKey > 0 }
    let unkeyed = hasKeys ? plan.inserted.filter { $0.primaryKey <= 0 } : plan.inserted
    let keyed = hasKeys ? plan.inserted.filter { $0.primaryKey > 0 } : []
    let temporary = unkeyed.map(\.primaryKey)
    do {
      // New objects have no row that could have changed.
      let conflicts = store.cacheConflicts(plan.compared)
      guard conflicts.isEmpty else { throw SaveConflicts(conflicts: conflicts) }
      let unreserved = keys.isEmpty ? unkeyed : unkeyed.filter { keys[ObjectIdentifier($0)] == nil }
      if !unreserved.isEmpty { try store.reserveKeys(for: unreserved, in: context.scope) }
      if !keys.isEmpty {
        for object in unkeyed {
          if let key = keys[ObjectIdentifier(object)] { object.primaryKey = key }
        }
      }
      // The store may look for the new objects by their permanent IDs.
      if store.isIncremental { reregister(unkeyed, from: temporary) }
      let rows = try store.write(plan, in: context.scope) { try write(others ?? []) }
      for (object, key) in zip(unkeyed, temporary) { context.rekey(object, from: key) }
      if store.isIncremental {
        for object in unkeyed {
          store.didRegister(rootIndex: object.layout.rootIndex, keys: [object.primaryKey])
        }
      }
      for object in keyed {
        // One owner came with the key, another with the row.
        store.removeSpareOwner(
          rootIndex: object.layout.rootIndex, keys: CollectionOfOne(object.primaryKey))
      }
      for (object, row) in zip(plan.written, rows) { object.adopt(saved: row) }
      if others != nil {
        committed.append(plan)
        context.changes.remove(saved: plan)
      }
      for object in plan.deleted { context.detach(object) }
    } catch {
      for (object, key) in zip(unkeyed, temporary) where object.primaryKey > 0 {
        // The key is reserved: the next attempt uses it.
        let permanent = object.primaryKey
        keys[ObjectIdentifier(object)] = permanent
        object.primaryKey = key
        if store.isIncremental { reregister([object], from: [permanent]) }
      }
      if error is SaveConflicts || error is ConstraintViolations { throw error }
      throw NSError.from(error, store: store)
    }
  }

  /// Registers objects under their present keys, without their children.
  private func reregister(_ objects: [NSManagedObject], from keys: [Int64]) {
    for (object, key) in zip(objects, keys) { context.changeKey(of: object, from: key) }
  }

  private func constraintConflict(_ violation: ConstraintViolation) -> NSConstraintConflict {
    NSConstraintConflict(
      constraint: violation.constraint.names,
      database: violation.stored.map { context.registered($0.layout, $0.primaryKey) },
      databaseSnapshot: violation.storedSnapshot, conflictingObjects: violation.objects,
      conflictingSnapshots: violation.objects.map { $0.isInserted ? [:] : $0.snapshot })
  }
}
