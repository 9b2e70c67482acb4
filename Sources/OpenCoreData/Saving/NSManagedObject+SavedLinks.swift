import ManagedModel

// Applies saved relationship changes to a table of to-many keys, on both sides.

extension NSManagedObject {
  /// Applies this object's saved relationship changes to its owners' to-many keys.
  final func followLinks(in links: inout some LinkTable & ~Copyable, commit: UInt64) {
    let own = identity
    // An object that was deleted and reinserted has values of its old row, as has one that the
    // merge policy restores: its deletion has removed it from its owners.
    let isNew = isInserted || state.contains(.restored)
    for slot in layout.slots
    where slot.kind.isToOne && (isNew || values?.isChanged(slot.index) == true) {
      guard let inverse = slot.relationship.inverseRelationship, inverse.isToMany,
        isNew || rawValue(slot) != row.rawValue(slot)
      else { continue }
      if !isInserted, !row.isNull(slot),
        recordedList(slot, of: row.int64(slot))?.removed.contains(self) != true
      {
        edit(&links, inverse, of: slot, owner: row.int64(slot), nil, primaryKey, commit)
      }
      if case .toOne(let key, _) = rawValue(slot),
        recordedList(slot, of: key)?.added.contains(self) != true
      {
        edit(&links, inverse, of: slot, owner: key, own, nil, commit)
      }
    }
    for (index, relationship) in layout.toMany.enumerated() {
      guard case .toMany(let value)? = values?[layout.valueIndex(.toMany(index))],
        value.hasChanges
      else { continue }
      follow(relationship, value, in: &links, commit: commit)
    }
  }

  /// Returns the ordered inverse of a to-one relationship as an owner records it, with the order of
  /// its contents; `nil` if it's unordered, or if the owner records nothing.
  ///
  /// - Parameter key: The owner's key.
  final func recordedList(_ slot: RowSlot, of key: Int64) -> ToManyValue? {
    guard let inverse = slot.relationship.inverseRelationship, inverse.isOrdered,
      let destination = slot.relationship.destinationEntity
    else { return nil }
    let found: NSManagedObject?
    if case .object(let object)? = values?[slot.index], object.primaryKey == key {
      found = object
    } else if let context {
      found = context.registry.object(
        rootIndex: EntityLayout.of(destination).rootIndex &+ layout.rootOffset, key: key)
    } else {
      found = nil
    }
    guard let owner = found, let position = owner.layout.position(of: inverse.name),
      case .toMany(let value)? = owner.values?[owner.layout.valueIndex(position)]
    else { return nil }
    return value
  }

  /// Returns the slots by which a save puts this object into ordered relationships whose owners
  /// don't record it: they were refreshed, or a merge policy restores this object's row.
  ///
  /// - Parameter slots: The to-one relationships with an ordered inverse.
  final func unrecordedLists(_ slots: [RowSlot]) -> [(slot: RowSlot, owner: Int64)] {
    let isNew = isInserted || state.contains(.restored)
    return slots.compactMap { slot in
      guard isNew || values?.isChanged(slot.index) == true && rawValue(slot) != row.rawValue(slot),
        case .toOne(let key, _) = rawValue(slot),
        recordedList(slot, of: key)?.added.contains(self) != true
      else { return nil }
      return (slot, key)
    }
  }

  /// Applies the saved changes of one to-many to both ends, as far as the store has them.
  private func follow(
    _ relationship: NSRelationshipDescription, _ value: ToManyValue,
    in links: inout some LinkTable & ~Copyable, commit: UInt64
  ) {
    let inverse = relationship.inverseRelationship
    let isPaired = inverse?.isToMany == true
    // The other end's row, or its join rows, correct what this side may have missed.
    let isCorrectedByOtherSide = inverse != nil && !(isPaired && relationship.writesPairs)
    if isCorrectedByOtherSide, !relationship.isOrdered { return }
    let key = ToManyKey(
      rootIndex: layout.rootIndex, primaryKey: primaryKey, relationship: relationship.name)
    let added = value.added.filter { !$0.isDeleted }
    let list = value.list?.filter { !$0.isDeleted }
    // All join rows of an ordered end are written, whatever the store has, and so are all columns
    // of an ordered relationship without an inverse.
    let isWritten = (isPaired || inverse == nil) && !state.isDisjoint(with: .rewritten)
    let restored = isWritten ? list ?? [] : []
    if inverse == nil, !(value.added.isEmpty && restored.isEmpty) {
      // A destination has one column for its owner: adding it to one removes it from another. The
      // owners of a relationship with the same name of another entity have another column.
      let taken = Set(value.added.union(restored).map { RowKey($0.identity) })
      links.removeEverywhere(
        [relationship.name: taken], ofRoot: layout.rootIndex,
        layout: layout.declaring(sharedNameOf: relationship), commit: commit)
    }
    // Both ends record a join row. An object that no longer has the change may have no row, and
    // isn't read then.
    if isPaired || isWritten, added.union(restored).contains(where: { !$0.hasChanges }) {
      links.doubt(key)
    }
    if let list {
      let order = SavedOrder(
        list: list.map(\.identity), added: Set(added.union(restored).map(\.primaryKey)),
        removed: Set(value.removed.map(\.primaryKey)))
      links.arrange(key, as: order, commit: commit)
    } else {
      for other in value.removed {
        links.edit(key, adding: nil, removing: other.primaryKey, commit: commit)
      }
      for other in added {
        links.edit(key, adding: other.identity, removing: nil, commit: commit)
      }
    }
    guard let inverse, isPaired, inverse !== relationship else { return }
    func inverseKey(_ other: NSManagedObject) -> ToManyKey {
      ToManyKey(
        rootIndex: other.layout.rootIndex, primaryKey: other.primaryKey, relationship: inverse.name)
    }
    for other in restored {
      links.edit(inverseKey(other), adding: identity, removing: nil, commit: commit)
    }
    guard relationship.writesPairs else { return }
    for other in value.removed {
      links.edit(inverseKey(other), adding: nil, removing: primaryKey, commit: commit)
    }
    for other in added {
      links.edit(inverseKey(other), adding: identity, removing: nil, commit: commit)
    }
  }

