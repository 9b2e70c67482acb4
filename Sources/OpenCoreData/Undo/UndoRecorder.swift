import ManagedModel

/// Records the values that changes since the last `processPendingChanges` have replaced.
///
/// A context with an undo manager has one.
final class UndoRecorder {
  private var snapshots: [ObjectIdentifier: ObjectSnapshot] = [:]
  private var order: [ObjectSnapshot] = []
  private var inserted: [NSManagedObject] = []
  /// The values of external data files that saves have removed since the stack was emptied.
  private(set) var externalValues: [ExternalFile: Data] = [:]
  /// The objects that undo has made new because their rows were deleted, by the keys of those rows,
  /// to which recorded rows refer.
  private var reinserted: [RowKey: NSManagedObject] = [:]
  /// The groups of deletions whose delete rules a save applies, by the deleted objects.
  private var deletions: [ObjectIdentifier: WeakUnit] = [:]
  /// Whether changes are being undone, so that nothing is recorded.
  var isPaused = false

  /// Whether there are changes to register, and no registration is in progress.
  var isRecording: Bool { !isPaused && (!order.isEmpty || !inserted.isEmpty) }

  /// Records an object's state before its first change.
  func remember(_ object: NSManagedObject) {
    guard !isPaused, snapshots[ObjectIdentifier(object)] == nil else { return }
    let snapshot = ObjectSnapshot(object)
    snapshots[ObjectIdentifier(object)] = snapshot
    order.append(snapshot)
  }

  /// Records a new object.
  func noteInsertion(of object: NSManagedObject) {
    if !isPaused { inserted.append(object) }
  }

  /// Returns the changes since the last call; `nil` if there are none.
  func take() -> UndoUnit? {
    guard !order.isEmpty || !inserted.isEmpty else { return nil }
    defer { clear() }
    let new = Set(inserted)
    var unit = UndoUnit()
    unit.appeared = inserted.filter(\.isInserted)
    for snapshot in order where !new.contains(snapshot.object) {
      let object = snapshot.object
      let isGone = object.managedObjectContext == nil || object.state.contains(.deleted)
      if isGone, !snapshot.membership.contains(.deleted) { unit.vanished.append(object) }
      let now = ObjectSnapshot(object)
      if !isGone, snapshot.membership.isDisjoint(with: .deleted) { snapshot.limit(to: now) }
      let relationships = snapshot.relationshipChanges(until: now)
      // A refresh has discarded the change.
      if !isGone, relationships.isEmpty, snapshot.hasState(of: now) { continue }
      unit.snapshots.append(snapshot)
      unit.relationships += relationships
    }
    unit.mutual = RelationshipChange.all(among: unit.vanished, except: unit.relationships)
    return unit.isEmpty ? nil : unit
  }

  /// Returns the changes that `body` makes, recorded apart from others; `nil` if there are none.
  func recording(_ body: () -> Void) -> UndoUnit? {
    let outer = (snapshots, order, inserted, isPaused)
    clear()
    isPaused = false
    defer { (snapshots, order, inserted, isPaused) = outer }
    body()
    return take()
  }

  /// Records the group of deletions whose delete rules haven't been applied.
  func noteDeletions(in registered: RegisteredUnit) {
    for object in registered.unit.vanished {
      deletions[ObjectIdentifier(object)] = WeakUnit(registered: registered)
    }
  }

  /// Returns the group of a deletion; `nil` if it can't be undone.
  func deletion(of object: NSManagedObject) -> RegisteredUnit? {
    deletions[ObjectIdentifier(object)]?.registered
  }

  /// Discards the groups of deletions, whose delete rules have been applied.
  func forgetDeletions() {
    deletions = [:]
  }

  /// Keeps the value of an external data file that a save removes, so that undo can restore it.
  func keep(_ value: Data, of file: ExternalFile) {
    externalValues[file] = value
  }

  /// Records an object that becomes new, before its key changes.
  func noteReinsertion(of object: NSManagedObject) {
    reinserted[RowKey(object.identity)] = object
  }

  /// Returns the new object with which undo replaced a deleted row; `nil` if there's none.
  func object(inPlaceOf key: RowKey) -> NSManagedObject? {
    reinserted[key]
  }

  /// Discards the recorded changes, and what earlier ones need to be undone.
  func forget() {
    clear()
    externalValues = [:]
    reinserted = [:]
    deletions = [:]
  }

  private func clear() {
    snapshots = [:]
    order = []
    inserted = []
  }

  /// A weak reference to a group: it may be removed from the stack.
  private struct WeakUnit {
    weak var registered: RegisteredUnit?
  }
}

