import ManagedModel

// How saved changes of relationships reach a table of links, on both sides.

extension NSManagedObject {
  /// Carries this object's saved relationship changes over to the links of their owners.
  final func followLinks(in links: inout some LinkTable & ~Copyable, commit: UInt64) {
    let own = FetchedIdentity(layout: layout, primaryKey: primaryKey)
    // What was deleted and is inserted anew has values of its old row.
    for slot in layout.slots
    where slot.kind.isToOne && (isInserted || values?.isChanged(slot.index) == true) {
      // The owner of an ordered list says itself what is in it, and where.
      guard let inverse = slot.relationship.inverseRelationship, inverse.isToMany,
        !inverse.isOrdered, isInserted || rawValue(slot) != row.rawValue(slot)
      else { continue }
      if !isInserted, !row.isNull(slot) {
        edit(&links, inverse, of: slot, owner: row.int64(slot), nil, primaryKey, commit)
      }
      if case .toOne(let key, _) = rawValue(slot) {
        edit(&links, inverse, of: slot, owner: key, own, nil, commit)
      }
    }
    for (index, relationship) in layout.toMany.enumerated() {
      guard case .toMany(let value)? = values?[layout.holdingIndex(.toMany(index))],
        value.hasChanges
      else { continue }
      if let inverse = relationship.inverseRelationship, !inverse.isToMany, !relationship.isOrdered
      {
        // The other end's row tells, which this side may have lost step with.
        continue
      }
      let key = ToManyCache.Key(
        rootIndex: layout.rootIndex, primaryKey: primaryKey, relationship: relationship.name)
      if relationship.inverseRelationship == nil, !value.added.isEmpty {
        // A destination has one column for it: who takes it, takes it from another.
        let taken = Set(value.added.map { RowKey($0.identity) })
        links.removeEverywhere([relationship.name: taken], commit: commit)
      }
      if let list = value.list {
        let identities = list.filter { !$0.isDeleted }.map {
          FetchedIdentity(layout: $0.layout, primaryKey: $0.primaryKey)
        }
        links.replace(key, by: identities, commit: commit)
        continue
      }
      for other in value.removed {
        links.edit(key, adding: nil, removing: other.primaryKey, commit: commit)
      }
      for other in value.added where !other.isDeleted {
        let identity = FetchedIdentity(layout: other.layout, primaryKey: other.primaryKey)
        links.edit(key, adding: identity, removing: nil, commit: commit)
      }
    }
  }

  /// Takes a deleted object out of the to-many keys that its last known row put it in.
  ///
  /// `SavePlan.leaveLists` takes it out of the others.
  final func leaveLinks(in links: inout some LinkTable & ~Copyable, commit: UInt64) {
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
  /// Takes the deleted objects out of to-manys whose other ends are in no row of theirs: what their
  /// context has read of those may be older than what is there.
  ///
  /// Cost: one pass over the links, for entities that have such relationships.
  func leaveLists(in links: inout some LinkTable & ~Copyable, commit: UInt64) {
    var gone: [String: Set<RowKey>] = [:]
    for object in deleted {
      for name in object.layout.listings { gone[name, default: []].insert(RowKey(object.identity)) }
    }
    if !gone.isEmpty { links.removeEverywhere(gone, commit: commit) }
  }
}
