import ManagedModel

extension NSManagedObjectContext {
  /// The undo manager of this context's changes; `nil`, the default, records nothing.
  ///
  /// Each `processPendingChanges` with changes is one group; outside of `perform`, on the main
  /// thread, all changes until the next turn of the main queue are one group. The manager retains
  /// every object that was changed since it was set, saved or not. Setting another manager, or
  /// `nil`, discards the recorded changes.
  public final var undoManager: UndoManager? {
    get { undoState.manager }
    set {
      guard newValue !== undoState.manager else { return }
      processPendingChanges()
      forgetUndo()
      undoState = UndoState(of: self, with: newValue)
    }
  }

  /// Undoes the last group of changes.
  ///
  /// Processes pending changes first, and again afterward, so that did-change reports the restored
  /// values. Values are set without calling setters; `awake(fromSnapshotEvents:)` is called.
  /// Changes can be undone after a save: the next save writes the restored values. An object whose
  /// insertion was saved is deleted, and its delete rules are applied. Does nothing without an undo
  /// manager. **Cost:** a fault for each changed object, and for each changed ordered relationship,
  /// that has turned into one, and for the relationships of an object that's deleted.
  public final func undo() {
    processPendingChanges()
    undoManager?.undo()
    processPendingChanges()
  }

  /// Redoes the changes that the last `undo` undid.
  public final func redo() {
    processPendingChanges()
    undoManager?.redo()
    processPendingChanges()
  }

  /// Registers the changes since the last call as one group.
  final func registerUndo() {
    guard let recorder = undoState.recorder, let manager = undoManager, let unit = recorder.take(),
      manager.isUndoRegistrationEnabled
    else { return }
    recorder.isPaused = true
    defer { recorder.isPaused = false }
    let registered = RegisteredUnit(unit)
    if !changes.unpropagated.isEmpty { recorder.noteDeletions(in: registered) }
    if !blocks.isRunning, concurrencyType == .mainQueueConcurrencyType, manager.groupsByEvent,
      MainQueue.isCurrent
    {
      // The group is open until the main queue's next turn.
      return manager.registerUndo(withTarget: self) { $0.restore(registered.unit) }
    }
    manager.beginUndoGrouping()
    manager.registerUndo(withTarget: self) { $0.restore(registered.unit) }
    manager.endUndoGrouping()
    manager.endEventGroup()
  }

  /// Applies the delete rules of deleted objects in a save: what they change is undone together
  /// with the deletions, if these were registered before.
  final func propagateDeletionsInSave() {
    guard let recorder = undoState.recorder, !changes.unpropagated.isEmpty else {
      return propagateDeletions()
    }
    registerUndo()
    let deleted = changes.unpropagated
    changes.unpropagated = []
    for object in deleted {
      let unreadable = changes.unpropagated
      changes.unpropagated = [object]
      let unit = recorder.recording { propagateDeletions() }
      changes.unpropagated += unreadable
      if let unit { recorder.deletion(of: object)?.unit.append(unit) }
    }
    if changes.unpropagated.isEmpty { recorder.forgetDeletions() }
  }

  /// Empties the undo stack of this context's changes.
  final func forgetUndo() {
    undoState.recorder?.forget()
    undoManager?.removeAllActions(withTarget: self)
  }

  /// Restores the objects of a unit, and registers the opposite changes.
  private func restore(_ unit: UndoUnit) {
    undoState.recorder?.isPaused = true
    defer { undoState.recorder?.isPaused = false }
    var opposite = UndoUnit()
    let appeared = Set(unit.appeared)
    for snapshot in unit.snapshots {
      // A fault's values can't be restored after a save.
      if snapshot.object.context === self { snapshot.object.willAccess() }
      // An object that leaves the context is restored as a whole.
      guard !appeared.contains(snapshot.object) else { continue }
      opposite.snapshots.append(ObjectSnapshot(snapshot.object, of: snapshot.slots))
    }
    opposite.snapshots += unit.appeared.map { ObjectSnapshot($0) }
    opposite.appeared = unit.vanished
    opposite.vanished = unit.appeared
    opposite.relationships = unit.relationships.reversed().map(\.opposite)
    // The objects release their related objects, and get them back with this.
    opposite.addLinks(of: unit.appeared)
    opposite.mutual = RelationshipChange.all(among: unit.appeared)
    for object in unit.snapshots.map(\.object)
    where object.state.isDisjoint(with: [.eventInserted, .eventUpdated]) {
      // The values before the undo are the baseline for the changes that did-change reports.
      object.values?.beginEvent()
    }
    let reinserted = Set(unit.vanished.filter(undelete))
    let moved = Set(unit.vanished)
    for snapshot in unit.snapshots {
      // The row of an object whose deletion wasn't saved exists.
      if moved.contains(snapshot.object), !snapshot.object.isInserted { snapshot.limitToChanges() }
      snapshot.restore()
    }
    for change in unit.relationships { change.undo() }
    if !reinserted.isEmpty { relink(reinserted, in: unit) }
    let deleted = unit.appeared.filter(removeOrDelete)
    for snapshot in unit.snapshots {
      updateState(from: snapshot)
      guard !appeared.contains(snapshot.object) else { continue }
      let isBack = moved.contains(snapshot.object)
      snapshot.object.awake(fromSnapshotEvents: isBack ? .undoDeletion : .undoUpdate)
    }
    for object in unit.appeared { object.awake(fromSnapshotEvents: .undoInsertion) }
    if !deleted.isEmpty, let propagated = propagation(of: deleted) { opposite.append(propagated) }
    changes.mark()
    undoManager?.registerUndo(withTarget: self) { $0.restore(opposite) }
  }