/// The state of an object before a change, so that it can be restored.
///
/// Retains the object, its row at that time, and the values it stored in addition.
final class ObjectSnapshot {
  let object: NSManagedObject
  /// Whether the object was inserted, updated, or deleted.
  let membership: ObjectState
  /// Retained once by this snapshot.
  private var row: Row
  private let wasFault: Bool
  /// Changed slots and transients, by position; other slots are those of `row`.
  let changedValues: [Int: ObjectValue]
  /// The changes of each to-many since the last save, by position.
  private let toMany: [Int: UnsavedDestinations]
  /// The attributes and to-ones to restore: others may have changed since without a record; `nil`
  /// for all.
  var slots: Set<Int>?

  init(_ object: NSManagedObject, of slots: Set<Int>? = nil) {
    self.object = object
    self.slots = slots
    membership = object.state.intersection(.changed)
    wasFault = object.isFault
    let layout = object.layout
    row = wasFault ? layout.faultRow : object.row
    row.retain()
    var changedValues: [Int: ObjectValue] = [:]
    var toMany: [Int: UnsavedDestinations] = [:]
    if let values = object.values {
      for index in 0..<layout.positionCount {
        if case .toMany(let value) = values[index] {
          toMany[index] = UnsavedDestinations(of: value)
        } else if index >= layout.firstTransient || values.isChanged(index) {
          changedValues[index] = values[index]
        }
      }
    }
    self.changedValues = changedValues
    self.toMany = toMany
  }

  deinit {
    row.release()
  }

  /// Its unsaved to-many destinations, as changes whose undo restores them.
  var links: [RelationshipChange] {
    toMany.sorted { $0.key < $1.key }.map { index, then in
      RelationshipChange(
        object: object, position: index, before: then, gained: then.removed, lost: then.added)
    }
  }

  /// Restricts what is restored to the attributes and to-ones that differ from a later snapshot.
  func limit(to later: ObjectSnapshot) {
    slots = Set(object.layout.slots.filter { differs($0, from: later) }.map(\.index))
  }

  /// Returns whether the object is as little changed in a later snapshot, to which this one is
  /// limited, as in this one: restoring this one has no effect.
  func hasState(of later: ObjectSnapshot) -> Bool {
    guard slots?.isEmpty == true, membership == later.membership else { return false }
    let layout = object.layout
    return (layout.firstTransient..<layout.positionCount).allSatisfy { index in
      isNone(changedValues[index]) && isNone(later.changedValues[index])
    }
  }

  private func isNone(_ value: ObjectValue?) -> Bool {
    guard let value else { return true }
    if case .none = value { return true }
    return false
  }

  /// Also restores what a later snapshot of the object does, to the values of this one.
  func extend(by later: ObjectSnapshot) {
    slots = slots.flatMap { own in later.slots.map { own.union($0) } }
  }

  private func differs(_ slot: RowSlot, from later: ObjectSnapshot) -> Bool {
    switch (changedValues[slot.index], later.changedValues[slot.index]) {
    // If the rows differ, it was changed elsewhere.
    case (nil, nil): false
    case (.raw(let one)?, .raw(let other)?): one != other
    case (.object(let one)?, .object(let other)?): one !== other
    case (.null?, .null?): false
    default: true
    }
  }

  /// Returns each to-many's changes between this snapshot and a later one.
  func relationshipChanges(until later: ObjectSnapshot) -> [RelationshipChange] {
    // An object that left its context no longer has any.
    Set(toMany.keys).union(later.toMany.keys).sorted().compactMap { index in
      var then = toMany[index] ?? UnsavedDestinations()
      let now = later.toMany[index] ?? UnsavedDestinations()
      if then.list == nil { then.list = committedList(at: index) }
      let gained = now.added.subtracting(then.added).union(then.removed.subtracting(now.removed))
      let lost = now.removed.subtracting(then.removed).union(then.added.subtracting(now.added))
      let isReordered = then.list != nil && now.list != nil && then.list != now.list
      guard !gained.isEmpty || !lost.isEmpty || isReordered else { return nil }
      return RelationshipChange(
        object: object, position: index, before: then, gained: gained, lost: lost)
    }
  }

  /// Returns the order in the store of an ordered relationship that was a fault before the change,
  /// for which it was read; `nil` if it's a fault, and for an unordered relationship.
  private func committedList(at index: Int) -> [NSManagedObject]? {
    guard case .toMany(let value)? = object.values?[index] else { return nil }
    return value.committedOrderedSet?.array.compactMap { $0 as? NSManagedObject }
  }

  /// Restores the object's attributes and to-ones; those equal to its current row aren't changes.
  ///
  /// An object whose row no longer exists keeps its values: there's nothing to save.
  func restore() {
    object.willAccess()
    guard !object.state.contains(.inaccessible) else { return }
    adoptRow()
    let layout = object.layout
    for slot in layout.slots where slots?.contains(slot.index) ?? true {
      if let value = changedValues[slot.index] {
        object.change(value, at: slot.index)
      } else {
        restoreFromRow(slot)
      }
    }
    for index in layout.firstTransient..<layout.positionCount {
      object.keep(changedValues[index] ?? .none, at: index)
    }
  }

