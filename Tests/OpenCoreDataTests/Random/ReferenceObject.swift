/// The expected state of one object in a context.
struct ReferenceObject {
  /// A to-many relationship: the persisted destinations and the changes.
  struct ToMany: Equatable {
    /// The destinations when the store was read; `nil` for a fault.
    var committed: Set<Int>?
    var added: Set<Int> = []
    var removed: Set<Int> = []

    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty }

    /// The current destinations; `nil` for a fault.
    var shown: Set<Int>? {
      committed.map { $0.union(added).subtracting(removed) }
    }

    /// Adds a destination.
    ///
    /// - Parameter isStored: Whether the store contains it, if the other side knows.
    mutating func insert(_ serial: Int, isStored: Bool? = nil) {
      let wasRemoved = removed.remove(serial) != nil
      if !(isStored ?? committed?.contains(serial) ?? wasRemoved) { added.insert(serial) }
    }

    /// Removes a destination; see `insert` for `isStored`.
    mutating func remove(_ serial: Int, isStored: Bool? = nil) {
      if let shown, !shown.contains(serial), isStored != true { return }
      let wasAdded = added.remove(serial) != nil
      if isStored ?? committed?.contains(serial) ?? !wasAdded { removed.insert(serial) }
    }

    mutating func commit() {
      committed = shown
      added = []
      removed = []
    }
  }

  /// The unsaved changes.
  struct Changes {
    var attributes: [String: AttributeValue?] = [:]
    var toOne: [String: Int?] = [:]
    var isEmpty: Bool { attributes.isEmpty && toOne.isEmpty }
  }

  var isFault = true
  var isInserted = false
  var isUpdated = false
  var isDeleted = false
  /// Whether its row doesn't exist: its values are `nil` and it's deleted.
  var isMissing = false
  /// The snapshot, with the version that a save compares.
  var base = ReferenceStore.Record()
  var changes = Changes()
  var toMany: [String: ToMany] = [:]

  var hasChanges: Bool { isInserted || isUpdated || isDeleted }

  /// The current values, as the record that a save would write.
  var present: ReferenceStore.Record {
    var record = base
    for (key, value) in changes.attributes { record.attributes[key] = value }
    for (key, value) in changes.toOne { record.toOne[key] = value }
    return record
  }

  /// Whether a save would write more than the version.
  var hasPersistentChanges: Bool {
    present != base || toMany.values.contains(where: \.hasChanges)
  }

  mutating func becomeFault() {
    self = ReferenceObject()
  }

  /// Replaces the snapshot and keeps the changes; to-many relationships are read again.
  mutating func rebase(_ record: ReferenceStore.Record) {
    base = record
    for name in toMany.keys {
      if toMany[name]?.hasChanges == true {
        toMany[name]?.committed = nil
      } else {
        toMany[name] = nil
      }
    }
  }
}
