import ManagedModel

extension NSManagedObjectContext {
  /// Drops what an object has loaded, so that it is read again.
  ///
  /// With `mergeChanges`, an object with unsaved changes keeps them, and its other values become those of
  /// the row cache or, when that has no row, of the database. Otherwise it becomes a fault and unsaved
  /// changes are lost: one side of a relationship may then differ from the other. A new object keeps its
  /// values with `mergeChanges`; otherwise it becomes a fault that fires to the model's default values,
  /// and the next save still inserts it. The next did-change lists the object as refreshed.
  /// Cost: none, but a SELECT for changes that are kept over a row that the row cache does not have; the
  /// row stays cached while somebody holds the object.
  public final func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
    checkQueue(of: object)
    endReadTransaction()
    finishMergedDeletions()
    guard !object.isFault || object.hasChanges else { return }
    if object.isInserted {
      if !mergeChanges { forgetValues(ofInserted: object) }
      return
    }
    changes.eventRefreshed.insert(object)
    scheduleProcessing()
    if mergeChanges {
      refreshValues(object)
    } else {
      changes.updated.remove(object)
      changes.deleted.remove(object)
      object.turnIntoFault()
    }
  }

  /// Turns a new object into a fault, which stays inserted.
  private func forgetValues(ofInserted object: NSManagedObject) {
    guard !object.isFault else { return }
    undoState.recorder?.remember(object)
    changes.eventRefreshed.insert(object)
    changes.mark()
    scheduleProcessing()
    object.turnIntoFault()
  }

  /// Refreshes every registered object; unsaved changes are kept.
  ///
  /// A context that is pinned to a query generation moves to the newest.
  public final func refreshAllObjects() {
    advanceGeneration()
    var objects: [NSManagedObject] = []
    registry.forEach { objects.append($0) }
    for object in objects { refresh(object, mergeChanges: true) }
  }

  /// Releases every object and discards every change.
  ///
  /// Objects that are retained elsewhere turn into faults without a context: their persistent
  /// properties read as nil, their transient ones as the model's default values. The undo stack is
  /// emptied, a pinned context moves to the newest query generation, and did-change is posted with the
  /// objects' IDs as an array under `NSInvalidatedAllObjectsKey`, unless no object was registered.
  public final func reset() {
    checkQueue()
    endReadTransaction()
    advanceGeneration()
    forgetUndo()
    changes.removeAll()
    changes.mark()
    var ids: [NSManagedObjectID] = []
    ids.reserveCapacity(registry.count)
    registry.forEach { ids.append($0.objectID) }
    children.removeAll()
    let (keys, survivors) = registry.removeAll(includingOwn: true)
    disown(keys)
    registry.resetPeaks()
    guard !ids.isEmpty else { return }
    for object in survivors {
      object.turnIntoFault()
      object.keepStore(store(for: object))
    }
    post(.NSManagedObjectContextObjectsDidChange, [NSInvalidatedAllObjectsKey: ids])
  }

  /// Throws all unsaved changes away: new objects leave, changed ones become faults, deleted ones stay.
  ///
  /// The undo stack is emptied. Posts did-change, in which the new objects are deleted and the others
  /// refreshed.
  public final func rollback() {
    checkQueue()
    endReadTransaction()
    finishMergedDeletions()
    forgetUndo()
    let inserted = changes.inserted.array
    let saved = changes.all.filter { !$0.isInserted }
    changes.removeAll()
    changes.mark()
    for object in saved {
      object.turnIntoFault()
      changes.eventRefreshed.insert(object)
    }
    for object in inserted {
      abandon(object)
      changes.eventDeleted.insert(object)
    }
    for object in saved where object.layout.hasOwnClass {
      object.awake(fromSnapshotEvents: .rollback)
    }
    processPendingChanges()
  }

  /// Makes a clean object a fault; an object with unsaved changes keeps them above the values that
  /// the row cache, or the parent, has by now.
  final func refreshValues(_ object: NSManagedObject) {
    guard object.hasChanges else { return object.turnIntoFault() }
    guard !object.isFault, let row = currentRow(of: object) else { return }
    object.row.release()
    object.row = row
    object.values?.forgetUnchanged(firstTransient: object.layout.firstTransient)
    object.awake(fromSnapshotEvents: .refresh)
  }

  /// The row cache's row of an object, or the database's when that has none, with a count for the
  /// caller; nil without either, or when it cannot be read.
  private func currentRow(of object: NSManagedObject) -> Row? {
    do {
      if parent != nil { return try parentRow(of: object) }
      guard let store = store(for: object) else { return nil }
      let row =
        try reads.pin == nil
        ? cachedRow(of: object, in: store, notBefore: -.infinity)
        : pinnedRow(of: object, in: store)
      return try row ?? storedRow(of: object, in: store)
    } catch {
      noteFailure(error, "\(object.objectID) could not be refreshed")
      return nil
    }
  }
}
