import ManagedModel

/// What the changes since the last `processPendingChanges` have replaced.
///
/// A context has one while it has an undo manager.
final class UndoRecorder {
  private var snapshots: [ObjectIdentifier: ObjectSnapshot] = [:]
  private var order: [ObjectSnapshot] = []
  private var inserted: [NSManagedObject] = []
  /// While changes are taken back nothing is recorded.
  var isPaused = false

  /// Whether there is something to register, and nobody who is about to.
  var isRecording: Bool { !isPaused && (!order.isEmpty || !inserted.isEmpty) }

  /// Keeps an object as it is, before its first change.
  func remember(_ object: NSManagedObject) {
    guard !isPaused, snapshots[ObjectIdentifier(object)] == nil else { return }
    let snapshot = ObjectSnapshot(object)
    snapshots[ObjectIdentifier(object)] = snapshot
    order.append(snapshot)
  }

  /// Notes a new object.
  func noteInsertion(of object: NSManagedObject) {
    if !isPaused { inserted.append(object) }
  }

  /// What has changed since the last time; nil when that is nothing.
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
      unit.snapshots.append(snapshot)
      unit.relationships += snapshot.relationshipChanges(until: ObjectSnapshot(object))
    }
    return unit.isEmpty ? nil : unit
  }

  /// Forgets what has changed.
  func clear() {
    snapshots = [:]
    order = []
    inserted = []
  }
}

/// What an object was before a change, so that it can be that again.
///
/// Holds the object, its row of then and what it held beside it.
final class ObjectSnapshot {
  let object: NSManagedObject
  /// Inserted, updated, deleted: what the object was.
  let membership: ObjectState
  /// Counted once by this snapshot.
  private var row: Row
  private let wasFault: Bool
  /// Changed slots and transients, by place; other slots are those of `row`.
  private let held: [Int: HeldValue]
  /// What a to-many had gained and lost since the last save, by place.
  private let toMany: [Int: ToManyChange]

  private struct ToManyChange {
    var added: Set<NSManagedObject> = []
    var removed: Set<NSManagedObject> = []
  }

  init(_ object: NSManagedObject) {
    self.object = object
    membership = object.state.intersection(.changed)
    wasFault = object.isFault
    let layout = object.layout
    row = wasFault ? layout.faultRow : object.row
    row.retain()
    var held: [Int: HeldValue] = [:]
    var toMany: [Int: ToManyChange] = [:]
    if let values = object.values {
      for index in 0..<layout.placeCount {
        if case .toMany(let value) = values[index] {
          toMany[index] = ToManyChange(added: value.added, removed: value.removed)
        } else if index >= layout.firstTransient || values.isChanged(index) {
          held[index] = values[index]
        }
      }
    }
    self.held = held
    self.toMany = toMany
  }

  deinit {
    row.release()
  }

  /// Its pending to-many destinations, as changes whose undo brings them back.
  var links: [RelationshipChange] {
    toMany.sorted { $0.key < $1.key }.map { index, then in
      RelationshipChange(object: object, place: index, gained: then.removed, lost: then.added)
    }
  }

  /// What each to-many has gained and lost between this snapshot and a later one.
  func relationshipChanges(until later: ObjectSnapshot) -> [RelationshipChange] {
    // An object that left its context has none of them any more.
    Set(toMany.keys).union(later.toMany.keys).sorted().compactMap { index in
      let (then, now) = (toMany[index] ?? ToManyChange(), later.toMany[index] ?? ToManyChange())
      let gained = now.added.subtracting(then.added).union(then.removed.subtracting(now.removed))
      let lost = now.removed.subtracting(then.removed).union(then.added.subtracting(now.added))
      guard !gained.isEmpty || !lost.isEmpty else { return nil }
      return RelationshipChange(object: object, place: index, gained: gained, lost: lost)
    }
  }

  /// Gives the object the attributes and to-ones it had; those of its row of today are no changes.
  func restore() {
    object.willAccess()
    adoptRow()
    let layout = object.layout
    for slot in layout.slots {
      if let value = held[slot.index] {
        object.change(value, at: slot.index)
      } else {
        restoreFromRow(slot)
      }
    }
    for index in layout.firstTransient..<layout.placeCount {
      object.keep(held[index] ?? .none, at: index)
    }
  }

  /// A fault that was deleted has been read since: its row is the one it had.
  private func adoptRow() {
    guard wasFault, row.base == object.layout.faultRow.base, !object.isFault else { return }
    row.release()
    row = object.row
    row.retain()
  }

  private func restoreFromRow(_ slot: RowSlot) {
    if row.base == object.row.base {
      object.values?.forget(slot.index)
      return
    }
    let then = row.rawValue(slot)
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

/// What one to-many of one object has gained and lost.
struct RelationshipChange {
  let object: NSManagedObject
  let place: Int
  let gained: Set<NSManagedObject>
  let lost: Set<NSManagedObject>

  /// Takes the change back; the other sides have changes of their own.
  func undo() {
    let value = object.toManyValue(at: place)
    for other in gained { value.remove(other) }
    for other in lost { value.takeBackRemoval(of: other) }
  }
}
