import ManagedModel

/// The objects whose conflicts a merge policy has resolved one by one, and those that have to
/// follow: a save writes no reference to a row that it deletes or that doesn't exist, and no
/// one-to-one or many-to-many relationship on one side only.
///
/// Made for one call of the policy, on the context's queue.
struct ResolvedObjects {
  private let context: NSManagedObjectContext
  /// Whether the context's changes win, deletions among them.
  private let wins: Bool
  private var objects: [NSManagedObject] = []
  private var restored: [NSManagedObject] = []

  init(in context: NSManagedObjectContext, wins: Bool) {
    self.context = context
    self.wins = wins
  }

  /// Adds an object that isn't deleted.
  mutating func append(_ object: NSManagedObject) {
    objects.append(object)
  }

  /// Adds an object whose row no longer exists and is re-created.
  mutating func restore(_ object: NSManagedObject) {
    objects.append(object)
    restored.append(object)
  }

  /// Deletes the newest row of an object: its delete rules are applied again, to what others have
  /// saved since.
  func delete(_ object: NSManagedObject, _ newest: Row) {
    object.take(newest)
    object.values?.forgetUnchanged(firstTransient: object.layout.firstTransient)
    context.changes.unpropagated.append(object)
    context.changes.requiresValidation = true
  }

  /// Discards the deletion of an object, and with it the deletions by the cascade rules of its
  /// relationships and of their inverses.
  mutating func keep(_ object: NSManagedObject) throws {
    var pending = [object]
    var seen: Set<ObjectIdentifier> = []
    var kept: [(object: NSManagedObject, newest: Row)] = []
    defer { for (_, newest) in kept { newest.release() } }
    // If a row can't be read, none of them is kept yet.
    while let next = pending.popLast() {
      guard next.deletesRow, seen.insert(ObjectIdentifier(next)).inserted,
        let newest = try context.newestRow(of: next)
      else { continue }
      kept.append((next, newest))
      pending += next.cascadedDeletions
    }
    for (object, newest) in kept {
      context.dropChanges(of: object, newest)
      objects.append(object)
    }
  }

  /// Makes the objects consistent with others; undo doesn't restore what this changes.
  ///
  /// **Cost:** one SELECT for each unchanged object that a restored object refers to, as far as
  /// its relationships were read, to which an overwritten object refers instead of another, that's
  /// in a changed many-to-many list of one, or that a changed one-to-one relationship affects.
  /// - Throws: The store's error.
  mutating func settle() throws {
    try context.undoState.withoutRecording { try settleAll() }
  }

  private mutating func settleAll() throws {
    for object in restored {
      try relink(object)
      object.restoreRow()
    }
    for object in objects where object.state.contains(.overwritten) {
      try removeMissingDestinations(of: object)
    }
    try settleReferences()
    if wins { try settleOneToOne() }
  }

  // MARK: Rows that the save deletes

  /// Applies the delete rules of objects that the save deletes to those that still refer to them.
  ///
  /// By the rule Nullify, the reference becomes `nil`. Otherwise, both are deleted if the context's
  /// changes win; or else both are kept.
  private mutating func settleReferences() throws {
    guard context.changes.deleted.array.contains(where: { $0.deletesRow }) else { return }
    if !wins {
      var index = 0
      while index < objects.count {
        let references = try deletedDestinations(of: objects[index])
        for (inverse, other) in references where inverse.deleteRule != .nullifyDeleteRule {
          try keep(other)
        }
        index += 1
      }
    }
    for object in objects {
      for (inverse, other) in try deletedDestinations(of: object) {
        guard wins, inverse.deleteRule == .cascadeDeleteRule else {
          if let relationship = inverse.inverseRelationship {
            object.dropDestination(other, of: relationship)
            context.changes.requiresValidation = true
          }
          continue
        }
        context.markForDeletion(object)
      }
    }
  }

  /// Sets a to-one relationship to `nil`, which may be required.
  private func clear(_ slot: RowSlot, of object: NSManagedObject) {
    object.noteChange()
    object.storeDestination(nil, slot)
    context.changes.requiresValidation = true
  }

  /// Returns the objects that an object refers to by to-one relationships, and that the save
  /// deletes, each with the inverse, unless that has the rule No Action.
  private func deletedDestinations(
    of object: NSManagedObject
  ) throws -> [(inverse: NSRelationshipDescription, other: NSManagedObject)] {
    guard object.context === context, object.state.isDisjoint(with: [.deleted, .inaccessible])
    else { return [] }
    let newest = object.isFault ? try context.newestRow(of: object) : nil
    defer { newest?.release() }
    let row = newest ?? object.row
    return object.layout.slots.compactMap { slot in
      guard slot.kind.isToOne, let inverse = slot.relationship.inverseRelationship,
        inverse.deleteRule != .noActionDeleteRule
      else { return nil }
      let other: NSManagedObject?
      switch object.values?[slot.index] {
      case .object(let destination)?: other = destination
      case .null?: other = nil
      default:
        other = object.registeredDestination(slot, in: row)
      }
      guard let other, other.deletesRow else { return nil }
      return (inverse, other)
    }
  }

  // MARK: Rows that the save re-creates

