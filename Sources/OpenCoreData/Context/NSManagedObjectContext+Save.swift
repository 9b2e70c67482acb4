import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Saves all changes to the store, or none of them.
  ///
  /// Processes pending changes, posts will-save, validates, calls `willSave` until nothing changes,
  /// compares row versions with the row cache, reserves primary keys for new objects in a separate
  /// transaction, writes everything in a second transaction that compares versions with the store,
  /// calls `didSave`, and posts did-save. The merge policy resolves conflicts, and the save is
  /// attempted again. Without changes, both notifications are posted, did-save with empty sets.
  /// Validation includes transient properties: a required one must have a default value, or be set
  /// again in an object that was read from the store.
  ///
  /// Each of several stores writes its own objects in its own transaction, and commits only after
  /// all have written and have compared versions and constraints. If a COMMIT fails after another
  /// has succeeded, the save throws the error and is partial: what was committed is saved and
  /// posted, and the rest stays unsaved, for another save to write.
  ///
  /// **Cost:** one INSERT, UPDATE, or DELETE for each row and join row, in one transaction; for new
  /// objects, an earlier transaction that reserves their primary keys; one SELECT for each changed
  /// ordered relationship, another if it was refreshed and not read since, and one for each row
  /// that was changed elsewhere. In a child context, none.
  /// - Throws: 1550–1680 for a failed validation (several as 1560), 133020 if a row has changed
  ///   since it was read, 133021 if a uniqueness constraint is violated, 134070 if `willSave` keeps
  ///   making changes, 134030 if there's no store, the store is read-only, or a relationship refers
  ///   to another store; otherwise an error of the store. Changes stay unsaved, and IDs temporary.
  public final func save(file: String = #fileID, line: Int = #line) throws {
    try located(file, line) {
      processPendingChanges()
      post(.NSManagedObjectContextWillSave, [:])
      guard hasChanges else { return try saveNothing() }
      var operation = SaveOperation(in: self)
      let rounds = try scope.reportingFailure(of: .save) { try operation.prepare() }
      endReadTransaction()
      guard !savePlan().isEmpty else {
        changes.removeAll()
        return try saveNothing()
      }
      let event = scope.begin(.save)
      do {
        try operation.write()
      } catch {
        scope.fail(event, error)
        let parts = operation.committed
        if !parts.isEmpty { finishSave(of: SavePlan(joining: parts)) }
        throw error
      }
      let plan = operation.plan
      scope.counters.saves += 1
      scope.counters.savePasses += rounds
      scope.end(event) { event in
        event.rows = plan.written.count + plan.deleted.count
        event.rounds = rounds
      }
      finishSave(of: plan, insertions: operation.insertions, displaced: operation.displaced)
    }
  }

  /// Calls `didSave` and posts did-save for what was committed.
  ///
  /// - Parameters:
  ///   - insertions: The inserted objects as a set; `nil` to create it.
  ///   - displaced: New objects that the merge policy deleted.
  private func finishSave(
    of plan: SavePlan, insertions: Set<NSManagedObject>? = nil, displaced: [NSManagedObject] = []
  ) {
    // A save in `didSave` has its own.
    let transactions = savedTransactions
    for object in plan.deleted { readmit(object) }
    for object in plan.written { object.didSave() }
    for object in plan.deleted { object.didSave() }
    for object in plan.deleted { dismiss(object) }
    announceSave(
      inserted: plan.inserted, insertions ?? Set(plan.inserted), updated: plan.updated,
      deleted: plan.deleted + displaced, transactions: transactions)
    for object in plan.deleted { object.dropRelated() }
  }

  /// Gives an object whose row was deleted its context again, in which it's deleted, until
  /// `didSave` has been called.
  private func readmit(_ object: NSManagedObject) {
    object.context = self
    object.state.insert(.inaccessible)
  }

  /// Takes the context from an object whose row was deleted, and discards what `didSave` did to it.
  private func dismiss(_ object: NSManagedObject) {
    changes.eventRefreshed.remove(object)
    object.state.remove(.inaccessible)
    object.context = nil
  }

  /// Completes a save that writes no objects.
  private func saveNothing() throws {
    try saveMetadata()
    announceSave(inserted: [], [], updated: [], deleted: [])
  }

  /// Writes store metadata that was set and hasn't been written together with objects.
  final func saveMetadata() throws {
    for store in coordinator?.rowStores ?? [] where store.hasUnsavedMetadata {
      do {
        try store.writable().saveMetadata()
      } catch {
        throw NSError.from(error, store: store)
      }
    }
  }

  /// Returns the changes that a save would write now.
  final func savePlan() -> SavePlan {
    SavePlan(
      inserted: changes.inserted.undeleted,
      updated: changes.updated.array.filter { object in
        guard object.state.isDisjoint(with: [.deleted, .inaccessible, .inserted]) else {
          return false
        }
        // Stores have no transient properties; a parent context does. Other properties may have
        // changed without a record: `willSave` sets primitive values, and undo restores values.
        return hasParent || !object.state.contains(.transientOnly)
          || object.hasPersistentChangedValues
      },
      // An object without a row needs no DELETE.
      deleted: changes.deleted.array.filter {
        !$0.isInserted && !$0.state.contains(.inaccessible)
      },
      // A fault has no values that can be outdated: it was refreshed, or merged, since.
      locked: changes.locked.array.filter {
        !$0.hasChanges && !$0.isFault && $0.context === self
      })
  }

  /// Removes an object whose row was deleted from the context.
  final func detach(_ object: NSManagedObject) {
    store(for: object)?.removeOwner(
      rootIndex: object.layout.rootIndex, keys: CollectionOfOne(object.primaryKey))
    object.keepStore(store(for: object))
    leave(object)
  }
}

extension NSManagedObject {
  /// Adopts the saved row, whose values include the object's changes.
  final func adopt(saved row: Row) {
    self.row.release()
    self.row = row
    state.subtract([.overridden, .overwritten, .restored])
    guard let values else { return }
    values.markSaved()
    for index in layout.toMany.indices {
      if case .toMany(let value) = values[layout.valueIndex(.toMany(index))] { value.markSaved() }
    }
  }
}
