import ManagedModel

/// The changes of a context at two levels: since the last save, and since the last notification.
///
/// Changed objects are held strongly until they are saved or rolled back.
struct PendingChanges {
  /// In the order of insertion, which is the order of INSERTs and of new primary keys.
  var inserted: OrderedObjects = .init()
  var updated: OrderedObjects = .init()
  var deleted: OrderedObjects = .init()
  /// Counted up by each change, so that a round of `willSave` can tell whether it changed anything.
  var serial = 0
  /// Deletions not yet carried through their relationships.
  var unpropagated: [NSManagedObject] = []

  var eventInserted: OrderedObjects = .init()
  var eventUpdated: OrderedObjects = .init()
  var eventDeleted: OrderedObjects = .init()
  var eventRefreshed: OrderedObjects = .init()

  init(serial: Int = 0) {
    self.serial = serial
  }

  /// Every changed object once.
  var all: [NSManagedObject] {
    var all = inserted
    for object in updated.array + deleted.array { all.insert(object) }
    return all.array
  }

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty
  }

  var hasEvents: Bool {
    !eventInserted.isEmpty || !eventUpdated.isEmpty || !eventDeleted.isEmpty
      || !eventRefreshed.isEmpty
  }

  mutating func clearEvents() {
    eventInserted = .init()
    eventUpdated = .init()
    eventDeleted = .init()
    eventRefreshed = .init()
  }
}

/// A set of objects that remembers the order they came in.
struct OrderedObjects {
  /// With gaps where objects were removed.
  private var order: [NSManagedObject?] = []
  private var positions: [ObjectIdentifier: Int] = [:]

  var isEmpty: Bool { positions.isEmpty }

  mutating func insert(_ object: NSManagedObject) {
    let id = ObjectIdentifier(object)
    guard positions[id] == nil else { return }
    positions[id] = order.count
    order.append(object)
  }

  mutating func remove(_ object: NSManagedObject) {
    guard let position = positions.removeValue(forKey: ObjectIdentifier(object)) else { return }
    order[position] = nil
  }

  func contains(_ object: NSManagedObject) -> Bool {
    positions[ObjectIdentifier(object)] != nil
  }

  /// The objects in the order of their (last) insertion.
  var array: [NSManagedObject] {
    order.compactMap { $0 }
  }

  /// The objects in no order.
  var members: Set<NSManagedObject> {
    Set(array)
  }
}
