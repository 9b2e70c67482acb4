import ManagedModel

/// The changes that one save writes: the changed objects of a context, each once, in the order of writing.
struct SavePlan {
  let inserted: [NSManagedObject]
  let updated: [NSManagedObject]
  let deleted: [NSManagedObject]
  /// Objects that aren't written, and whose rows must be unchanged.
  let locked: [NSManagedObject]
  /// The objects whose values are written: the inserted ones, then the updated.
  let written: [NSManagedObject]

  init(
    inserted: [NSManagedObject] = [], updated: [NSManagedObject] = [],
    deleted: [NSManagedObject] = [], locked: [NSManagedObject] = []
  ) {
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
    self.locked = locked
    written = updated.isEmpty ? inserted : inserted + updated
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
  enum Place {
    /// The object's snapshot against the row cache.
    case rowCache
    /// The row cache against the stored rows.
    case store
  }

  let object: NSManagedObject
  let place: Place
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
struct ChangedRows: Error, @unchecked Sendable {  // thrown and caught on the context's queue
  let objects: [NSManagedObject]
}

extension Row {
  /// Returns the values by property, as in a conflict: attributes, and the object IDs of to-one
  /// relationships; nil values are `NSNull`.
  func snapshot(_ layout: EntityLayout, _ store: CachingStore?) -> [String: Any] {
    var result: [String: Any] = [:]
    for slot in layout.slots {
      if slot.kind.isToOne {
        result[slot.name] = destinationID(slot, store) ?? NSNull()
      } else {
        result[slot.name] = KeyedValue.boxed(value(slot), slot.kind) ?? NSNull()
      }
    }
    return layout.gatheringComposites(result)
  }

  private func destinationID(_ slot: RowSlot, _ store: CachingStore?) -> NSManagedObjectID? {
    guard !isNull(slot), let declared = slot.relationship.destinationEntity else { return nil }
    let number = slot.kind == .toOnePolymorphic ? Int(exactly: entityNumber(slot)) : nil
    let layout = number.flatMap { store?.layouts.layout(entityNumber: $0) }
    return NSManagedObjectID(
      layout: layout ?? EntityLayout.of(declared).at(store?.place ?? 0), primaryKey: int64(slot),
      store: store)
  }
}

extension NSManagedObject {
  /// The values that the object was last read or saved with.
  var snapshot: [String: Any] {
    row.snapshot(layout, context?.store(for: self))
  }
}
