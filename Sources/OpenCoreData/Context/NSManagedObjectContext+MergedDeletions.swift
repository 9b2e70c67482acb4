import ManagedModel

// Merges deletions that another context has saved, which has applied the delete rules to the rows.
// What remains is what only this context has: its unsaved changes, and the values that it has read.

extension NSManagedObjectContext {
  /// Deletes the registered objects of rows that were deleted elsewhere: there's nothing to save.
  ///
  /// Unsaved references to them become `nil`, objects that refer to them otherwise are refreshed,
  /// and new objects that a cascade rule applies to are deleted. A reference stays if its
  /// relationship has no inverse, or one with the rule No Action. No relationship is read for that,
  /// and `prepareForDeletion` isn't called for the objects of the rows. **Cost:** one pass over the
  /// changed objects; with `rereads`, or in a child, one over the registered objects, and one
  /// SELECT for each entity of refreshed objects.
  /// - Parameters:
  ///   - identities: The rows.
  ///   - rereads: Whether the row cache may have outdated rows of the objects to refresh.
  /// - Returns: The rows whose objects were deleted.
  final func mergeDeletions(
    of identities: [FetchedIdentity], rereads: Bool
  ) -> [FetchedIdentity] {
    var seen: Set<ObjectIdentifier> = []
    let lost = identities.compactMap { registeredForMerge($0, isSaved: false) }
      .filter { seen.insert(ObjectIdentifier($0)).inserted }
    guard !lost.isEmpty else { return [] }
    let losing = Set(lost)
    let orphans = discardReferences(to: losing)
    var referring = objectsReferring(to: losing)
    // Unlike a save's, a batch request's changes don't list the owners of what it has deleted.
    if rereads || hasParent {
      referring.formUnion(registeredObjects(referringTo: losing, includesChanged: true))
    }
    let outdated = NSManagedObjectContext.ordered(referring)
    let isPropagating = lost.contains { $0.state.contains(.deleted) }
    for object in lost { loseRow(object) }
    // Deletions in the store don't propagate as this context's own.
    if isPropagating { changes.unpropagated.removeAll { $0.state.contains(.inaccessible) } }
    if rereads, !outdated.isEmpty {
      let identities = outdated.map(\.identity)
      requiredCoordinator.forget(MergedChanges(updated: identities))
      reload(identities)
    }
    for object in outdated {
      refreshValues(object)
      changes.eventRefreshed.insert(object)
    }
    // Custom code runs last.
    for object in orphans { markForDeletion(object) }
    return lost.map(\.identity)
  }

  /// Deletes the registered objects of rows whose deletion was saved to a context that this one
  /// doesn't read from: the next save deletes the rows.
  ///
  /// - Returns: The rows whose objects weren't deleted before.
  final func deleteObjects(of identities: [FetchedIdentity]) -> [FetchedIdentity] {
    identities.compactMap { identity in
      guard let object = registeredForMerge(identity, isSaved: false), !object.isDeleted else {
        return nil
      }
      delete(object)
      return object.identity
    }
  }

  /// Discards the references to objects whose rows a save found missing: unsaved ones become `nil`,
  /// unchanged objects that refer to them turn into faults, and the new objects that a cascade rule
  /// applies to are deleted.
  ///
  /// Unlike in a merge, nothing lists the objects that the deletion has changed. Changed objects
  /// keep their rows, whose versions the save compares. **Cost:** if there are such objects, one
  /// pass over the registered objects; the rows of the faults are read again.
  final func discardKnownReferences(to lost: Set<NSManagedObject>) {
    guard !lost.isEmpty else { return }
    let orphans = discardReferences(to: lost)
    let outdated = NSManagedObjectContext.ordered(
      registeredObjects(referringTo: lost, includesChanged: false))
    if !outdated.isEmpty {
      requiredCoordinator.forget(MergedChanges(updated: outdated.map(\.identity)))
    }
    for object in outdated {
      object.turnIntoFault()
      changes.eventRefreshed.insert(object)
    }
    for object in orphans { markForDeletion(object) }
  }

  /// Discards the unsaved references to objects that lose their rows; undo doesn't restore them.
  ///
  /// - Returns: The new objects to delete with them.
  private func discardReferences(to lost: Set<NSManagedObject>) -> [NSManagedObject] {
    let changed = changes.inserted.array + changes.updated.array
    return undoState.withoutRecording {
      changed.filter { object in
        !object.isDeleted && !lost.contains(object) && object.discardReferences(to: lost)
      }
    }
  }

  /// Returns the objects whose saved values refer to objects that lose their rows, as far as that's
  /// known from the values that these have read.
  private func objectsReferring(to lost: Set<NSManagedObject>) -> Set<NSManagedObject> {
    var found: Set<NSManagedObject> = []
    for object in lost where !object.isFault {
      for relationship in object.layout.entity.relationshipsByName.values
      where relationship.deleteRule != .noActionDeleteRule {
        guard let inverse = relationship.inverseRelationship else { continue }
        for related in object.knownObjects(of: relationship)
        where related.context === self && !related.isDeleted && !lost.contains(related)
          && related.hasSavedReference(to: object, in: inverse)
        {
          found.insert(related)
        }
      }
    }
    return found
  }

