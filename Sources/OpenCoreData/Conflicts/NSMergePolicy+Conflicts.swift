import ManagedModel

extension NSMergePolicy {
  /// Resolves optimistic-locking conflicts, object by object.
  final func resolve(_ conflicts: [NSMergeConflict]) throws {
    guard !conflicts.isEmpty else { return }
    if mergeType == .errorMergePolicyType { throw NSError.mergeConflicts(conflicts) }
    guard let context = conflicts.lazy.compactMap({ $0.sourceObject.context }).first else { return }
    var resolved = ResolvedObjects(in: context, wins: wins)
    for conflict in conflicts {
      let object = conflict.sourceObject
      guard object.context === context else { continue }
      let newest = try context.newestRow(of: object)
      defer { newest?.release() }
      try resolve(object, newest, context, &resolved)
    }
    try resolved.settle()
  }

  /// Whether the context's changes win, deletions among them.
  private var wins: Bool {
    mergeType == .overwriteMergePolicyType
      || mergeType == .mergeByPropertyObjectTrumpMergePolicyType
  }

  private func resolve(
    _ object: NSManagedObject, _ newest: Row?, _ context: NSManagedObjectContext,
    _ resolved: inout ResolvedObjects
  ) throws {
    if object.state.contains(.deleted) {
      // The current row is deleted; or it's kept.
      guard let newest else { return context.dropChanges(of: object, nil) }
      if wins { resolved.delete(object, newest) } else { try resolved.keep(object) }
      return
    }
    guard object.state.contains(.updated) else {
      // Locked only: there's nothing to write.
      context.dropChanges(of: object, newest)
      return
    }
    guard let newest else {
      if wins { resolved.restore(object) } else { context.dropChanges(of: object, nil) }
      return
    }
    resolved.append(object)
    switch mergeType {
    case .overwriteMergePolicyType: object.overwrite(newest)
    case .mergeByPropertyObjectTrumpMergePolicyType: object.merge(newest, storeTrumps: false)
    case .mergeByPropertyStoreTrumpMergePolicyType: object.merge(newest, storeTrumps: true)
    default: context.dropChanges(of: object, newest)
    }
  }
}

extension NSManagedObjectContext {
  /// Returns an object's row from the row cache or the store; `nil` if it doesn't exist.
  ///
  /// Retained for the caller. **Cost:** one SELECT after a row-cache miss.
  /// - Parameter isCached: Whether a row in the row cache is taken for the newest one.
  final func newestRow(of object: NSManagedObject, isCached: Bool = true) throws -> Row? {
    guard let store = store(for: object) else { return nil }
    if isCached, let row = cachedRow(of: object, in: store, notBefore: -.infinity) { return row }
    do {
      return try storedRow(of: object, in: store)
    } catch let error as NSError
      where error.domain == NSCocoaErrorDomain
      && error.code == NSManagedObjectReferentialIntegrityError
    {
      // An incremental store throws it for a missing row.
      return nil
    }
  }

