import ManagedModel

/// The changes that one save writes: the changed objects of a context, each once, in the order of
/// writing.
struct SavePlan {
  let inserted: [NSManagedObject]
  let updated: [NSManagedObject]
  let deleted: [NSManagedObject]
  /// Objects that aren't written, and whose rows must be unchanged.
  let locked: [NSManagedObject]
  /// The objects whose values are written: the inserted ones, then the updated.
  let written: [NSManagedObject]
  /// The layouts of the objects whose values are written, each once.
  private let layouts: [EntityLayout]

  init(
    inserted: [NSManagedObject] = [], updated: [NSManagedObject] = [],
    deleted: [NSManagedObject] = [], locked: [NSManagedObject] = []
  ) {
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
    self.locked = locked
    written = updated.isEmpty ? inserted : inserted + updated
    var layouts: [EntityLayout] = []
    for object in written where layouts.last !== object.layout {
      if !layouts.contains(where: { $0 === object.layout }) { layouts.append(object.layout) }
    }
    self.layouts = layouts
  }

  /// Returns the objects whose values are written, of the entities that meet a condition.
  ///
  /// **Cost:** none if no entity meets it, or all do.
  func written(where condition: (EntityLayout) -> Bool) -> [NSManagedObject] {
    let chosen = layouts.filter(condition)
    if chosen.isEmpty { return [] }
    guard chosen.count < layouts.count else { return written }
    return written.filter { object in chosen.contains { $0 === object.layout } }
  }

  /// Joins the parts of several stores.
  init(joining parts: [SavePlan]) {
    self.init(
      inserted: parts.flatMap(\.inserted), updated: parts.flatMap(\.updated),
      deleted: parts.flatMap(\.deleted), locked: parts.flatMap(\.locked))
  }

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty
  }

  /// The objects whose versions are compared.
  var compared: [NSManagedObject] {
    updated + deleted + locked
  }
}

/// A row that a save found changed since its object was read.
struct SaveConflict {
  /// The comparison that found the conflict.
  enum Location {
    /// The object's snapshot against the row cache.
    case rowCache
    /// The row cache against the stored rows.
    case store
  }

  let object: NSManagedObject
  let location: Location
  /// The `Z_OPT` that the object was read with.
  let oldVersion: Int64
  /// The current `Z_OPT`; 0 if the row no longer exists.
  let newVersion: Int64
  let cached: [String: Any]?
  let persisted: [String: Any]?
}

/// Thrown if rows have changed since their objects were read; nothing is written then.
struct SaveConflicts: Error, @unchecked Sendable {  // thrown and caught on the context's queue
  let conflicts: [SaveConflict]
}

/// Thrown inside of a save's transaction to roll it back: the rows of these objects have changed.
struct ChangedRows: CustomNSError, @unchecked Sendable {
  // thrown and caught on the context's queue
  static let errorDomain = NSCocoaErrorDomain
  let objects: [NSManagedObject]

  /// The code of the save's error, if its merge policy doesn't resolve the conflict.
  var errorCode: Int { NSManagedObjectMergeError }
}

extension Row {
  /// Returns the values by property, as in a conflict: attributes, and the object IDs of to-one
  /// relationships; `nil` values are `NSNull`, and values in external data files `ExternalFile`s.
  ///
  /// Calls value transformers.
  func snapshot(_ layout: EntityLayout, _ store: CachingStore?) -> [String: Any] {
    var result: [String: Any] = [:]
    for slot in layout.slots {
      if slot.kind.isToOne {
        result[slot.name] = destinationID(slot, store) ?? NSNull()
      } else {
        result[slot.name] = KeyedValue.boxed(layout.value(slot, in: self), slot.kind) ?? NSNull()
      }
    }
    return layout.gatheringComposites(result)
  }

  private func destinationID(_ slot: RowSlot, _ store: CachingStore?) -> NSManagedObjectID? {
    guard !isNull(slot), let declared = slot.relationship.destinationEntity else { return nil }
    let number = slot.kind == .toOnePolymorphic ? Int(exactly: entityNumber(slot)) : nil
    let layout = number.flatMap { store?.layouts.layout(entityNumber: $0) }
    return NSManagedObjectID(
      layout: layout ?? EntityLayout.of(declared).at(store?.storeIndex ?? 0),
      primaryKey: int64(slot),
      store: store)
  }
}

extension NSManagedObject {
  /// The values that the object was last read or saved with; an `ExternalFile` for a value in a
  /// file that it hasn't read.
  var snapshot: [String: Any] {
    var result = row.snapshot(layout, context?.store(for: self))
    for slot in layout.externalSlots where values?.isChanged(slot.index) != true {
      // Its file may have been removed.
      guard result[slot.name] is ExternalFile, let known = cachedValue(.slot(slot.index)) else {
        continue
      }
      result[slot.name] = known
    }
    return result
  }
}

/// Objects of a save, or an object and a row, with equal constrained values.
struct ConstraintViolation {
  let constraint: UniquenessConstraint
  let objects: [NSManagedObject]
  /// The stored row; `nil` for a conflict among the objects.
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
    written { !$0.constraints.isEmpty }.flatMap { object -> [ConstrainedObject] in
      let constraints = object.layout.constraints
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
}

/// The objects of a save by their rows, to look up many rows.
struct SavedRows {
  private let deleted: Set<RowKey>
  private let written: [RowKey: NSManagedObject]

  init(of plan: SavePlan) {
    deleted = Set(plan.deleted.map { RowKey($0.identity) })
    written = Dictionary(
      plan.written.map { (RowKey($0.identity), $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the violation by an object and a stored row that have equal constrained values.
  ///
  /// - Returns: `nil` if this save deletes the row or changes its values. If it writes the row with
  ///   the same values, the two objects violate the constraint.
  func violation(
    by candidate: ConstrainedObject, _ stored: FetchedIdentity,
    snapshot: () -> [String: Any]?
  ) -> ConstraintViolation? {
    let constraint = candidate.constraint
    let row = RowKey(stored)
    if deleted.contains(row) { return nil }
    guard let other = written[row] else {
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
