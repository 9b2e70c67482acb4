import ManagedModel

extension NSManagedObjectContext {
  /// Discards the loaded values of an object; see `refresh(_:mergeChanges:)`.
  final func refreshObject(_ object: NSManagedObject, mergeChanges: Bool) {
    checkQueue(of: object)
    if let owner = object.context, owner !== self { checkModel(of: object.layout) }
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
      changes.eventDeleted.remove(object)
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

  /// Refreshes every registered object; see `refreshAllObjects()`.
  final func refreshEveryObject() {
    advanceGeneration()
    var objects: [NSManagedObject] = []
    registry.forEach { objects.append($0) }
    for object in objects { refreshObject(object, mergeChanges: true) }
  }

  /// Deregisters every object; see `reset()`.
  final func deregisterEveryObject() {
    checkQueue()
    endReadTransaction()
    advanceGeneration()
    forgetUndo()
    changes.removeAll()
    changes.mark()
    var ids: [NSManagedObjectID] = []
    ids.reserveCapacity(registry.count)
    registry.forEach { ids.append($0.objectID) }
    children.removeSeparate()
    let (keys, survivors) = registry.removeAll(includingOwn: true)
    removeOwner(of: keys)
    guard !ids.isEmpty else { return }
    for object in survivors {
      object.turnIntoFault()
      object.keepStore(store(for: object))
    }
    post(
      .NSManagedObjectContextObjectsDidChange,
      [NSInvalidatedAllObjectsKey: ids, NotificationKey.sourceContext.rawValue: self])
  }

  /// Discards all unsaved changes; see `rollback()`.
  final func discardChanges() {
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

  /// Turns an unchanged object into a fault; a changed object keeps its unsaved changes over the
  /// current values of the row cache or the parent.
  final func refreshValues(_ object: NSManagedObject) {
    guard object.hasChanges else { return object.turnIntoFault() }
    guard !object.isFault, let row = currentRow(of: object) else { return }
    rebase(object, on: row)
  }

  /// Updates a realized object with the row that a fetch has returned for it; a changed object
  /// keeps its unsaved changes.
  ///
  /// The next did-change lists it as refreshed if the row isn't the one that it had.
  /// - Parameter row: The row, whose reference count this method takes over.
  final func refresh(_ object: NSManagedObject, with row: Row) {
    guard !object.isInserted else { return row.release() }
    guard !object.state.contains(.inaccessible) else { return _ = revive(object, with: row) }
    if !object.hasEqualRow(row) {
      changes.eventRefreshed.insert(object)
      scheduleProcessing()
    }
    if object.hasChanges {
      rebase(object, on: row)
    } else {
      object.turnIntoFault()
      object.fulfill(with: row)
    }
  }

  /// Makes a row the snapshot of a changed object, and takes over the row's reference count.
  ///
  /// The delete rules of a deleted object also apply to what refers to a newer row.
  private func rebase(_ object: NSManagedObject, on row: Row) {
    if object.isDeleted, hasParent || object.row.version != row.version {
      changes.unpropagated.append(object)
    }
    object.take(row)
    row.release()
    object.values?.forgetUnchanged(firstTransient: object.layout.firstTransient)
    object.awake(fromSnapshotEvents: .refresh)
  }

  /// Returns an object's row from the row cache or the store, retained for the caller; `nil` if
  /// neither has one, or if it can't be read.
  private func currentRow(of object: NSManagedObject) -> Row? {
    do {
      return try visibleRow(of: object)
    } catch {
      noteFailure(error, "\(object.objectID) couldn't be refreshed")
      return nil
    }
  }

  /// Returns the row that a fault of an object would read, from the row cache, the store, or the
  /// parent, retained for the caller; `nil` if there's none.
  final func visibleRow(of object: NSManagedObject) throws -> Row? {
    if parent != nil { return try parentRow(of: object) }
    guard let store = store(for: object) else { return nil }
    let row =
      try reads.pin == nil
      ? cachedRow(of: object, in: store, notBefore: oldestAccepted)
      : pinnedRow(of: object, in: store)
    return try row ?? storedRow(of: object, in: store)
  }
}

extension NSManagedObject {
  /// Returns whether a row has the version and the values of this object's row.
  fileprivate func hasEqualRow(_ other: Row) -> Bool {
    if row.base == other.base { return true }
    return row.version == other.version
      && layout.slots.allSatisfy { row.rawValue($0) == other.rawValue($0) }
  }
}
