import ManagedModel

/// What one save writes: the changed objects of a context, each once, in the order of writing.
struct SavePlan {
  var inserted: [NSManagedObject] = []
  var updated: [NSManagedObject] = []
  var deleted: [NSManagedObject] = []

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty
  }

  /// The objects whose values are written.
  var written: [NSManagedObject] {
    inserted + updated
  }
}

/// A row that a save found changed since its object was read.
struct SaveConflict {
  let object: NSManagedObject
  /// `Z_OPT` that the object was read at.
  let oldVersion: Int64
  /// `Z_OPT` found; 0 when the row is gone.
  let newVersion: Int64
}

/// Thrown inside a save's transaction to have it rolled back.
struct SaveConflicts: Error, @unchecked Sendable {  // thrown and caught on the context's queue
  let conflicts: [SaveConflict]
}
