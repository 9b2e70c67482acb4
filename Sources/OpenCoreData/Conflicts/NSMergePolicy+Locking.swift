import ManagedModel

extension NSMergePolicy {
  /// Resolves optimistic-locking conflicts, object by object.
  final func settle(_ conflicts: [NSMergeConflict]) throws {
    guard !conflicts.isEmpty else { return }
    if mergeType == .errorMergePolicyType { throw NSError.mergeConflicts(conflicts) }
    for conflict in conflicts {
      let object = conflict.sourceObject
      guard let context = object.context else { continue }
      let newest = try context.newestRow(of: object)
      defer { newest?.release() }
      settle(object, newest, context)
    }
  }

  private func settle(
    _ object: NSManagedObject, _ newest: Row?, _ context: NSManagedObjectContext
  ) {
    let wins =
      mergeType == .overwriteMergePolicyType
      || mergeType == .mergeByPropertyObjectTrumpMergePolicyType
    if object.state.contains(.deleted) {
      // The current row is deleted; or it's kept.
      if wins, let newest { object.take(newest) } else { context.dropChanges(of: object, newest) }
      return
    }
    guard object.state.contains(.updated) else {
      // Locked only: there is nothing to write.
      context.dropChanges(of: object, newest)
      return
    }
    guard let newest else {
      if wins { object.restoreRow() } else { context.dropChanges(of: object, nil) }
      return
    }
    switch mergeType {
    case .overwriteMergePolicyType: object.overwrite(newest)
    case .mergeByPropertyObjectTrumpMergePolicyType: object.merge(newest, storeTrumps: false)
    case .mergeByPropertyStoreTrumpMergePolicyType: object.merge(newest, storeTrumps: true)
    default: context.dropChanges(of: object, newest)
    }
  }
}

extension NSManagedObjectContext {
  /// Returns an object's row from the row cache or the store; nil if it doesn't exist.
  ///
  /// Retained for the caller. Cost: one SELECT after a row-cache miss.
  final func newestRow(of object: NSManagedObject) throws -> Row? {
    guard let store = store(for: object) else { return nil }
    if let row = cachedRow(of: object, in: store, notBefore: -.infinity) { return row }
    return try storedRow(of: object, in: store)
  }

  /// Discards the changes of one object; without a row it becomes deleted.
  final func dropChanges(of object: NSManagedObject, _ newest: Row?) {
    if object.state.contains(.updated), newest != nil { object.restoreDestinations() }
    changes.forget(object)
    changes.mark()
    guard newest != nil else {
      object.becomeInaccessible()
      changes.eventDeleted.insert(object)
      return
    }
    changes.eventRefreshed.insert(object)
    object.turnIntoFault()
  }
}

extension NSManagedObject {
  /// Adopts a row as the snapshot; changes are kept.
  final func take(_ newest: Row) {
    newest.retain()
    row.release()
    row = newest
  }

  /// Adopts the row's version, and marks all properties to be written with this object's values.
  final func overwrite(_ newest: Row) {
    pinValues()
    take(newest)
    state.insert(.overwritten)
  }

  /// Marks a row that no longer exists to be reinserted with this object's values.
  final func restoreRow() {
    state.insert(.restored)
  }

  /// Merges property by property: a property that only one side changed is taken from it.
  ///
  /// A value that was set to an equal one is unchanged.
  final func merge(_ newest: Row, storeTrumps: Bool) {
    for slot in layout.slots where values?.isChanged(slot.index) == true {
      let isChangedHere = differs(slot)
      let (base, stored) = (row.rawValue(slot), newest.rawValue(slot))
      let isChangedThere =
        !(layout.transformer(slot)?.areEqual(stored, base, slot.kind)
        ?? (stored == base))
      if isChangedHere, !(isChangedThere && storeTrumps) { continue }
      if slot.kind.isToOne, isChangedHere { setDestination(destination(of: newest, slot), slot) }
      values?.forget(slot.index)
    }
    take(newest)
    values?.forgetUnchanged(firstTransient: layout.firstTransient)
  }

  /// Restores changed to-one relationships to the row's destinations, and updates their inverses.
  final func restoreDestinations() {
    for slot in layout.slots where slot.kind.isToOne && values?.isChanged(slot.index) == true {
      setDestination(destination(of: row, slot), slot)
    }
  }

  /// Stores every slot's value as a change.
  private func pinValues() {
    for slot in layout.slots where values?.isChanged(slot.index) != true {
      if slot.kind.isToOne {
        change(destination(of: row, slot).map { .object($0) } ?? .null, at: slot.index)
      } else {
        change(.raw(row.rawValue(slot)), at: slot.index)
      }
    }
  }

  private func destination(of row: Row, _ slot: RowSlot) -> NSManagedObject? {
    guard let context, !row.isNull(slot) else { return nil }
    let entityNumber = slot.kind == .toOnePolymorphic ? row.entityNumber(slot) : 0
    return context.object(
      primaryKey: row.int64(slot), of: slot.relationship, entityNumber: entityNumber,
      owner: layout)
  }
}

extension NSManagedObjectContext {
  /// Detects a conflict at the next save if an object's row has changed in the meantime, even if the
  /// object has no changes.
  ///
  /// Fires the object if it's a fault: its current values are the ones to compare. Cost: at the save,
  /// one SELECT of the row's version. It's a programmer error to pass an object of another context.
  /// Apple counterpart: the same.
  public final func detectConflicts(for object: NSManagedObject) {
    precondition(object.context === self, "an object is locked in its own context")
    guard !object.isInserted, !changes.locked.contains(where: { $0 === object }) else { return }
    object.willAccess()
    changes.locked.append(object)
  }
}
