import ManagedModel

/// The changes of a context since the last save, and since the last notification.
///
/// Changed objects are retained until they are saved or rolled back.
struct PendingChanges {
  /// In the order of insertion, which is the order of INSERTs and of new primary keys.
  var inserted = ChangedObjects(.inserted)
  var updated = ChangedObjects(.updated)
  var deleted = ChangedObjects(.deleted)
  /// Deletions that haven't been propagated yet.
  var unpropagated: [NSManagedObject] = []
  /// The number of times that they have all been propagated.
  var propagations = 0
  /// Objects whose version the next save compares without writing them.
  var locked = LockedObjects()
  /// Objects that a merge has deleted since pending changes were processed.
  var mergedDeletions: [NSManagedObject] = []
  /// New objects removed because of a constraint; the next did-save lists them as deleted.
  var displaced: [NSManagedObject] = []
  /// Whether a merge policy has removed references, or deleted rows that others have changed.
  var requiresValidation = false

  var eventInserted = ChangedObjects(.eventInserted)
  var eventUpdated = ChangedObjects(.eventUpdated)
  var eventDeleted = ChangedObjects(.eventDeleted)
  var eventRefreshed = ChangedObjects(.eventRefreshed)

  /// Whether a results controller may list objects whose insertion hasn't been posted yet.
  var listsInsertions = false

  /// The changes in the did-change notification that is being posted; otherwise empty.
  var posted: [Set<NSManagedObject>] = []

  /// Incremented by each change, so that a pass of `willSave` can detect changes.
  private(set) var marks = 0

  /// Records a change.
  mutating func mark() { marks += 1 }

  /// Returns whether an object was inserted or changed in the current event, or in the one being
  /// posted.
  func isInEvent(_ object: NSManagedObject) -> Bool {
    !object.state.isDisjoint(with: [.eventInserted, .eventUpdated])
      || posted.contains { $0.contains(object) }
  }

  /// The objects inserted since the last notification.
  var eventInsertions: Set<NSManagedObject> {
    mutating get {
      // Usually no earlier event has inserted any, and the save posts the same set.
      eventInserted.array.isSame(as: inserted.array) ? inserted.members : eventInserted.members
    }
  }

  /// Returns inserted objects as a set, which is cached if they are all of them.
  mutating func insertions(_ objects: [NSManagedObject]) -> Set<NSManagedObject> {
    objects.isSame(as: inserted.array) ? inserted.members : Set(changed: objects)
  }

  /// Every changed object, once.
  var all: [NSManagedObject] {
    // The marks show which are in several of them.
    var result = inserted.array
    for object in updated.array where !object.state.contains(.inserted) { result.append(object) }
    for object in deleted.array where object.state.isDisjoint(with: [.inserted, .updated]) {
      result.append(object)
    }
    return result
  }

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty
  }

  var hasEvents: Bool {
    !eventInserted.isEmpty || !eventUpdated.isEmpty || !eventDeleted.isEmpty
      || !eventRefreshed.isEmpty
  }

  /// Discards all changes.
  mutating func removeAll() {
    clearEvents()
    inserted.removeAll()
    updated.removeAll()
    deleted.removeAll()
    unpropagated = []
    locked = LockedObjects()
    displaced = []
    requiresValidation = false
    mergedDeletions = []
  }

  /// Discards the changes of one object.
  mutating func forget(_ object: NSManagedObject) {
    updated.remove(object)
    deleted.remove(object)
    locked.remove([object])
  }

  /// Discards the changes that were saved to one of several stores.
  mutating func remove(saved part: SavePlan) {
    for object in part.written + part.deleted {
      inserted.remove(object)
      updated.remove(object)
      deleted.remove(object)
    }
    locked.remove(part.locked)
    compact()
  }

  /// Releases objects that are no longer changed.
  mutating func compact() {
    inserted.compact()
    updated.compact()
    deleted.compact()
    eventInserted.compact()
    eventUpdated.compact()
    eventDeleted.compact()
    eventRefreshed.compact()
  }

  /// Empties the sets of the next notification.
  mutating func clearEvents() {
    eventInserted.removeAll()
    eventUpdated.removeAll()
    eventDeleted.removeAll()
    eventRefreshed.removeAll()
    listsInsertions = false
  }
}

/// Objects whose versions a save compares, each once.
struct LockedObjects {
  /// In the order in which they were locked.
  private(set) var array: [NSManagedObject] = []
  private var known: Set<ObjectIdentifier> = []

  /// Adds an object, unless it's present.
  mutating func insert(_ object: NSManagedObject) {
    if known.insert(ObjectIdentifier(object)).inserted { array.append(object) }
  }

  /// Removes objects.
  ///
  /// **Cost:** none if none of them is present, otherwise proportional to the number of objects.
  mutating func remove(_ objects: [NSManagedObject]) {
    let count = known.count
    for object in objects { known.remove(ObjectIdentifier(object)) }
    if known.count < count { array.removeAll { !known.contains(ObjectIdentifier($0)) } }
  }
}

extension [NSManagedObject] {
  /// Returns whether both arrays have the same objects in the same order.
  fileprivate func isSame(as other: [NSManagedObject]) -> Bool {
    // Compares the references as memory, which changes no reference count.
    withUnsafeBufferPointer { first in
      other.withUnsafeBufferPointer { second in
        first.withMemoryRebound(to: Int.self) { first in
          second.withMemoryRebound(to: Int.self) { first.elementsEqual($0) }
        }
      }
    }
  }
}
