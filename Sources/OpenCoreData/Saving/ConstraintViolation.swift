import ManagedModel

/// Objects of a save, or an object and a row, with equal constrained values.
struct ConstraintViolation {
  let constraint: UniquenessConstraint
  let objects: [NSManagedObject]
  /// The stored row; nil for a conflict among the objects.
  let stored: FetchedIdentity?
  let storedSnapshot: [String: Any]?
}

/// Thrown if a save would violate uniqueness constraints; nothing is written then.
struct ConstraintViolations: Error, @unchecked Sendable {
  // thrown and caught on the context's queue
  let violations: [ConstraintViolation]
}

/// An object with the values of a uniqueness constraint, as a save would write them.
struct ConstrainedObject {
  let object: NSManagedObject
  let constraint: UniquenessConstraint
  let key: ConstraintKey
}

extension SavePlan {
  /// The objects whose constrained values this save writes.
  var constrained: [ConstrainedObject] {
    written.flatMap { object -> [ConstrainedObject] in
      let constraints = object.layout.constraints
      guard !constraints.isEmpty else { return [] }
      let all = object.isInserted || !object.state.isDisjoint(with: .rewritten)
      let changed = all ? [] : Set(object.changedSlots().map(\.index))
      return constraints.compactMap { constraint in
        guard all || !changed.isDisjoint(with: constraint.slots),
          let key = constraint.key({ object.rawValue(object.layout.slots[$0]) })
        else { return nil }
        return ConstrainedObject(object: object, constraint: constraint, key: key)
      }
    }
  }

  /// Checks that no objects of this save have equal constrained values.
  func checkConstraints() throws {
    var byKey: [ConstraintKey: [ConstrainedObject]] = [:]
    var order: [ConstraintKey] = []
    for candidate in constrained {
      if byKey[candidate.key] == nil { order.append(candidate.key) }
      byKey[candidate.key, default: []].append(candidate)
    }
    let violations = order.compactMap { key -> ConstraintViolation? in
      guard let colliding = byKey[key], colliding.count > 1 else { return nil }
      return ConstraintViolation(
        constraint: colliding[0].constraint, objects: colliding.map(\.object), stored: nil,
        storedSnapshot: nil)
    }
    if !violations.isEmpty { throw ConstraintViolations(violations: violations) }
  }

  /// Returns the violation by an object and a stored row that have equal constrained values.
  ///
  /// - Returns: Nil if this save deletes the row or changes its values. If it writes the row with the same
  ///   values, the two objects violate the constraint.
  func violation(
    by candidate: ConstrainedObject, _ stored: FetchedIdentity,
    snapshot: () -> [String: Any]?
  ) -> ConstraintViolation? {
    func isRow(_ object: NSManagedObject) -> Bool {
      object.primaryKey == stored.primaryKey && object.layout.rootIndex == stored.layout.rootIndex
    }
    let constraint = candidate.constraint
    if deleted.contains(where: isRow) { return nil }
    guard let other = written.first(where: isRow) else {
      return ConstraintViolation(
        constraint: constraint, objects: [candidate.object], stored: stored,
        storedSnapshot: snapshot())
    }
    let key = constraint.key { other.rawValue(other.layout.slots[$0]) }
    guard key == candidate.key else { return nil }
    return ConstraintViolation(
      constraint: constraint, objects: [other, candidate.object], stored: nil, storedSnapshot: nil)
  }
}
