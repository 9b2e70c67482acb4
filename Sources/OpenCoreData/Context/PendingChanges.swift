import ManagedModel

/// The changes of a context at two levels: since the last save, and since the last notification.
///
/// Changed objects are held strongly until they are saved or rolled back.
struct PendingChanges {
  /// In the order of insertion, which is the order of INSERTs and of new primary keys.
  var inserted = ChangedObjects(.inserted)
  var updated = ChangedObjects(.updated)
  var deleted = ChangedObjects(.deleted)
  /// Deletions not yet carried through their relationships.
  var unpropagated: [NSManagedObject] = []
  /// Objects whose version the next save compares although nothing of them is written.
  var locked: [NSManagedObject] = []
  /// Objects that a merge has deleted since pending changes were processed.
  var mergedDeletions: [NSManagedObject] = []
  /// New objects that went because of a constraint; the next did-save lists them as deleted.
  var displaced: [NSManagedObject] = []

  var eventInserted = ChangedObjects(.eventInserted)
  var eventUpdated = ChangedObjects(.eventUpdated)
  var eventDeleted = ChangedObjects(.eventDeleted)
  var eventRefreshed = ChangedObjects(.eventRefreshed)

  /// What the did-change notification that is being posted tells of; empty otherwise.
  var posted: [Set<NSManagedObject>] = []

  /// Raised by each change, so that a pass of `willSave` can tell whether it changed anything.
  private(set) var marks = 0

  /// Notes that something changed.
  mutating func mark() { marks += 1 }

  /// Whether an object was inserted or set in the present event, or in the one being told of.
  func isInEvent(_ object: NSManagedObject) -> Bool {
    !object.state.isDisjoint(with: [.eventInserted, .eventUpdated])
      || posted.contains { $0.contains(object) }
  }

  /// The objects inserted since the last notification.
  var eventInsertions: Set<NSManagedObject> {
    mutating get {
      // Most often no earlier event has inserted any, and the save tells of the same.
      eventInserted.array.isSame(as: inserted.array) ? inserted.members : eventInserted.members
    }
  }

  /// Some of the inserted objects as a set, which is at hand where they are all of them.
  mutating func insertions(_ objects: [NSManagedObject]) -> Set<NSManagedObject> {
    objects.isSame(as: inserted.array) ? inserted.members : Set(objects)
  }

  /// Every changed object once.
  var all: [NSManagedObject] {
    // The marks tell who is in several of them.
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

  /// Forgets every change.
  mutating func removeAll() {
    clearEvents()
    inserted.removeAll()
    updated.removeAll()
    deleted.removeAll()
    unpropagated = []
    locked = []
    displaced = []
    mergedDeletions = []
  }

  /// Forgets what was changed of one object.
  mutating func forget(_ object: NSManagedObject) {
    updated.remove(object)
    deleted.remove(object)
    locked.removeAll { $0 === object }
  }

  /// Lets go of objects that are not changed any more.
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
  }
}

extension [NSManagedObject] {
  /// Whether both are the same objects in the same order.
  fileprivate func isSame(as other: [NSManagedObject]) -> Bool {
    // References side by side: comparing them so counts none.
    withUnsafeBytes { first in other.withUnsafeBytes { first.elementsEqual($0) } }
  }
}
