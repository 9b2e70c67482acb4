import ManagedModel

extension NSManagedObject {
  /// A to-many relationship as a set: what is added and removed there changes the relationship, notes
  /// the change and keeps the other side in step.
  ///
  /// Adding and removing does not fire the relationship, counting and looking does. Traps for a key that
  /// is no unordered to-many.
  public final func mutableSetValue(forKey key: String) -> NSMutableSet {
    MutableRelationshipSet.make(self, toMany(key, isOrdered: false))
  }

  /// An ordered to-many relationship as a list, as `mutableSetValue(forKey:)` gives a set.
  ///
  /// Fires the relationship. Ask for it again after a refault. Traps for a key that is no ordered
  /// to-many.
  public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    let relationship = toMany(key, isOrdered: true)
    willAccess()
    let value = changeable(relationship, at: place(of: key))
    if let mirror = value.mirror { return mirror }
    let made = MutableRelationshipList(self, relationship)
    made.noteList(value.list ?? [])
    value.mirror = made
    return made
  }

  /// The IDs of what a relationship leads to; an ordered one's in its order.
  ///
  /// No object is made: a to-many that is a fault stays one. Cost: the object's fault when it is one,
  /// and for such a to-many a relationship fault. Traps for a key that is no relationship.
  public final func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
    let place = place(of: key)
    willAccess()
    switch place {
    case .slot(let index) where layout.slots[index].kind.isToOne:
      return (read(place) as? NSManagedObject).map { [$0.objectID] } ?? []
    case .toMany(let index):
      let relationship = layout.toMany[index]
      let value = toManyValue(at: layout.holdingIndex(place))
      guard value.objects == nil, let context else {
        return relatedObjects(relationship).map(\.objectID)
      }
      let stored = context.destinationIDs(of: relationship, of: self)
      let (added, removed) = (value.added.map(\.objectID), Set(value.removed.map(\.objectID)))
      return stored.filter { !removed.contains($0) && !added.contains($0) } + added
    default:
      preconditionFailure("'\(key)' of '\(layout.entity.name ?? "")' is no relationship")
    }
  }

  private func toMany(_ key: String, isOrdered: Bool) -> NSRelationshipDescription {
    guard case .toMany(let index) = place(of: key), layout.toMany[index].isOrdered == isOrdered
    else {
      preconditionFailure(
        "'\(key)' of '\(layout.entity.name ?? "")' is no \(isOrdered ? "" : "un")ordered to-many")
    }
    return layout.toMany[index]
  }
}
