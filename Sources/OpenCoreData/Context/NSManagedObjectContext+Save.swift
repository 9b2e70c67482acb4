import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Saves all changes; see `save(file:line:)`.
  final func save(at file: String, _ line: Int) throws {
    try located(file, line) {
      processPendingChanges()
      post(.NSManagedObjectContextWillSave, nil)
      guard hasChanges else { return try saveNothing() }
      var operation = SaveOperation(in: self)
      let rounds = try scope.reportingFailure(of: .save) { try operation.prepare() }
      endReadTransaction()
      let plan = savePlan()
      guard !plan.isEmpty else {
        changes.removeAll()
        return try saveNothing()
      }
      let event = scope.begin(.save)
      do {
        try operation.write(plan)
      } catch {
        scope.fail(event, error)
        let parts = operation.committed
        if !parts.isEmpty { finishSave(of: SavePlan(joining: parts)) }
        throw error
      }
      let written = operation.plan
      scope.counters.saves += 1
      scope.counters.savePasses += rounds
      scope.end(event) { event in
        event.rows = written.written.count + written.deleted.count
        event.rounds = rounds
      }
      finishSave(of: written, insertions: operation.insertions, displaced: operation.displaced)
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
      inserted: plan.inserted, insertions ?? Set(changed: plan.inserted), updated: plan.updated,
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
