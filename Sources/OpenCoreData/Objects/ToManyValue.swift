import ManagedModel

/// The state of one to-many relationship of one object.
///
/// While it's a fault, it records added and removed objects; once fired, it keeps strong references
/// to its destinations, as Core Data does (which is how two sides that were both read retain each
/// other). An ordered one is fired before it's changed: a position has no meaning without the
/// others.
final class ToManyValue {
  /// `nil` until the relationship's fault has fired.
  private(set) var objects: Set<NSManagedObject>?
  /// The destinations in order; `nil` until fired, and for an unordered relationship.
  private(set) var list: [NSManagedObject]?
  /// The destinations' keys in the store, as last read or saved; `nil` until fired.
  private(set) var committed: Set<Int64>?
  private(set) var added: Set<NSManagedObject> = []
  private(set) var removed: Set<NSManagedObject> = []
  /// Whether the order of previously present objects has changed.
  private(set) var isReordered = false
  /// Whether an ordered relationship with changes must be read again, because its object was
  /// refreshed; until then, it has its earlier destinations.
  private(set) var isOutdated = false
  /// The list at the last save or fetch; `nil` as long as it follows from `list` and `added`.
  private var committedList: [NSManagedObject]?
  /// The list as it was returned, until it changes.
  private var shownList: NSOrderedSet?
  /// The list's proxy, which is notified of changes.
  weak var mirror: MutableRelationshipList?
  /// The changes when the current event began.
  private var earlier = Difference()
  private let isOrdered: Bool

  /// The differences from the store.
  private struct Difference: Equatable {
    var added: Set<NSManagedObject> = []
    var removed: Set<NSManagedObject> = []
    /// The whole list, if an ordered one differs.
    var list: [NSManagedObject]?
  }

  /// Creates the state; if `isNew`, fulfilled and empty, for an object that isn't in the store yet.
  init(isNew: Bool, isOrdered: Bool) {
    self.isOrdered = isOrdered
    if isNew {
      objects = []
      committed = []
      if isOrdered { list = [] }
    }
  }

  /// Returns whether the store contained an object when the relationship was last read or saved;
  /// `nil` for a relationship fault.
  func isCommitted(_ object: NSManagedObject) -> Bool? {
    guard let committed else { return nil }
    return committed.contains(object.primaryKey)
      || object.formerKey.map(committed.contains) ?? false
  }

  /// Whether objects were added, removed, or moved since the last save.
  var hasChanges: Bool {
    !added.isEmpty || !removed.isEmpty || isReordered
  }

  /// The destinations in order, as the relationship's value.
  var orderedSet: NSOrderedSet? {
    guard let list else { return nil }
    if let shownList { return shownList }
    let made = NSOrderedSet(array: list)
    shownList = made
    return made
  }

  /// Fulfills the relationship; changes that were recorded while it was a fault are applied now.
  func fill(_ destinations: [NSManagedObject]) {
    committed = Set(destinations.map(\.primaryKey))
    var objects = Set(destinations)
    objects.formUnion(added)
    objects.subtract(removed)
    self.objects = objects
    guard isOrdered else { return }
    shownList = nil
    if isOutdated, let list {
      fill(destinations, over: list)
    } else {
      committedList = removed.isEmpty ? nil : destinations
      list =
        destinations.filter { !removed.contains($0) }
        + added.subtracting(destinations).sorted { $0.primaryKey < $1.primaryKey }
    }
    mirror?.noteList(list ?? [])
  }

  /// Merges the changes of an ordered relationship into the destinations that were read again: the
  /// list keeps its order if that's a change, and otherwise has the store's.
  private func fill(_ destinations: [NSManagedObject], over earlierList: [NSManagedObject]) {
    let wasUnchangedInEvent = !hasChangedInEvent
    isOutdated = false
    committedList = destinations
    let (present, stored) = (objects ?? [], destinations.filter { !removed.contains($0) })
    if isReordered {
      let known = Set(earlierList)
      list = earlierList.filter(present.contains) + stored.filter { !known.contains($0) }
    } else {
      let known = Set(stored)
      list = stored + earlierList.filter { added.contains($0) && !known.contains($0) }
    }
    if wasUnchangedInEvent { beginEvent() }
  }

  /// Adds a destination; to an ordered relationship at an index, or at the end.
  ///
  /// - Parameter isStored: Whether the store contains it, if that's known better than from
  ///   `committed`, which may be older than the other side.
  func insert(_ object: NSManagedObject, at index: Int? = nil, isStored: Bool? = nil) {
    let isNew = objects?.insert(object).inserted ?? true
    let wasRemoved = removed.remove(object) != nil
    // The store's state is known, or a removed object is assumed to be in it.
    let isStored = isStored ?? isCommitted(object) ?? wasRemoved
    if !isStored { added.insert(object) }
    guard isNew, let count = list?.count else { return }
    list?.insert(object, at: index ?? count)
    mirror?.noteInsertion(of: object, at: index ?? count)
    // An object that is added again may be at another index.
    if index.map({ $0 < count }) ?? false || !added.contains(object) { isReordered = true }
    noteRestoredOrder()
    shownList = nil
  }

  /// Removes a destination; see `insert` for `isStored`.
  func remove(_ object: NSManagedObject, isStored: Bool? = nil) {
    keepCommittedList()
    guard exclude(object, isStored: isStored) else { return }
    if let index = list?.firstIndex(of: object) {
      list?.remove(at: index)
      mirror?.noteRemoval(at: index)
      noteRestoredOrder()
      shownList = nil
    }
  }

