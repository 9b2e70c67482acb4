/// What a context knows of one object, in plain values.
struct ReferenceObject {
  /// A to-many: what was read, and what was changed since.
  struct ToMany: Equatable {
    /// What the store had when it was read; nil for a fault.
    var committed: Set<Int>?
    var added: Set<Int> = []
    var removed: Set<Int> = []

    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty }

    /// What it shows; nil for a fault.
    var shown: Set<Int>? {
      committed.map { $0.union(added).subtracting(removed) }
    }

    mutating func insert(_ serial: Int) {
      let wasRemoved = removed.remove(serial) != nil
      if !(committed?.contains(serial) ?? wasRemoved) { added.insert(serial) }
    }

    mutating func remove(_ serial: Int) {
      if let shown, !shown.contains(serial) { return }
      let wasAdded = added.remove(serial) != nil
      if committed?.contains(serial) ?? !wasAdded { removed.insert(serial) }
    }

    mutating func settle() {
      committed = shown
      added = []
      removed = []
    }
  }

  /// What was changed and not saved.
  struct Changes {
    var attributes: [String: AttributeValue?] = [:]
    var toOne: [String: Int?] = [:]
    var isEmpty: Bool { attributes.isEmpty && toOne.isEmpty }
  }

  var isFault = true
  var isInserted = false
  var isUpdated = false
  var isDeleted = false
  /// Its row is gone: it shows nothing and says that it is deleted.
  var isGone = false
  /// What was read of the store, at the version that a save compares.
  var base = ReferenceStore.Record()
  var changes = Changes()
  var toMany: [String: ToMany] = [:]

  var hasChanges: Bool { isInserted || isUpdated || isDeleted }

  /// What it shows, as the record that a save would write.
  var present: ReferenceStore.Record {
    var record = base
    for (key, value) in changes.attributes { record.attributes[key] = value }
    for (key, value) in changes.toOne { record.toOne[key] = value }
    return record
  }

  /// Whether a save would write more than a new version.
  var hasPersistentChanges: Bool {
    present != base || toMany.values.contains(where: \.hasChanges)
  }

  mutating func becomeFault() {
    self = ReferenceObject()
  }

  /// The store's row of now below the changes; to-manys are read again.
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