  /// Discards the changes of one object; without a row it becomes deleted.
  final func dropChanges(of object: NSManagedObject, _ newest: Row?) {
    if let newest {
      if object.state.contains(.updated) { object.restoreDestinations(in: newest) }
      if object.state.contains(.deleted) { object.restoreInverses(in: newest) }
      object.restoreJoinRows()
    }
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
  /// Adopts the row's version, and marks all properties to be written with this object's values.
  ///
  /// An external value whose file was removed with its replacement, and that wasn't read before,
  /// is lost: the row keeps its value.
  final func overwrite(_ newest: Row) {
    let unchanged = unchangedValues(since: newest)
    take(newest)
    for slot in layout.externalSlots where values?.isChanged(slot.index) != true {
      values?.forget(slot.index)
    }
    for (index, value) in unchanged { change(value, at: index) }
    // The rows of its destinations have a changed list, to which others may have added some.
    for (index, relationship) in layout.toMany.enumerated()
    where relationship.isOrdered && relationship.inverseRelationship?.isToMany == false {
      guard case .toMany(let value)? = values?[layout.valueIndex(.toMany(index))] else { continue }
      if value.hasChanges { value.turnIntoFault() }
    }
    state.insert(.overwritten)
  }

  /// Marks a row that no longer exists to be reinserted with this object's values.
  ///
  /// External values that weren't read before are lost: their files were removed with the row.
  final func restoreRow() {
    state.insert(.restored)
    for slot in layout.externalSlots where values?.isChanged(slot.index) != true {
      if let file = externalFile(slot, in: row) { restoreExternalValue(slot, in: row, file: file) }
    }
  }

  /// Merges property by property: a property that only one side changed is taken from it.
  ///
  /// A value that was set to an equal one is unchanged, unless the other side of the relationship
  /// has changed. The next did-change lists the object as refreshed.
  final func merge(_ newest: Row, storeTrumps: Bool) {
    if storeTrumps { returnToDestinations(in: newest) }
    for slot in layout.slots where values?.isChanged(slot.index) == true {
      let isChangedHere = differs(slot) || isAdded(by: slot)
      let (base, stored) = (row.rawValue(slot), newest.rawValue(slot))
      let isChangedThere =
        !(layout.transformer(slot)?.areEqual(stored, base, slot.kind)
        ?? (stored == base))
      if isChangedHere, !(isChangedThere && storeTrumps) { continue }
      if slot.kind.isToOne, isChangedHere { setDestination(destination(of: newest, slot), slot) }
      values?.forget(slot.index)
    }
    // The deletion of a destination may be discarded, too.
    take(newest, leavesDeleted: !storeTrumps)
    values?.forgetUnchanged(firstTransient: layout.firstTransient)
    context?.changes.eventRefreshed.insert(self)
    awake(fromSnapshotEvents: .mergePolicy)
  }

  /// Sets changed to-one relationships to the destinations in the newest row, and updates their
  /// inverses.
  final func restoreDestinations(in newest: Row) {
    returnToDestinations(in: newest)
    for slot in layout.slots where slot.kind.isToOne && values?.isChanged(slot.index) == true {
      setDestination(destination(of: newest, slot), slot)
    }
  }

  /// Undoes, at the other ends, the removal of this object by its deletion: of to-one relationships
  /// as far as the newest row still refers to them, of to-many relationships as far as this object
  /// has their destinations.
  final func restoreInverses(in newest: Row) {
    for slot in layout.slots
    where slot.kind.isToOne && row.rawValue(slot) == newest.rawValue(slot) {
      guard let inverse = slot.relationship.inverseRelationship,
        let other = destination(of: row, slot), !other.isDeleted
      else { continue }
      other.undoRemoval(of: self, from: inverse)
    }
    for (index, relationship) in layout.toMany.enumerated() {
      // What was removed before the deletion isn't among the objects.
      guard let inverse = relationship.inverseRelationship,
        case .toMany(let value)? = values?[layout.valueIndex(.toMany(index))],
        let others = value.objects
      else { continue }
      for other in others where !other.isDeleted { other.undoRemoval(of: self, from: inverse) }
    }
  }

  /// Undoes the removal of a destination by its deletion, on this side only.
  private func undoRemoval(
    of destination: NSManagedObject, from relationship: NSRelationshipDescription
  ) {
    guard case .slot(let index) = position(of: relationship.name) else {
      return undoChange(of: destination, in: relationship)
    }
    guard values?.isChanged(index) == true, case .null? = values?[index],
      refersInStore(to: destination, layout.slots[index])
    else { return }
    noteChange()
    storeDestination(destination, layout.slots[index])
  }

  /// Undoes, at the other ends, the changes of the many-to-many relationships whose join rows this
  /// object writes, including those by its deletion.
  ///
  /// The other ends record them, too, but don't write them.
  final func restoreJoinRows() {
    for relationship in layout.toMany where !relationship.isTransient && relationship.writesPairs {
      guard let inverse = relationship.inverseRelationship, inverse.isToMany,
        case .toMany(let value)? = values?[layout.valueIndex(position(of: relationship.name))]
      else { continue }
      let others = value.added.union(value.removed).union(value.objects ?? [])
      for other in others where !other.isDeleted { other.undoChange(of: self, in: inverse) }
    }
  }

  /// Undoes the addition of a destination to a to-many, or its removal, on this side only.
  final func undoChange(
    of destination: NSManagedObject, in relationship: NSRelationshipDescription
  ) {
    let position = position(of: relationship.name)
    guard case .toMany(let known)? = values?[layout.valueIndex(position)] else { return }
    let isAdded = known.added.contains(destination)
    guard isAdded || known.removed.contains(destination) else { return }
    let value = changeable(relationship, at: position)
    if isAdded {
      value.undoAddition(of: destination)
    } else {
      value.undoRemoval(of: destination, at: value.committedIndex(of: destination))
    }
    noteChange()
  }

  /// Returns the values of the slots without a change, by position, except external values that
  /// are those of the newest row or can no longer be read.
  private func unchangedValues(since newest: Row) -> [(index: Int, value: ObjectValue)] {
    layout.slots.filter { values?.isChanged($0.index) != true }.compactMap { slot in
      if let file = externalFile(slot, in: row) {
        guard row.rawValue(slot) != newest.rawValue(slot) else { return nil }
        return (try? externalValue(slot, in: row, file: file)).map { (slot.index, $0) }
      }
      let value: ObjectValue =
        slot.kind.isToOne
        ? destination(of: row, slot).map { .object($0) } ?? .null : .raw(row.rawValue(slot))
      return (slot.index, value)
    }
  }
}

extension NSManagedObjectContext {
  /// Detects a conflict at the next save if an object's row has changed in the meantime, even if
  /// the object has no changes.
  ///
  /// Fires the object if it's a fault: its current values are the ones to compare. After a refresh
  /// or a merge, they are the ones that are read next. **Cost:** at the save, one SELECT of the
  /// row's version. It's a programmer error to pass an object of another context. Apple
  /// counterpart: the same.
  public final func detectConflicts(for object: NSManagedObject) {
    guard object.context === self else {
      fatalError("detectConflicts(for:) requires an object of this context")
    }
    guard !object.isInserted else { return }
    object.willAccess()
    changes.locked.insert(object)
  }
}

extension NSMergePolicy {
  /// Resolves constraint conflicts.
  ///
  /// Among objects with equal values, the first that has a row is kept, or else the first. Against
  /// a stored row, the policy type decides which of the two is kept.
  /// - Throws: 133021 for the error policy; the store's error if a stored object that is to be
  ///   changed can't be read.
  final func resolve(_ conflicts: [NSConstraintConflict]) throws {
    guard !conflicts.isEmpty else { return }
    if mergeType == .errorMergePolicyType { throw NSError.constraintConflicts(conflicts) }
    var displaced = DisplacedObjects()
    for conflict in conflicts {
      let objects = conflict.conflictingObjects.filter { $0.context != nil && !$0.isDeleted }
      guard let stored = conflict.databaseObject else {
        guard let winner = objects.first(where: { !$0.isInserted }) ?? objects.first else {
          continue
        }
        for object in objects where object !== winner { displaced.replace(object, by: winner) }
        continue
      }
      for object in objects {
        try resolve(object, against: stored, conflict.constraint, &displaced)
      }
    }
    displaced.redirectReferences()
  }

