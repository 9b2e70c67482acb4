import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Writes all changes to the stores, or none of them.
  ///
  /// Of several stores each writes its own objects in its own transaction, and commits only when all have
  /// written; a COMMIT that fails after another has succeeded is the one case in which a part is kept.
  /// Processes pending changes, posts will-save, validates, calls `willSave` until nothing changes any
  /// more, reserves keys for new objects in a transaction of its own, compares the objects' versions with
  /// the row cache, writes everything in a second transaction that compares them with the rows, calls
  /// `didSave` and posts did-save. Conflicts go to the merge policy; once it has settled them, writing is
  /// tried again. Without changes it posts both notifications, did-save with empty sets.
  /// Cost: see `Counters`; one INSERT, UPDATE or DELETE a row.
  /// - Throws: 1550–1680 for a failed validation (several as 1560), 133020 when a row has changed since
  ///   it was read, 133021 when values that must be unique are not, 134070 when `willSave` never comes to
  ///   rest, 134030 when there's no store, the store is looked at, or a relationship leads into another
  ///   one, an error of the store otherwise. The changes stay pending, and IDs temporary.
  public final func save(file: String = #fileID, line: Int = #line) throws {
    try located(file, line) {
      processPendingChanges()
      post(.NSManagedObjectContextWillSave, [:])
      guard hasChanges else { return try saveNothing() }
      var operation = SaveOperation(in: self)
      let rounds = try operation.prepare()
      endReadTransaction()
      guard !savePlan().isEmpty else {
        changes.removeAll()
        return try saveNothing()
      }
      let event = scope.begin(.save)
      do {
        try operation.write()
      } catch {
        scope.abandon(event)
        throw error
      }
      let plan = operation.plan
      scope.counters.saves += 1
      scope.counters.saveRounds += rounds
      scope.end(event) { event in
        event.rows = plan.written.count + plan.deleted.count
        event.rounds = rounds
      }
      for object in plan.written { object.didSave() }
      for object in plan.deleted { object.didSave() }
      announceSave(
        inserted: plan.inserted, operation.insertions, updated: plan.updated,
        deleted: plan.deleted + operation.displaced)
      for object in plan.deleted { object.dropRelated() }
    }
  }

  /// Ends a save that writes no object.
  private func saveNothing() throws {
    try saveMetadata()
    announceSave(inserted: [], [], updated: [], deleted: [])
  }

  /// Writes what was set as metadata of the stores and has not been written with objects.
  final func saveMetadata() throws {
    for store in coordinator?.rowStores ?? [] where store.hasUnsavedMetadata {
      do {
        try store.writable().saveMetadata()
      } catch {
        throw NSError.from(error, store: store)
      }
    }
  }

  /// What a save would write at present.
  final func savePlan() -> SavePlan {
    SavePlan(
      inserted: changes.inserted.undeleted,
      // No store has transient properties; a parent context does.
      updated: changes.updated.array.filter {
        $0.state.isDisjoint(
          with: parent == nil
            ? [.deleted, .inaccessible, .inserted, .transientOnly]
            : [.deleted, .inaccessible, .inserted])
      },
      // What has no row any more needs no DELETE.
      deleted: changes.deleted.array.filter {
        !$0.isInserted && !$0.state.contains(.inaccessible)
      },
      locked: changes.locked.filter { !$0.hasChanges && $0.context === self })
  }

  /// Takes an object whose row was deleted out of the context.
  final func detach(_ object: NSManagedObject) {
    store(for: object)?.disown(
      rootIndex: object.layout.rootIndex, keys: CollectionOfOne(object.primaryKey))
    object.keepStore(store(for: object))
    leave(object)
  }
}

extension NSManagedObject {
  /// Takes over the row that was saved; what was changed is the row's value now.
  final func settle(on row: Row) {
    self.row.release()
    self.row = row
    state.subtract([.overridden, .overwritten, .restored])
    guard let values else { return }
    values.settle()
    for index in layout.toMany.indices {
      if case .toMany(let value) = values[layout.holdingIndex(.toMany(index))] { value.settle() }
    }
  }
}