  /// Removes a new object, or deletes it if it was saved in the meantime.
  ///
  /// - Returns: Whether it's deleted, and its delete rules must be applied.
  private func removeOrDelete(_ object: NSManagedObject) -> Bool {
    guard object.context === self else { return false }
    if changes.eventInserted.contains(object) {
      changes.eventInserted.remove(object)
    } else {
      changes.eventDeleted.insert(object)
    }
    guard object.isInserted else {
      changes.deleted.insert(object)
      return !object.state.contains(.inaccessible)
    }
    changes.inserted.remove(object)
    if object.primaryKey > 0 {
      store(for: object)?.removeOwner(
        rootIndex: object.layout.rootIndex, keys: CollectionOfOne(object.primaryKey))
      object.primaryKey = TemporaryKeys.next()
    }
    leave(object)
    // A list would be restored in another order.
    if !object.layout.hasLists { object.dropRelated() }
    return false
  }

  /// Applies the delete rules of objects that an undo deletes: others may refer to them since.
  ///
  /// - Returns: What this has changed; `nil` if that's nothing.
  private func propagation(of deleted: [NSManagedObject]) -> UndoUnit? {
    undoState.recorder?.recording {
      let others = changes.unpropagated
      changes.unpropagated = []
      for object in deleted { propagateUndo(of: object) }
      propagateDeletions()
      changes.unpropagated += others
    }
  }

  /// Applies the delete rules of one object that an undo deletes to the objects that still refer to
  /// it; if something can't be read, it's left for the save.
  ///
  /// Others that it refers to itself stay: it may have got them with its insertion.
  private func propagateUndo(of object: NSManagedObject) {
    object.willAccess()
    let earlierError = faultFailures.last
    faultFailures.last = nil
    for relationship in object.layout.relationships {
      let related = object.relatedObjects(relationship).filter {
        !$0.isDeleted && $0.context === self
      }
      switch (relationship.deleteRule, relationship.inverseRelationship) {
      case (.cascadeDeleteRule, let inverse?):
        for other in related where object.isReferred(by: other, relationship, inverse) {
          markForDeletion(other)
        }
      case (.nullifyDeleteRule, let inverse?):
        for other in related where object.isReferred(by: other, relationship, inverse) {
          rememberForUndo(other)
          other.dropDestination(object, of: inverse)
        }
      default:
        break
      }
    }
    if object.isFault || faultFailures.last != nil {
      changes.unpropagated.append(object)
    } else {
      faultFailures.last = earlierError
    }
  }

  /// Records an object's state before a delete rule changes it: an undo may have changed it in the
  /// same event, which isn't recorded.
  final func rememberForUndo(_ object: NSManagedObject) {
    guard let recorder = undoState.recorder, object.context === self else { return }
    object.willAccess()
    recorder.remember(object)
  }

  /// Restores the to-many relationships of objects whose rows were deleted: from the other ends,
  /// which are restored, and those between such objects.
  private func relink(_ objects: Set<NSManagedObject>, in unit: UndoUnit) {
    for object in unit.snapshots.map(\.object) where object.context === self {
      for slot in object.layout.slots where slot.kind.isToOne {
        guard let owner = object.destination(slot), objects.contains(owner) else { continue }
        owner.link(object, asInverseOf: slot.relationship)
      }
    }
    for change in unit.relationships {
      for other in change.lost where objects.contains(other) {
        other.link(change.object, asInverseOf: change.relationship)
      }
    }
    for change in unit.mutual where objects.contains(change.object) {
      change.undo()
      for other in change.lost where objects.contains(other) {
        other.link(change.object, asInverseOf: change.relationship)
      }
    }
  }

