import ManagedModel

/// What one save writes: the changed objects of a context, each once, in the order of writing.
struct SavePlan {
  var inserted: [NSManagedObject] = []
  var updated: [NSManagedObject] = []
  var deleted: [NSManagedObject] = []
  /// Objects of which nothing is written, and whose rows must be what they were.
  var locked: [NSManagedObject] = []

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty
  }

  /// The objects whose values are written.
  var written: [NSManagedObject] {
    inserted + updated
  }

  /// The objects whose versions are compared.
  var compared: [NSManagedObject] {
    updated + deleted + locked
  }
}