  private func resolve(
    _ object: NSManagedObject, against stored: NSManagedObject, _ constraint: [String],
    _ displaced: inout DisplacedObjects
  ) throws {
    guard let context = object.context, !stored.isDeleted else { return }
    switch mergeType {
    case .overwriteMergePolicyType:
      try context.fulfillIfFault(stored)
      context.markForDeletion(stored)
    case .mergeByPropertyObjectTrumpMergePolicyType:
      if object.isInserted {
        try context.fulfillIfFault(stored)
        object.copyChanges(to: stored, except: constraint)
        displaced.replace(object, by: stored)
      } else {
        object.forgetChanges(of: constraint)
      }
    default:
      if object.isInserted {
        displaced.replace(object, by: stored)
      } else {
        context.dropChanges(of: object, object.row)
        var resolved = ResolvedObjects(in: context, wins: false)
        resolved.append(object)
        try resolved.settle()
      }
    }
  }
}

extension NSManagedObjectContext {
  /// Fulfills a fault whose values are about to change.
  ///
  /// Firing the fault instead would make the object deleted if its row can't be read.
  /// - Throws: The store's error.
  fileprivate final func fulfillIfFault(_ object: NSManagedObject) throws {
    do {
      if object.isFault { _ = try fulfill(object) }
    } catch {
      throw NSError.from(error, store: firstStore)
    }
  }
}

extension NSManagedObject {
  /// Undoes the changes of some properties; the next did-change lists the object as refreshed.
  fileprivate func forgetChanges(of names: [String]) {
    for slot in layout.slots where names.contains(slot.name) {
      if slot.kind.isToOne {
        setValue(committedValues(forKeys: [slot.name])[slot.name], forKey: slot.name)
      }
      values?.forget(slot.index)
    }
    context?.changes.eventRefreshed.insert(self)
    awake(fromSnapshotEvents: .mergePolicy)
  }
}