  /// Adds a restored object to its destinations in many-to-many relationships again.
  ///
  /// The deletion of its row has removed the join rows. References to rows that no longer exist are
  /// removed.
  private func relink(_ object: NSManagedObject) throws {
    try clearMissingDestinations(of: object) { object.values?.isChanged($0.index) != true }
    for relationship in object.layout.toMany where !relationship.isTransient {
      guard let inverse = relationship.inverseRelationship, inverse.isToMany else { continue }
      let position = object.position(of: relationship.name)
      guard case .toMany(let value)? = object.values?[object.layout.valueIndex(position)],
        let others = value.objects?.subtracting(value.added)
      else { continue }
      for other in others.sorted(by: { $0.primaryKey < $1.primaryKey }) where !other.isDeleted {
        guard try update(other) else {
          value.remove(other, isStored: false)
          continue
        }
        other.noteChange()
        other.changeable(inverse, at: other.position(of: inverse.name))
          .insert(object, isStored: false)
        value.insert(other, isStored: false)
      }
    }
  }

  /// Sets to-one relationships to `nil` whose destinations no longer exist, if a delete rule would
  /// have.
  private func clearMissingDestinations(
    of object: NSManagedObject, in isWritten: (RowSlot) -> Bool
  ) throws {
    for slot in object.layout.slots where slot.kind.isToOne && isWritten(slot) {
      let rule = slot.relationship.inverseRelationship?.deleteRule ?? .noActionDeleteRule
      guard rule != .noActionDeleteRule, let other = object.destination(slot) else { continue }
      if try !other.isDeleted && !update(other) { clear(slot, of: object) }
    }
  }

  /// Removes objects that no longer exist from the to-one relationships of an overwritten object
  /// that aren't one-to-one, and from its changed many-to-many lists, all of whose join rows are
  /// written.
  private func removeMissingDestinations(of object: NSManagedObject) throws {
    try clearMissingDestinations(of: object) {
      $0.relationship.inverseRelationship?.isToMany == true
        && object.rawValue($0) != object.row.rawValue($0)
    }
    for (index, relationship) in object.layout.toMany.enumerated()
    where relationship.isOrdered && relationship.inverseRelationship?.isToMany == true {
      guard case .toMany(let value)? = object.values?[object.layout.valueIndex(.toMany(index))],
        value.hasChanges, let others = value.objects?.subtracting(value.added)
      else { continue }
      for other in others where !other.isDeleted {
        if try !update(other) { value.remove(other, isStored: false) }
      }
    }
  }

  // MARK: One-to-one relationships

  /// Makes the other sides of changed one-to-one relationships agree with the objects' values.
  ///
  /// **Cost:** one SELECT for each unchanged object on another side.
  /// - Throws: The store's error.
  func settleOneToOne() throws {
    for object in objects
    where object.state.contains(.updated) && !object.isDeleted && !object.isFault {
      for slot in object.layout.slots where slot.kind.isToOne {
        try settleOneToOne(slot, of: object)
      }
    }
  }

  /// Makes the other sides of a one-to-one relationship agree with an object's value, if that isn't
  /// the one in the store.
  private func settleOneToOne(_ slot: RowSlot, of object: NSManagedObject) throws {
    guard let inverse = slot.relationship.inverseRelationship, !inverse.isToMany,
      object.state.contains(.restored) || object.rawValue(slot) != object.row.rawValue(slot)
    else { return }
    let other = object.destination(slot)
    if let former = object.destination(of: object.row, slot), former !== other {
      try release(object, from: former, inverse)
    }
    guard let other, !other.isInserted, !other.isDeleted,
      case .slot(let back) = other.position(of: inverse.name)
    else { return }
    let exists = try update(other)
    let present = exists ? other.destination(other.layout.slots[back]) : nil
    if exists, present === object { return }
    let isTaken =
      other.values?.isChanged(back) == true
      || present != nil && object.values?.isChanged(slot.index) != true
    guard exists, !isTaken else { return clear(slot, of: object) }
    other.noteChange()
    other.storeDestination(object, other.layout.slots[back])
    if let present { try release(other, from: present, slot.relationship) }
  }

  /// Sets the other side of a one-to-one relationship to `nil` if it's an object.
  private func release(
    _ object: NSManagedObject, from other: NSManagedObject,
    _ relationship: NSRelationshipDescription
  ) throws {
    guard !other.isDeleted, case .slot(let index) = other.position(of: relationship.name),
      try update(other), other.destination(other.layout.slots[index]) === object
    else { return }
    clear(other.layout.slots[index], of: other)
  }

  /// Reads the row of an object without unsaved changes again; returns `false` if it doesn't exist.
  ///
  /// The save compares the rows of objects with changes.
  private func update(_ object: NSManagedObject) throws -> Bool {
    if object.hasChanges { return true }
    guard let row = try context.newestRow(of: object, isCached: false) else { return false }
    if object.isFault {
      object.fulfill(with: row)
    } else {
      context.refresh(object, with: row)
    }
    return true
  }
}

extension NSManagedObject {
  /// Whether the next save deletes this object's row.
  fileprivate var deletesRow: Bool {
    state.contains(.deleted) && state.isDisjoint(with: [.inserted, .inaccessible])
  }

  /// The objects whose deletion this one's has caused, or that have caused it, except by to-one
  /// relationships: the newest row has these.
  fileprivate var cascadedDeletions: [NSManagedObject] {
    layout.relationships.flatMap { relationship in
      guard
        relationship.deleteRule == .cascadeDeleteRule
          || relationship.isToMany
            && relationship.inverseRelationship?.deleteRule == .cascadeDeleteRule
      else { return [NSManagedObject]() }
      return relatedObjects(relationship).filter { $0.deletesRow }
    }
  }
}