  /// Undeletes an object; one whose row doesn't exist becomes new.
  ///
  /// - Returns: Whether its row was deleted by a save.
  private func undelete(_ object: NSManagedObject) -> Bool {
    if changes.eventDeleted.contains(object) {
      changes.eventDeleted.remove(object)
    } else if object.context === self {
      changes.eventInserted.insert(object)
    }
    guard object.context !== self else {
      changes.deleted.remove(object)
      return false
    }
    object.context = self
    object.state.remove(.inaccessible)
    let hadRow = object.primaryKey > 0
    if hadRow {
      undoState.recorder?.noteReinsertion(of: object)
      object.primaryKey = TemporaryKeys.next()
    }
    registry.add(object)
    noteInsertion(of: object)
    return hadRow
  }

  /// Marks an object as updated, or as unchanged if it equals the store.
  private func updateState(from snapshot: ObjectSnapshot) {
    let object = snapshot.object
    guard object.context === self, !object.state.contains(.inaccessible) else { return }
    changes.eventUpdated.insert(object)
    guard !object.isInserted else { return }
    let staysUpdated = snapshot.membership.contains(.updated) && object.isUpdated
    // Differences are only reported for changed objects.
    changes.updated.insert(object)
    if !staysUpdated, !object.hasPersistentChangedValues { changes.updated.remove(object) }
  }
}

extension NSManagedObject {
  /// Adds an object that refers to this new one to the inverse of its relationship, if that's a
  /// to-many.
  fileprivate func link(
    _ object: NSManagedObject, asInverseOf relationship: NSRelationshipDescription
  ) {
    guard let inverse = relationship.inverseRelationship, inverse.isToMany,
      let position = layout.position(of: inverse.name)
    else { return }
    let value = toManyValue(at: layout.valueIndex(position))
    if !value.added.contains(object) { value.insert(object, isStored: false) }
  }

  /// Returns whether an object that this one refers to also refers to this one, as far as that's
  /// known from what both have read.
  fileprivate func isReferred(
    by other: NSManagedObject, _ relationship: NSRelationshipDescription,
    _ inverse: NSRelationshipDescription
  ) -> Bool {
    other.willAccess()
    let theirs = other.position(of: inverse.name)
    switch theirs {
    case .slot(let index): return other.destination(other.layout.slots[index]) === self
    case .toMany: break
    case .transient, .composite: return false
    }
    let value = other.toManyValue(at: other.layout.valueIndex(theirs))
    if let objects = value.objects { return objects.contains(self) }
    if value.added.contains(self) { return true }
    if value.removed.contains(self) { return false }
    let ours = position(of: relationship.name)
    switch ours {
    case .slot(let index): return refersInStore(to: other, layout.slots[index])
    case .toMany: return toManyValue(at: layout.valueIndex(ours)).isCommitted(other) ?? true
    case .transient, .composite: return false
    }
  }
}

extension ObjectSnapshot {
  /// Restricts what is restored of an object whose deletion wasn't saved to to-ones, and to the
  /// attributes that had unsaved changes: others may have been saved elsewhere since.
  fileprivate func limitToChanges() {
    let changed = object.layout.slots.filter { slot in
      slot.kind.isToOne || changedValues[slot.index] != nil
        || object.values?.isChanged(slot.index) == true
    }
    slots = Set(changed.map(\.index))
  }
}

extension UndoUnit {
  /// Adds the unsaved to-many destinations of objects that leave the context.
  ///
  /// Those that the last change of the relationship restores aren't added: each undo and redo of an
  /// insertion would add another change.
  fileprivate mutating func addLinks(of objects: [NSManagedObject]) {
    var last: [ObjectIdentifier: [Int: RelationshipChange]] = [:]
    for change in relationships {
      last[ObjectIdentifier(change.object), default: [:]][change.position] = change
    }
    for object in objects {
      relationships += ObjectSnapshot(object).links.filter { link in
        guard let change = last[ObjectIdentifier(object)]?[link.position] else { return true }
        return change.gained != link.gained || change.lost != link.lost
      }
    }
  }
}

/// The undo manager of a context, which notifies it when it must register its changes.
final class UndoRegistration {
  let manager: UndoManager
  private let tokens: [any NSObjectProtocol]

  init(of context: NSManagedObjectContext, with manager: UndoManager) {
    self.manager = manager
    // A manager is used on its context's queue.
    func observe(
      _ name: Notification.Name, _ body: @escaping @Sendable (NSManagedObjectContext) -> Void
    ) -> any NSObjectProtocol {
      NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) {
        [weak context] _ in
        if let context { body(context) }
      }
    }
    tokens = [
      observe(.NSUndoManagerCheckpoint) { context in
        if context.undoState.recorder?.isRecording == true { context.processPendingChanges() }
      },
      // A program may call the manager's methods instead of the context's.
      observe(.NSUndoManagerDidUndoChange) { $0.processPendingChanges() },
      observe(.NSUndoManagerDidRedoChange) { $0.processPendingChanges() },
    ]
  }

  deinit {
    for token in tokens { NotificationCenter.default.removeObserver(token) }
  }
}