  /// Adopts the row of a deleted fault that has been read since.
  private func adoptRow() {
    guard wasFault, row.base == object.layout.faultRow.base, !object.isFault else { return }
    row.release()
    row = object.row
    row.retain()
  }

  /// Returns the new object with which undo replaced the deleted row of a destination.
  private func reinserted(
    _ key: Int64, of relationship: NSRelationshipDescription
  ) -> NSManagedObject? {
    guard let context = object.context, let destination = relationship.destinationEntity else {
      return nil
    }
    let root = EntityLayout.of(destination).rootIndex &+ object.layout.rootOffset
    let found = context.undoState.recorder?.object(
      inPlaceOf: RowKey(rootIndex: root, primaryKey: key))
    return found?.context === context ? found : nil
  }

  private func restoreFromRow(_ slot: RowSlot) {
    if let file = object.externalFile(slot, in: row) {
      guard !object.isInserted, row.rawValue(slot) == object.row.rawValue(slot) else {
        return object.restoreExternalValue(slot, in: row, file: file)
      }
      object.values?.forget(slot.index)
      return
    }
    let then = row.rawValue(slot)
    if case .toOne(let key, _) = then, let destination = reinserted(key, of: slot.relationship) {
      return object.change(.object(destination), at: slot.index)
    }
    if row.base == object.row.base {
      object.values?.forget(slot.index)
      return
    }
    if slot.kind.isToOne {
      var destination: NSManagedObject?
      if case .toOne(let key, let number) = then {
        destination = object.context?.object(
          primaryKey: key, of: slot.relationship, entityNumber: number, owner: object.layout)
      }
      object.change(destination.map { .object($0) } ?? .null, at: slot.index)
    } else {
      object.change(.raw(then), at: slot.index)
    }
  }
}

/// The objects added to and removed from one to-many of one object since the last save, and its
/// order.
struct UnsavedDestinations {
  var added: Set<NSManagedObject> = []
  var removed: Set<NSManagedObject> = []
  /// The destinations in order; `nil` until fired, and for an unordered relationship.
  var list: [NSManagedObject]?

  init() {}

  init(of value: ToManyValue) {
    (added, removed, list) = (value.added, value.removed, value.list)
  }
}

/// A change of one to-many of one object, which can be undone.
struct RelationshipChange {
  let object: NSManagedObject
  let position: Int
  /// The unsaved destinations before the change.
  let before: UnsavedDestinations
  let gained: Set<NSManagedObject>
  let lost: Set<NSManagedObject>

  /// The relationship that has changed.
  var relationship: NSRelationshipDescription {
    object.layout.toMany[position - object.layout.slots.count]
  }

  /// Returns the many-to-many relationships between objects that are deleted together, and the
  /// order of ordered ones, as changes whose undo restores them, without what `changes` have added.
  ///
  /// Delete propagation doesn't change them, because both ends are deleted.
  static func all(
    among objects: [NSManagedObject], except changes: [RelationshipChange] = []
  ) -> [RelationshipChange] {
    let deleted = Set(objects)
    return objects.flatMap { object in
      object.layout.toMany.enumerated().compactMap { index, relationship in
        let position = object.layout.valueIndex(.toMany(index))
        guard case .toMany(let value)? = object.values?[position],
          relationship.inverseRelationship.map({ $0.isToMany || relationship.isOrdered }) == true,
          var lost = value.objects?.intersection(deleted), !lost.isEmpty || relationship.isOrdered
        else { return nil }
        var before = UnsavedDestinations()
        before.list = value.list
        for change in changes where change.object === object && change.position == position {
          lost.subtract(change.gained)
          before.list = change.before.list ?? before.list
        }
        return RelationshipChange(
          object: object, position: position, before: before, gained: [], lost: lost)
      }
    }
  }

  /// The change that undoing this one makes, by which it's redone.
  var opposite: RelationshipChange {
    RelationshipChange(
      object: object, position: position, before: UnsavedDestinations(of: value), gained: lost,
      lost: gained)
  }

  /// The state of the relationship; an ordered one is read first, because a position has no meaning
  /// without the others.
  private var value: ToManyValue {
    if relationship.isOrdered {
      object.willAccess()
      _ = object.destinations(relationship, at: position)
    }
    return object.toManyValue(at: position)
  }

  /// Undoes the change; inverses have changes of their own.
  ///
  /// What was added or removed before the change is again, although the store, as this side read
  /// it, may differ: the other side may have read it at another time. The store contains no
  /// destinations of a new object, so none is recorded as removed.
  func undo() {
    let value = self.value
    for other in gained {
      if before.removed.contains(other), !object.isInserted {
        value.remove(other, isStored: true)
      } else {
        value.undoAddition(of: other)
      }
    }
    for other in lost {
      if before.added.contains(other) {
        value.insert(other, isStored: false)
      } else {
        value.undoRemoval(of: other)
      }
    }
    if let list = before.list { value.restoreOrder(list) }
  }
}
