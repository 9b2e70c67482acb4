import ManagedModel

// Adopts newer rows. An object's row may be older than the other side of a relationship: then, a
// change of that side is recorded only there.

extension NSManagedObject {
  /// Adopts a row as the snapshot; changes are kept.
  ///
  /// A changed to-one relationship may replace a different destination from when it was set, so its
  /// inverses are updated. Another one becomes `nil` if an unsaved change of its new destination
  /// has removed this object, or if the delete rule of that is to be applied. **Cost:** a fault for
  /// the destination of a changed one.
  ///
  /// - Parameter leavesDeleted: Whether delete rules of destinations are applied now.
  final func take(_ newest: Row, leavesDeleted: Bool = true) {
    let earlier = row
    defer { earlier.release() }
    newest.retain()
    row = newest
    // It exists again.
    state.remove(.restored)
    guard !isDeleted else { return }
    for slot in layout.slots where slot.kind.isToOne {
      guard earlier.rawValue(slot) != newest.rawValue(slot),
        let inverse = slot.relationship.inverseRelationship
      else { continue }
      guard values?.isChanged(slot.index) == true else {
        leaveDestination(slot, inverse, leavesDeleted)
        continue
      }
      guard inverse.isToMany else { continue }
      let present = destination(slot)
      if let replaced = destination(of: newest, slot), replaced !== present, !replaced.isDeleted {
        replaced.dropDestination(self, of: inverse, isStored: true)
      }
      if let present, present.hasChanges {
        present.changeable(inverse, at: present.position(of: inverse.name))
          .insert(self, isStored: refersInStore(to: present, slot))
      }
    }
  }

  /// Sets a to-one to `nil` if its destination in the row has removed this object by an unsaved
  /// change, or is deleted with the rule Nullify.
  private func leaveDestination(
    _ slot: RowSlot, _ inverse: NSRelationshipDescription, _ leavesDeleted: Bool
  ) {
    guard let other = registeredDestination(slot, in: row) else { return }
    let leaves =
      other.isDeleted
      ? leavesDeleted && inverse.deleteRule == .nullifyDeleteRule
      : other.unsavedMembership(of: self, in: inverse) == false
    guard leaves else { return }
    noteChange()
    storeDestination(nil, slot)
  }

  /// Returns whether this object is in a relationship of a to-one's destination by an unsaved
  /// change that its own value doesn't show, because its row already had the destination.
  final func isAdded(by slot: RowSlot) -> Bool {
    guard slot.kind.isToOne, case .object(let other)? = values?[slot.index],
      let inverse = slot.relationship.inverseRelationship
    else { return false }
    return other.unsavedMembership(of: self, in: inverse) == true
  }

  /// Undoes the unsaved removals of this object from relationships of the destinations that a newer
  /// row refers to.
  final func returnToDestinations(in newest: Row) {
    for slot in layout.slots
    where slot.kind.isToOne && row.rawValue(slot) != newest.rawValue(slot) {
      guard let inverse = slot.relationship.inverseRelationship,
        let other = registeredDestination(slot, in: newest), !other.isDeleted,
        other.unsavedMembership(of: self, in: inverse) == false
      else { continue }
      if inverse.isToMany {
        other.undoChange(of: self, in: inverse)
      } else {
        setDestination(other, slot)
      }
    }
  }

  /// Returns `true` if an unsaved change has added an object to a relationship of this one, and
  /// `false` if it has removed it.
  private func unsavedMembership(
    of object: NSManagedObject, in relationship: NSRelationshipDescription
  ) -> Bool? {
    let position = position(of: relationship.name)
    switch position {
    case .toMany:
      guard case .toMany(let value)? = values?[layout.valueIndex(position)] else { return nil }
      if value.added.contains(object) { return true }
      return value.removed.contains(object) ? false : nil
    case .slot(let index):
      guard values?.isChanged(index) == true else { return nil }
      let slot = layout.slots[index]
      let (isThere, wasThere) = (destination(slot) === object, refersInStore(to: object, slot))
      return isThere == wasThere ? nil : isThere
    case .transient, .composite:
      return nil
    }
  }

  /// Returns the destination of a to-one in a row, if it's registered.
  final func registeredDestination(_ slot: RowSlot, in row: Row) -> NSManagedObject? {
    guard let context, !row.isNull(slot), let entity = slot.relationship.destinationEntity else {
      return nil
    }
    let rootIndex = EntityLayout.of(entity).rootIndex &+ layout.rootOffset
    let key = row.int64(slot)
    return context.registry.object(rootIndex: rootIndex, key: key)
      ?? context.twin(rootIndex: rootIndex, key: key)
  }
}
