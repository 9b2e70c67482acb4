import ManagedModel

extension NSMergePolicy {
  /// Resolves constraint conflicts.
  ///
  /// Among objects with equal values, the first that has a row is kept, or else the first. Against a stored
  /// row, the policy type decides which of the two is kept.
  final func settle(_ conflicts: [NSConstraintConflict]) throws {
    guard !conflicts.isEmpty else { return }
    if mergeType == .errorMergePolicyType { throw NSError.constraintConflicts(conflicts) }
    for conflict in conflicts {
      let objects = conflict.conflictingObjects.filter { $0.context != nil && !$0.isDeleted }
      guard let stored = conflict.databaseObject else {
        guard let winner = objects.first(where: { !$0.isInserted }) ?? objects.first else {
          continue
        }
        for object in objects where object !== winner {
          object.context?.displace(object, by: winner)
        }
        continue
      }
      for object in objects { settle(object, against: stored, conflict.constraint) }
    }
  }

  private func settle(
    _ object: NSManagedObject, against stored: NSManagedObject, _ constraint: [String]
  ) {
    guard let context = object.context, !stored.isDeleted else { return }
    switch mergeType {
    case .overwriteMergePolicyType:
      context.delete(stored)
    case .mergeByPropertyObjectTrumpMergePolicyType:
      if object.isInserted {
        object.giveChanges(to: stored, except: constraint)
        context.displace(object, by: stored)
      } else {
        object.forgetChanges(of: constraint)
      }
    default:
      if object.isInserted {
        context.displace(object, by: stored)
      } else {
        context.dropChanges(of: object, object.row)
      }
    }
  }
}

extension NSManagedObjectContext {
  /// Deletes an object in favor of another with the same constrained values; references to it are
  /// redirected to the other.
  ///
  /// The did-save notification lists it as deleted, whether it had a row or not.
  final func displace(_ loser: NSManagedObject, by winner: NSManagedObject) {
    for relationship in loser.layout.entity.relationshipsByName.values
    where winner.layout.place(of: relationship.name) != nil {
      guard let inverse = relationship.inverseRelationship, relationship.isToMany else { continue }
      for other in loser.relatedObjects(relationship) where !other.isDeleted {
        other.exchange(loser, for: winner, in: inverse)
      }
    }
    if loser.isInserted { changes.displaced.append(loser) }
    delete(loser)
  }
}

extension NSManagedObject {
  /// Replaces one destination of a relationship with another.
  fileprivate func exchange(
    _ old: NSManagedObject, for new: NSManagedObject, in relationship: NSRelationshipDescription
  ) {
    guard relationship.isToMany else {
      setValue(new, forKey: relationship.name)
      return
    }
    let key = relationship.name
    switch value(forKey: key) {
    case var objects as Set<NSManagedObject>:
      objects.remove(old)
      objects.insert(new)
      setValue(objects, forKey: key)
    default:
      break
    }
  }

  /// Sets this object's changes since its creation on another object.
  fileprivate func giveChanges(to other: NSManagedObject, except names: [String]) {
    for slot in changedSlots() where !names.contains(slot.name) {
      guard other.layout.place(of: slot.name) != nil else { continue }
      other.setValue(storedValue(forKey: slot.name), forKey: slot.name)
    }
  }

  /// Undoes the changes of some properties.
  fileprivate func forgetChanges(of names: [String]) {
    for slot in layout.slots where names.contains(slot.name) {
      if slot.kind.isToOne {
        setValue(committedValues(forKeys: [slot.name])[slot.name], forKey: slot.name)
      }
      values?.forget(slot.index)
    }
  }
}
