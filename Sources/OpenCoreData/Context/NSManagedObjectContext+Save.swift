import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Writes all changes to the stores, or none of them.
  ///
  /// Processes pending changes, posts will-save, validates, calls `willSave` until nothing changes any
  /// more, reserves keys for new objects in a transaction of its own, writes everything in a second one,
  /// calls `didSave` and posts did-save. Without changes it does nothing.
  /// Cost: see `Counters`; one INSERT, UPDATE or DELETE a row.
  /// - Throws: 1550–1680 for a failed validation (several as 1560), 133020 when a row has changed since
  ///   it was read, an error of the store otherwise. The changes stay pending.
  public final func save(file: String = #fileID, line: Int = #line) throws {
    try located(file, line) {
      processPendingChanges()
      guard hasChanges else { return }
      post(.NSManagedObjectContextWillSave, [:])
      try settleBeforeSave()
      endBurst()
      let plan = savePlan()
      guard !plan.isEmpty else { return changes.removeAll() }
      let event = scope.begin(.save)
      do {
        try write(plan)
      } catch {
        scope.abandon(event)
        throw error
      }
      scope.counters.saves += 1
      scope.end(event) { $0.rows = plan.written.count + plan.deleted.count }
      for object in plan.written + plan.deleted { object.didSave() }
      post(
        .NSManagedObjectContextDidSave,
        [
          NSInsertedObjectsKey: Set(plan.inserted), NSUpdatedObjectsKey: Set(plan.updated),
          NSDeletedObjectsKey: Set(plan.deleted),
        ])
      for object in plan.deleted { object.dropRelated() }
    }
  }

  /// Validates and calls `willSave` until a round changes nothing.
  private func settleBeforeSave() throws {
    for _ in 0..<1_000 {
      if !propagatesDeletesAtEndOfEvent { propagateDeletions() }
      let before = changes.serial
      try validateChanges()
      for object in changes.all { object.willSave() }
      processPendingChanges()
      if changes.serial == before { return }
    }
    let names = changes.all.prefix(3).map { "\($0.objectID)" }.joined(separator: ", ")
    throw NSError.store(
      "willSave of \(names) still changes properties after 1,000 rounds; set a property there only "
        + "when its value differs.")
  }

  private func validateChanges() throws {
    var failures: [NSError] = []
    func check(_ objects: [NSManagedObject], _ validate: (NSManagedObject) throws -> Void) {
      for object in objects {
        do { try validate(object) } catch { failures.append(error as NSError) }
      }
    }
    check(changes.inserted.array.filter { !$0.isDeleted }) { try $0.validateForInsert() }
    check(changes.updated.array.filter { !$0.isDeleted && !$0.isInserted }) {
      try $0.validateForUpdate()
    }
    check(changes.deleted.array) { try $0.validateForDelete() }
    check((changes.inserted.array + changes.updated.array).filter { !$0.isDeleted }) {
      try $0.validateReferences()
    }
    try NSError.throwValidation(failures)
  }

  private func savePlan() -> SavePlan {
    var plan = SavePlan()
    plan.inserted = changes.inserted.array.filter { !$0.isDeleted }
    // Transient properties alone are nothing to write.
    plan.updated = changes.updated.array.filter {
      $0.state.isDisjoint(with: [.deleted, .inaccessible, .inserted, .transientOnly])
    }
    // What has no row any more needs no DELETE.
    plan.deleted = changes.deleted.array.filter {
      !$0.isInserted && !$0.state.contains(.inaccessible)
    }
    return plan
  }

  private func write(_ plan: SavePlan) throws {
    let store = try requiredCoordinator.writableStore()
    let temporary = plan.inserted.map(\.primaryKey)
    do {
      let conflicts = store.cacheConflicts(plan.updated + plan.deleted)
      guard conflicts.isEmpty else { throw SaveConflicts(conflicts: conflicts) }
      if !plan.inserted.isEmpty { try store.reserveKeys(for: plan.inserted, in: scope) }
      let rows = try store.write(plan, in: scope)
      for (object, key) in zip(plan.inserted, temporary) { registry.rekey(object, from: key) }
      for (object, row) in zip(plan.written, rows) { object.settle(on: row) }
      for object in plan.deleted { detach(object) }
      changes.removeAll()
    } catch {
      for (object, key) in zip(plan.inserted, temporary) { object.primaryKey = key }
      if let conflicts = error as? SaveConflicts {
        store.forget(conflicts)
        throw NSError.mergeConflicts(conflicts)
      }
      throw NSError.from(error, store: store)
    }
  }

  /// Takes an object whose row was deleted out of the context.
  private func detach(_ object: NSManagedObject) {
    store(for: object)?.disown(
      rootIndex: object.layout.rootIndex, keys: CollectionOfOne(object.primaryKey))
    leave(object)
  }
}

extension NSManagedObject {
  /// Takes over the row that was saved; what was changed is the row's value now.
  final func settle(on row: Row) {
    self.row.release()
    self.row = row
    values?.settle()
    for index in layout.toMany.indices {
      if case .toMany(let value)? = values?[layout.holdingIndex(.toMany(index))] { value.settle() }
    }
    state.remove(.overridden)
  }
}