  /// Removes a deleted object from the to-many keys that its last known row belongs to.
  ///
  /// `SavePlan.removeDeletedFromLinks` removes it from the others.
  final func removeFromLinks(in links: inout some LinkTable & ~Copyable, commit: UInt64) {
    for slot in layout.slots where slot.kind.isToOne && !row.isNull(slot) {
      guard let inverse = slot.relationship.inverseRelationship, inverse.isToMany else { continue }
      edit(&links, inverse, of: slot, owner: row.int64(slot), nil, primaryKey, commit)
    }
  }

  private func edit(
    _ links: inout some LinkTable & ~Copyable, _ inverse: NSRelationshipDescription,
    of slot: RowSlot,
    owner: Int64, _ adding: FetchedIdentity?, _ removing: Int64?, _ commit: UInt64
  ) {
    guard let destination = slot.relationship.destinationEntity else { return }
    let key = ToManyCache.Key(
      rootIndex: EntityLayout.of(destination).rootIndex &+ layout.rootOffset, primaryKey: owner,
      relationship: inverse.name)
    links.edit(key, adding: adding, removing: removing, commit: commit)
  }
}

extension SavePlan {
  /// Removes the deleted objects from to-many relationships whose inverses aren't in their rows:
  /// their context may have read an outdated state of those.
  ///
  /// **Cost:** one pass over the to-many keys, for entities that have such relationships.
  func removeDeletedFromLinks(in links: inout some LinkTable & ~Copyable, commit: UInt64) {
    var removed: [String: Set<RowKey>] = [:]
    for object in deleted {
      for name in object.layout.listings {
        removed[name, default: []].insert(RowKey(object.identity))
      }
    }
    if removed.isEmpty { return }
    links.removeEverywhere(removed, ofRoot: nil, layout: nil, commit: commit)
  }
}

extension EntityLayout {
  /// Returns the layout of the entity that declares a to-many relationship without an inverse, if
  /// another entity of the hierarchy declares one of the same name; otherwise `nil`.
  fileprivate func declaring(sharedNameOf list: NSRelationshipDescription) -> EntityLayout? {
    let isShared = family.oneWayLists.contains { other in
      other.name == list.name && other.entity !== list.entity
        && other.entity?.rootEntity === entity.rootEntity
    }
    return isShared ? list.entity.map { EntityLayout.of($0) } : nil
  }
}

extension NSRelationshipDescription {
  /// Whether this end of a many-to-many writes the join rows, which both ends record: the ordered
  /// end, or the first by name.
  var writesPairs: Bool {
    guard let inverse = inverseRelationship, inverse !== self else { return true }
    if isOrdered != inverse.isOrdered { return isOrdered }
    return (entity?.name ?? "", name) < (inverse.entity?.name ?? "", inverse.name)
  }
}

extension ObjectKey {
  /// Creates the key of a managed object or an object ID; `nil` for any other value.
  ///
  /// Objects of another store have no key: no row equals them. Another coordinator's store may be
  /// the same file.
  /// - Parameter handle: The handle of the store that is being read.
  init?(of value: Any, in handle: StoreHandle) {
    switch value {
    case let object as NSManagedObject:
      self.init(object.primaryKey, object.layout, object.storeHandle, in: handle)
    case let objectID as NSManagedObjectID:
      self.init(objectID.primaryKey, objectID.layout, objectID.handle, in: handle)
    default:
      return nil
    }
  }

  private init(
    _ key: Int64, _ layout: EntityLayout, _ own: StoreHandle?, in handle: StoreHandle
  ) {
    let isOfStore = own.map { $0 === handle || $0.identifier == handle.identifier } ?? false
    self.init(primaryKey: key > 0 && isOfStore ? key : nil, entityName: layout.entityName)
  }
}
