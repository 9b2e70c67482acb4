import ManagedModel

/// What one save writes: the changed objects of a context, each once, in the order of writing.
struct SavePlan {
  let inserted: [NSManagedObject]
  let updated: [NSManagedObject]
  let deleted: [NSManagedObject]
  /// Objects of which nothing is written, and whose rows must be what they were.
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
