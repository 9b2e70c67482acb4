import ManagedModel

/// The changes of a context at two levels: since the last save, and since the last notification.
///
/// Changed objects are held strongly until they are saved or rolled back.
struct PendingChanges {
  /// In the order of insertion, which is the order of INSERTs and of new primary keys.
  var inserted = ChangedObjects(.inserted)
  var updated = ChangedObjects(.updated)
  var deleted = ChangedObjects(.deleted)
  /// Counted up by each change, so that a round of `willSave` can tell whether it changed anything.
  var serial = 0
  /// Deletions not yet carried through their relationships.
  var unpropagated: [NSManagedObject] = []

  var eventInserted = ChangedObjects(.eventInserted)
  var eventUpdated = ChangedObjects(.eventUpdated)
  var eventDeleted = ChangedObjects(.eventDeleted)
  var eventRefreshed = ChangedObjects(.eventRefreshed)

  /// What the did-change notification that is being posted tells of; empty otherwise.
  var posted: [Set<NSManagedObject>] = []

  /// Whether an object was inserted or set in the present event, or in the one being told of.
  func isInEvent(_ object: NSManagedObject) -> Bool {
    !object.state.isDisjoint(with: [.eventInserted, .eventUpdated])
      || posted.contains { $0.contains(object) }
  }

  /// Every changed object once.
  var all: [NSManagedObject] {
    var seen: Set<NSManagedObject> = []
    return (inserted.array + updated.array + deleted.array).filter { seen.insert($0).inserted }
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
    serial += 1
  }

  /// Empties the sets of the next notification.
  mutating func clearEvents() {
    eventInserted.removeAll()
    eventUpdated.removeAll()
    eventDeleted.removeAll()
    eventRefreshed.removeAll()
  }
}

/// Objects that are marked by one flag of their state, in the order in which they were marked.
///
/// The flag is the membership, so that marking an object again costs a test of a bit.
struct ChangedObjects {
  private let flag: ObjectState
  private(set) var array: [NSManagedObject] = []

  init(_ flag: ObjectState) {
    self.flag = flag
  }

  var isEmpty: Bool { array.isEmpty }

  var members: Set<NSManagedObject> { Set(array) }

  func contains(_ object: NSManagedObject) -> Bool {
    object.state.contains(flag)
  }

  /// Marks an object; one that is marked stays where it is.
  mutating func insert(_ object: NSManagedObject) {
    guard !object.state.contains(flag) else { return }
    object.state.insert(flag)
    array.append(object)
  }

  /// Takes an object's mark away.
  ///
  /// Cost: the number of marked objects.
  mutating func remove(_ object: NSManagedObject) {
    guard object.state.contains(flag) else { return }
    object.state.remove(flag)
    array.removeAll { $0 === object }
  }

  /// Takes all marks away.
  mutating func removeAll() {
    for object in array { object.state.remove(flag) }
    array.removeAll()
  }
}
