import ManagedModel

extension NSManagedObjectContext {
  /// What takes this context's changes back; nil, as by default, keeps nothing.
  ///
  /// Each `processPendingChanges` with changes is one group; outside of `perform`, on the main thread,
  /// all changes until the main queue turns are one. The manager holds every object that has
  /// been changed since it was set, saved or not. Setting another, or nil, forgets them.
  public final var undoManager: UndoManager? {
    get { undoState.manager }
    set {
      guard newValue !== undoState.manager else { return }
      processPendingChanges()
      forgetUndo()
      undoState = UndoState(of: self, with: newValue)
    }
  }

  /// Takes the last group of changes back.
  ///
  /// Processes pending changes first, and afterwards, so that did-change tells what came back. Values
  /// are set past their setters; `awake(fromSnapshotEvents:)` is called. A save in between is no
  /// hindrance: the next one writes what was taken back. Without an undo manager it does nothing.
  /// Cost: a fault for each changed object that has become one.
  public final func undo() {
    processPendingChanges()
    undoManager?.undo()
    processPendingChanges()
  }

  /// Makes the changes again that the last `undo` took back.
  public final func redo() {
    processPendingChanges()
    undoManager?.redo()
    processPendingChanges()
  }

  /// Registers what has changed since the last time as one group.
  final func registerUndo() {
    guard let recorder = undoState.recorder, let manager = undoManager, let unit = recorder.take(),
      manager.isUndoRegistrationEnabled
    else { return }
    recorder.isPaused = true
    defer { recorder.isPaused = false }
    if !blocks.isRunning, concurrencyType == .mainQueueConcurrencyType, manager.groupsByEvent,
      MainQueue.isCurrent
    {
      // The group is open until the main queue turns.
      return manager.registerUndo(withTarget: self) { $0.takeBack(unit) }
    }
    manager.beginUndoGrouping()
    manager.registerUndo(withTarget: self) { $0.takeBack(unit) }
    manager.endUndoGrouping()
    manager.endEventGroup()
  }

  /// Empties the undo stack of this context's changes.
  final func forgetUndo() {
    undoState.recorder?.clear()
    undoManager?.removeAllActions(withTarget: self)
  }

  /// Makes the objects of a unit what they were, and registers the way back.
  private func takeBack(_ unit: UndoUnit) {
    undoState.recorder?.isPaused = true
    defer { undoState.recorder?.isPaused = false }
    var opposite = UndoUnit()
    for snapshot in unit.snapshots { opposite.snapshots.append(ObjectSnapshot(snapshot.object)) }
    opposite.snapshots += unit.appeared.map { ObjectSnapshot($0) }
    opposite.appeared = unit.vanished
    opposite.vanished = unit.appeared
    opposite.relationships = unit.relationships.map {
      RelationshipChange(object: $0.object, place: $0.place, gained: $0.lost, lost: $0.gained)
    }
    for object in unit.appeared {
      // It lets go of its related objects, and gets them back with this.
      opposite.relationships += ObjectSnapshot(object).links
    }
    for object in unit.vanished { bringBack(object) }
    for snapshot in unit.snapshots { snapshot.restore() }
    for change in unit.relationships { change.undo() }
    for object in unit.appeared { takeAway(object) }
    let moved = Set(unit.vanished)
    for snapshot in unit.snapshots {
      settleMembership(snapshot)
      let isBack = moved.contains(snapshot.object)
      snapshot.object.awake(fromSnapshotEvents: isBack ? .undoDeletion : .undoUpdate)
    }
    for object in unit.appeared { object.awake(fromSnapshotEvents: .undoInsertion) }
    changes.mark()
    undoManager?.registerUndo(withTarget: self) { $0.takeBack(opposite) }
  }

  /// Takes a new object out, or deletes it when it was saved meanwhile.
  private func takeAway(_ object: NSManagedObject) {
    guard object.context === self else { return }
    if changes.eventInserted.contains(object) {
      changes.eventInserted.remove(object)
    } else {
      changes.eventDeleted.insert(object)
    }
    guard object.isInserted else { return _ = changes.deleted.insert(object) }
    changes.inserted.remove(object)
    if object.primaryKey > 0 {
      store(for: object)?.disown(
        rootIndex: object.layout.rootIndex, keys: CollectionOfOne(object.primaryKey))
      object.primaryKey = TemporaryKeys.next()
    }
    leave(object)
    // A list would come back in another order.
    if !object.layout.hasLists { object.dropRelated() }
  }

  /// Undeletes an object; one whose row is gone, or never was, is new.
  private func bringBack(_ object: NSManagedObject) {
    if changes.eventDeleted.contains(object) {
      changes.eventDeleted.remove(object)
    } else if object.context === self {
      changes.eventInserted.insert(object)
    }
    guard object.context !== self else { return changes.deleted.remove(object) }
    object.context = self
    object.state.remove(.inaccessible)
    if object.primaryKey > 0 { object.primaryKey = TemporaryKeys.next() }
    registry.add(object)
    noteInsertion(of: object)
  }

  /// Makes an object updated, or clean again when it is what the store has.
  private func settleMembership(_ snapshot: ObjectSnapshot) {
    let object = snapshot.object
    guard object.context === self else { return }
    changes.eventUpdated.insert(object)
    guard !object.isInserted else { return }
    let staysUpdated = snapshot.membership.contains(.updated) && object.isUpdated
    // What differs is told of changed objects alone.
    changes.updated.insert(object)
    if !staysUpdated, !object.hasPersistentChangedValues { changes.updated.remove(object) }
  }
}

/// The undo manager of a context, which is told when it has to register what it has.
final class UndoRegistration {
  let manager: UndoManager
  private let token: any NSObjectProtocol

  init(of context: NSManagedObjectContext, with manager: UndoManager) {
    self.manager = manager
    token = NotificationCenter.default.addObserver(
      forName: .NSUndoManagerCheckpoint, object: manager, queue: nil
    ) { [weak context] _ in
      // A manager is used on its context's queue.
      guard let context, context.undoState.recorder?.isRecording == true else { return }
      context.processPendingChanges()
    }
  }

  deinit {
    NotificationCenter.default.removeObserver(token)
  }
}

/// A context's undo manager, and what has changed since the last `processPendingChanges` while there is
/// one.
struct UndoState {
  private let registration: UndoRegistration?
  let recorder: UndoRecorder?

  /// No undo manager: nothing is recorded.
  init() {
    registration = nil
    recorder = nil
  }

  init(of context: NSManagedObjectContext, with manager: UndoManager?) {
    registration = manager.map { UndoRegistration(of: context, with: $0) }
    recorder = manager.map { _ in UndoRecorder() }
  }

  var manager: UndoManager? { registration?.manager }
}
