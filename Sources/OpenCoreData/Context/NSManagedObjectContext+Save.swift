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
  ///   rest, 134030 when there is no store, the store is looked at, or a relationship leads into another
  ///   one, an error of the store otherwise. The changes stay pending, and IDs temporary.
  public final func save(file: String = #fileID, line: Int = #line) throws {
    try located(file, line) {
      processPendingChanges()
      post(.NSManagedObjectContextWillSave, [:])
      guard hasChanges else { return try saveNothing() }
      let rounds = try settleBeforeSave()
      endBurst()
      guard !savePlan().isEmpty else {
        changes.removeAll()
        return try saveNothing()
      }
      let event = scope.begin(.save)
      let plan: SavePlan
      let displaced: [NSManagedObject]
      let insertions: Set<NSManagedObject>
      do {
        (plan, insertions, displaced) = try writeChanges()
      } catch {
        scope.abandon(event)
        throw error
      }
      scope.counters.saves += 1
      scope.counters.saveRounds += rounds
      scope.end(event) { event in
        event.rows = plan.written.count + plan.deleted.count
        event.rounds = rounds
      }
      for object in plan.written { object.didSave() }
      for object in plan.deleted { object.didSave() }
      announceSave(
        inserted: plan.inserted, insertions, updated: plan.updated,
        deleted: plan.deleted + displaced)
      for object in plan.deleted { object.dropRelated() }
    }
  }

  /// Ends a save that writes no object.
  private func saveNothing() throws {
    try saveMetadata()
    announceSave(inserted: [], [], updated: [], deleted: [])
  }

  /// The rounds of validating and `willSave` that a save allows.
  private static let mostRounds = 1_000

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

  /// Validates and calls `willSave` until a round changes nothing.
  /// - Returns: The rounds it took, that one among them.
  private func settleBeforeSave() throws -> Int {
    var restless: NSManagedObject?
    for round in 1...NSManagedObjectContext.mostRounds {
      if !propagatesDeletesAtEndOfEvent { propagateDeletions() }
      // A new object that was refreshed has its default values.
      for object in changes.inserted.array where object.isFault { object.willAccess() }
      let before = changeCount
      try validateChanges()
      for object in changes.all {
        let count = changeCount
        object.willSave()
        if round == NSManagedObjectContext.mostRounds, changeCount != count {
          restless = object
        }
      }
      let isSettled = changeCount == before
      processPendingChanges()
      if isSettled { return round }
    }
    let name = restless.map { "willSave of \($0.objectID)" } ?? "Validation"
    throw NSError.coreData(
      NSPersistentStoreOperationError,
      "\(name) still changes properties after \(NSManagedObjectContext.mostRounds) rounds; set a "
        + "property there only when its value differs.",
      [NSAffectedObjectsErrorKey: [restless].compactMap { $0 }])
  }

  private func validateChanges() throws {
    var failures: [NSError] = []
    func check(_ objects: [NSManagedObject], _ validate: (NSManagedObject) throws -> Void) {
      for object in objects {
        do { try validate(object) } catch { failures.append(error as NSError) }
      }
    }
    check(changes.inserted.undeleted) { try $0.validateForInsert() }
    check(changes.updated.undeleted.filter { !$0.isInserted }) { try $0.validateForUpdate() }
    check(changes.deleted.array) { try $0.validateForDelete() }
    let (inserted, updated) = (changes.inserted.undeleted, changes.updated.undeleted)
    check(inserted) { try $0.validateReferences() }
    check(updated) { try $0.validateReferences() }
    try NSError.throwValidation(failures)
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
