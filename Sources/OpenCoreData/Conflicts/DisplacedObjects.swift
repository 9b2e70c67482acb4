import ManagedModel

/// Objects that a merge policy deletes in favor of others with the same constrained values, and the
/// references to them.
struct DisplacedObjects {
  private var winners: [ObjectIdentifier: NSManagedObject] = [:]
  private var losers: [NSManagedObject] = []

  /// Deletes an object in favor of another; references by relationships with an inverse refer to
  /// the other from now on.
  ///
  /// The did-save notification lists the object as deleted, whether it had a row or not. A to-one
  /// inverse is only redirected if the other object has no destination of its own.
  mutating func replace(_ loser: NSManagedObject, by winner: NSManagedObject) {
    guard let context = loser.context else { return }
    for relationship in loser.layout.entity.relationshipsByName.values
    where winner.layout.position(of: relationship.name) != nil {
      guard let inverse = relationship.inverseRelationship else { continue }
      if !relationship.isToMany, inverse.isToMany { continue }
      let others = loser.relatedObjects(relationship).filter { !$0.isDeleted }
      if !relationship.isToMany, !others.isEmpty, !winner.relatedObjects(relationship).isEmpty {
        continue
      }
      for other in others {
        other.exchange(loser, for: winner, in: inverse)
      }
    }
    if loser.isInserted { context.changes.displaced.append(loser) }
    winners[ObjectIdentifier(loser)] = winner
    losers.append(loser)
    context.markForDeletion(loser)
  }

  /// Redirects the unsaved references by relationships without an inverse.
  ///
  /// **Cost:** none if no such relationship can refer to the objects; otherwise one pass over the
  /// changed objects.
  func redirectReferences() {
    guard let context = losers.first?.context,
      let model = context.coordinator?.managedObjectModel
    else { return }
    let entities = losers.reduce(into: [NSEntityDescription]()) { found, loser in
      let entity = loser.layout.entity
      if !found.contains(where: { $0 === entity }) { found.append(entity) }
    }
    let relationships = model.entities.flatMap { $0.relationshipsByName.values }.filter {
      relationship in
      guard relationship.inverseRelationship == nil, !relationship.isTransient,
        let destination = relationship.destinationEntity
      else { return false }
      return entities.contains { $0.isKind(of: destination) }
    }
    guard !relationships.isEmpty else { return }
    for object in context.changes.inserted.array + context.changes.updated.array
    where !object.isDeleted {
      redirectReferences(of: object)
    }
  }

  private func redirectReferences(of object: NSManagedObject) {
    guard let values = object.values else { return }
    for slot in object.layout.slots
    where slot.kind.isToOne && values.isChanged(slot.index)
      && slot.relationship.inverseRelationship == nil
    {
      guard case .object(let loser) = values[slot.index],
        let winner = winners[ObjectIdentifier(loser)]
      else { continue }
      object.setDestination(winner, slot)
    }
    for (index, relationship) in object.layout.toMany.enumerated()
    where relationship.inverseRelationship == nil && !relationship.isTransient {
      guard case .toMany(let value) = values[object.layout.valueIndex(.toMany(index))] else {
        continue
      }
      for loser in value.added {
        guard let winner = winners[ObjectIdentifier(loser)] else { continue }
        object.exchange(loser, for: winner, in: relationship)
      }
    }
  }
}

extension NSManagedObject {
  /// Replaces one destination of a relationship with another.
  fileprivate func exchange(
    _ old: NSManagedObject, for new: NSManagedObject, in relationship: NSRelationshipDescription
  ) {
    let key = relationship.name
    guard relationship.isToMany else { return setValue(new, forKey: key) }
    guard relationship.isOrdered else {
      removeDestination(old, forKey: key)
      return addDestination(new, forKey: key)
    }
    let objects = relatedObjects(relationship)
    let present = objects.contains(new) ? objects.filter { $0 !== old } : objects
    setValue(present.map { $0 === old ? new : $0 }, forKey: key)
  }

  /// Sets this new object's values on another object: those that were set, and the destinations of
  /// to-many relationships without an inverse.
  ///
  /// The other object takes this one's place in ordered relationships.
  ///
  /// Those of the others are redirected when this object is replaced. It loses the destinations of
  /// relationships without an inverse, so that no cascade rule deletes them with it.
  final func copyChanges(to other: NSManagedObject, except names: [String]) {
    for slot in layout.slots
    where values?.isChanged(slot.index) == true && !names.contains(slot.name) {
      guard other.layout.position(of: slot.name) != nil else { continue }
      if slot.kind.isToOne, let list = slot.relationship.inverseRelationship, list.isOrdered,
        let owner = destination(slot)
      {
        owner.willAccess()
        // Not from its value, an ordered set which would be re-created after each addition.
        let state = owner.changeable(list, at: owner.position(of: list.name))
        let place = state.list?.firstIndex { $0 === self }
        owner.addDestination(other, list, at: place)
        continue
      }
      other.setValue(storedValue(forKey: slot.name), forKey: slot.name)
      if slot.kind.isToOne, slot.relationship.inverseRelationship == nil {
        setDestination(nil, slot)
      }
    }
    for relationship in layout.toMany
    where relationship.inverseRelationship == nil && !relationship.isTransient
      && other.layout.position(of: relationship.name) != nil
    {
      for object in relatedObjects(relationship) where !object.isDeleted {
        other.addDestination(object, forKey: relationship.name)
        removeDestination(object, forKey: relationship.name)
      }
    }
  }
}