  /// Returns the registered objects whose values, as they were read, refer to objects that lose
  /// their rows.
  ///
  /// - Parameter includesChanged: Whether saved objects with changes are among them.
  private func registeredObjects(
    referringTo lost: Set<NSManagedObject>, includesChanged: Bool
  ) -> Set<NSManagedObject> {
    let rows = Set(lost.map { RowKey($0.identity) })
    var found: Set<NSManagedObject> = []
    registry.forEach { object in
      guard !object.isDeleted, !object.isInserted, includesChanged || !object.hasChanges,
        !lost.contains(object)
      else { return }
      if object.hasSavedReference(to: lost, rows) { found.insert(object) }
    }
    return found
  }

  private static func ordered(_ objects: Set<NSManagedObject>) -> [NSManagedObject] {
    objects.sorted { ($0.layout.index, $0.primaryKey) < ($1.layout.index, $1.primaryKey) }
  }

  /// Marks an object as deleted after its row was deleted elsewhere.
  private func loseRow(_ object: NSManagedObject) {
    changes.inserted.remove(object)
    changes.updated.remove(object)
    changes.eventUpdated.remove(object)
    changes.eventRefreshed.remove(object)
    object.becomeInaccessible()
    object.values = nil
    object.prefetched = nil
    changes.deleted.insert(object)
    changes.mergedDeletions.append(object)
    changes.eventDeleted.insert(object)
  }

  /// Removes the objects that a merge deleted from `deletedObjects`.
  final func finishMergedDeletions() {
    guard !changes.mergedDeletions.isEmpty else { return }
    for object in changes.mergedDeletions {
      changes.updated.remove(object)
      changes.deleted.remove(object)
    }
    changes.mergedDeletions = []
  }
}

extension NSManagedObject {
  /// Returns the registered objects that a relationship refers to, as far as they are known.
  ///
  /// Fires nothing.
  fileprivate final func knownObjects(
    of relationship: NSRelationshipDescription
  ) -> [NSManagedObject] {
    guard let position = layout.position(of: relationship.name) else { return [] }
    switch position {
    case .toMany:
      guard case .toMany(let value)? = values?[layout.valueIndex(position)] else { return [] }
      return Array(value.objects ?? value.added)
    case .slot(let index):
      switch values?[index] {
      case .object(let object)?: return [object]
      case .null?: return []
      default: return [registeredDestination(layout.slots[index], in: row)].compactMap { $0 }
      }
    case .transient, .composite:
      return []
    }
  }

  /// Returns whether a value that was read refers to an object, and wasn't changed since.
  fileprivate final func hasSavedReference(
    to object: NSManagedObject, in relationship: NSRelationshipDescription
  ) -> Bool {
    guard !isFault, let position = layout.position(of: relationship.name) else { return false }
    switch position {
    case .toMany:
      guard case .toMany(let value)? = values?[layout.valueIndex(position)] else { return false }
      return value.objects?.contains(object) == true && !value.added.contains(object)
    case .slot(let index):
      return values?.isChanged(index) != true && refersInStore(to: object, layout.slots[index])
    case .transient, .composite:
      return false
    }
  }

  /// Returns whether a value that was read refers to one of several objects, whose delete rules
  /// apply to it.
  ///
  /// - Parameters:
  ///   - objects: The objects, which a to-many relationship may contain.
  ///   - rows: Their rows, to which this object's row may refer, even if it's a fault.
  fileprivate final func hasSavedReference(
    to objects: Set<NSManagedObject>, _ rows: Set<RowKey>
  ) -> Bool {
    func isApplied(_ inverse: NSRelationshipDescription?) -> Bool {
      inverse.map { $0.deleteRule != .noActionDeleteRule } ?? false
    }
    for slot in layout.slots where slot.kind.isToOne && !row.isNull(slot) {
      guard isApplied(slot.relationship.inverseRelationship),
        let destination = slot.relationship.destinationEntity
      else { continue }
      let rootIndex = EntityLayout.of(destination).rootIndex &+ layout.rootOffset
      if rows.contains(RowKey(rootIndex: rootIndex, primaryKey: row.int64(slot))) { return true }
    }
    for (index, relationship) in layout.toMany.enumerated() {
      guard case .toMany(let value)? = values?[layout.valueIndex(.toMany(index))],
        let present = value.objects, isApplied(relationship.inverseRelationship)
      else { continue }
      if !present.isDisjoint(with: objects) { return true }
    }
    return false
  }

  /// Discards the unsaved references to objects that lose their rows, except those that the delete
  /// rules leave; a to-one relationship becomes `nil`.
  ///
  /// - Returns: Whether this object is new, and a cascade rule deletes it with one of them.
  fileprivate final func discardReferences(to lost: Set<NSManagedObject>) -> Bool {
    guard let values else { return false }
    var isOrphan = false
    func discards(_ inverse: NSRelationshipDescription?) -> Bool {
      guard let rule = inverse?.deleteRule, rule != .noActionDeleteRule else { return false }
      guard rule == .cascadeDeleteRule, isInserted else { return true }
      isOrphan = true
      return false
    }
    for slot in layout.slots where slot.kind.isToOne && values.isChanged(slot.index) {
      guard case .object(let destination) = values[slot.index], lost.contains(destination),
        discards(slot.relationship.inverseRelationship)
      else { continue }
      noteChange()
      storeDestination(nil, slot)
    }
    for (index, relationship) in layout.toMany.enumerated() {
      guard case .toMany(let value) = values[layout.valueIndex(.toMany(index))],
        !value.added.isDisjoint(with: lost), discards(relationship.inverseRelationship)
      else { continue }
      noteChange()
      for object in value.added.intersection(lost) { value.remove(object, isStored: false) }
    }
    return isOrphan
  }
}