  /// Removes destinations, with one pass over the list.
  func remove(all gone: Set<NSManagedObject>) {
    guard !gone.isEmpty else { return }
    keepCommittedList()
    for object in gone { _ = exclude(object) }
    guard let rest = list?.filter({ !gone.contains($0) }) else { return }
    list = rest
    mirror?.noteList(rest)
    noteRestoredOrder()
    shownList = nil
  }

  /// Removes a destination, but not from the list; returns `false` if it isn't present.
  private func exclude(_ object: NSManagedObject, isStored: Bool? = nil) -> Bool {
    if objects != nil, objects?.remove(object) == nil, isStored != true { return false }
    let wasAdded = added.remove(object) != nil
    // An added object may have been saved elsewhere in the meantime.
    if isStored ?? isCommitted(object) ?? !wasAdded {
      removed.insert(object)
    }
    return true
  }

  /// Undoes an addition; what the store contained in spite of it remains.
  func undoAddition(of object: NSManagedObject) {
    if added.contains(object), isCommitted(object) == true {
      added.remove(object)
    } else {
      remove(object)
    }
  }

  /// Undoes a removal, unless the store was found without the destination since.
  ///
  /// - Parameter index: The index in an ordered relationship; `nil` for the end.
  func undoRemoval(of object: NSManagedObject, at index: Int? = nil) {
    if removed.contains(object), isCommitted(object) == false {
      removed.remove(object)
    } else {
      insert(object, at: index)
      noteRestoredOrder()
    }
  }

  /// Returns the index in the list after the destinations that a removed one followed in the store;
  /// `nil` if it wasn't there, and for an unordered relationship.
  func committedIndex(of object: NSManagedObject) -> Int? {
    guard let list, let committedList, let former = committedList.firstIndex(of: object) else {
      return nil
    }
    let preceding = Set(committedList[..<former])
    return (list.lastIndex(where: preceding.contains) ?? -1) + 1
  }

  /// Reorders the present destinations.
  func order(as order: [NSManagedObject]) {
    guard let list, list != order else { return }
    keepCommittedList()
    self.list = order
    mirror?.noteList(order)
    isReordered = true
    noteRestoredOrder()
    shownList = nil
  }

  /// Restores an earlier order of the present destinations; others stay at the end.
  func restoreOrder(_ earlier: [NSManagedObject]) {
    guard let list else { return }
    let present = Set(list)
    let known = Set(earlier)
    order(as: earlier.filter(present.contains) + list.filter { !known.contains($0) })
    noteRestoredOrder()
  }

  /// Forgets that the order has changed, if the list is again the one of the last save or fetch.
  private func noteRestoredOrder() {
    guard isReordered, let list, let committedList, list.count == committedList.count else {
      return
    }
    // References are compared: objects are equal only if they're identical.
    if zip(list, committedList).allSatisfy({ $0 === $1 }) { isReordered = false }
  }

  /// Turns the relationship into a fault; added and removed objects stay recorded.
  ///
  /// An ordered one with changes stays fulfilled, because its order is one of them, and is read
  /// again when it's next needed.
  func turnIntoFault() {
    isOutdated = isOrdered && hasChanges && objects != nil
    if isOutdated { return }
    objects = nil
    list = nil
    shownList = nil
    committed = nil
    committedList = nil
  }

  /// Marks the relationship as equal to the store.
  func markSaved() {
    added = []
    removed = []
    isReordered = false
    committedList = nil
    earlier = Difference()
    if isOutdated { return turnIntoFault() }
    if let objects { committed = Set(objects.map(\.primaryKey)) }
  }

  // MARK: Events

  private var difference: Difference {
    Difference(added: added, removed: removed, list: hasChanges ? list : nil)
  }

  /// Records the changes so far, because an event begins.
  func beginEvent() {
    earlier = difference
  }

  /// Whether it has changed since the event began.
  var hasChangedInEvent: Bool {
    difference != earlier
  }

  /// The destinations when the event began; `nil` until fired.
  var earlierObjects: Set<NSManagedObject>? {
    guard let objects else { return nil }
    return objects.subtracting(added).union(removed)
      .union(earlier.added).subtracting(earlier.removed)
  }

  /// The destinations at the last save or fetch; `nil` until fired.
  ///
  /// An added destination may have been saved elsewhere in the meantime, and a removed one removed
  /// there.
  var committedObjects: Set<NSManagedObject>? {
    objects.map { objects in
      objects.subtracting(added.filter { isCommitted($0) != true })
        .union(removed.filter { isCommitted($0) != false })
    }
  }

  /// The order when the event began; `nil` until fired, and for an unordered relationship.
  var earlierList: NSOrderedSet? {
    guard list != nil else { return nil }
    return NSOrderedSet(array: earlier.list ?? committedOrder)
  }

  /// The destinations at the last save or fetch in order; `nil` until fired, and for an unordered
  /// relationship.
  var committedOrderedSet: NSOrderedSet? {
    guard list != nil, let objects = committedObjects else { return nil }
    let order = committedOrder
    let others = objects.subtracting(order).sorted { $0.primaryKey < $1.primaryKey }
    return NSOrderedSet(array: order.filter(objects.contains) + others)
  }

  private var committedOrder: [NSManagedObject] {
    if let committedList { return committedList }
    return added.isEmpty ? list ?? [] : (list ?? []).filter { !added.contains($0) }
  }

  /// Keeps a copy of the committed list before a change after which it can't be derived from the
  /// current one.
  private func keepCommittedList() {
    if isOrdered, committedList == nil, list != nil { committedList = committedOrder }
  }
}
