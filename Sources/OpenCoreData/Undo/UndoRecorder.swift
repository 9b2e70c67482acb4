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
