import ManagedModel

extension NSManagedObjectContext {
  /// Whether any object was inserted, changed, or deleted since the last save.
  public final var hasChanges: Bool {
    !changes.isEmpty
  }

  /// The objects that were inserted and never saved.
  public final var insertedObjects: Set<NSManagedObject> {
    changes.inserted.members
  }

  /// The saved objects with changed properties, including those that were deleted afterward.
  public final var updatedObjects: Set<NSManagedObject> {
    changes.updated.members
  }

  /// The objects whose rows the next save deletes.
  public final var deletedObjects: Set<NSManagedObject> {
    changes.deleted.members
  }

  /// Inserts an object that was created without a context.
  ///
  /// Keeps the temporary ID of an object that wasn't in a context before; one that was deleted may
  /// get another. Calls `awakeFromInsert`. An object of this context, such as a new one that
  /// `init(context:)` has inserted, stays as it is. No statements. It's a programmer error to pass
  /// an object of another context, a deleted one of this context, or one of an abstract entity or
  /// another model.
  public final func insert(_ object: NSManagedObject) {
    if object.context === self, !object.isDeleted { return }
    guard object.context == nil else {
      fatalError("an object can be inserted only once, into one context")
    }
    checkModel(of: object.layout)
    guard !object.layout.entity.isAbstract else {
      fatalError("the entity '\(object.layout.entityName)' is abstract and has no objects")
    }
    if !isUnknownID(of: object) { object.primaryKey = TemporaryKeys.next() }
    object.context = self
    if type(of: object) != object.layout.objectClass { hasObjectsOfOtherClasses = true }
    if coordinator?.hasSeveralStores == true { assignStore(to: object) }
    registry.add(object)
    noteInsertion(of: object)
    object.state.insert(.awaking)
    object.awakeFromInsert()
    object.state.remove(.awaking)
  }

  /// Returns whether an object has a temporary ID that identifies nothing in this context and its
  /// parents.
  private func isUnknownID(of object: NSManagedObject) -> Bool {
    let (rootIndex, key) = (object.layout.rootIndex, object.primaryKey)
    return key < 0 && registry.object(rootIndex: rootIndex, key: key) == nil
      && counterpart(of: object.identity) == nil
  }

  /// Marks an object for deletion; see `delete(_:)`.
  final func markForDeletion(_ object: NSManagedObject) {
    guard let context = object.context, !object.state.contains(.inaccessible) else { return }
    guard context === self else {
      fatalError(
        "\(object.objectID) belongs to another context: pass object(with: objectID) of this context "
          + "to delete(_:)")
    }
    checkQueue(of: object)
    if !object.state.contains(.deleted) {
      undoState.recorder?.remember(object)
      changes.deleted.insert(object)
      changes.unpropagated.append(object)
      changes.eventDeleted.insert(object)
      changes.mark()
      scheduleProcessing()
    }
    guard !object.state.contains(.preparing) else { return }
    object.state.insert(.preparing)
    object.prepareForDeletion()
    object.state.remove(.preparing)
  }

  /// Propagates deletions through relationships and posts did-change, if there are changes.
  ///
  /// Called automatically before a save, at the end of each `perform` block, and, for changes made
  /// on the main thread outside of any block of a main-queue context, by the next turn of the main
  /// run loop or the main dispatch queue. So are changes that an observer of did-change makes in a
  /// main-queue context.
  public final func processPendingChanges() {
    checkQueue()
    finishMergedDeletions()
    processChanges()
  }

  /// Processes pending changes, but keeps the objects that a merge deleted in `deletedObjects`.
  final func processChanges() {
    if propagatesDeletesAtEndOfEvent { propagateDeletions() }
    registerUndo()
    guard changes.hasEvents else { return }
    let (inserted, updated) = (changes.eventInsertions, changes.eventUpdated.members)
    var userInfo: [AnyHashable: Any] = [
      NSInsertedObjectsKey: inserted,
      NSUpdatedObjectsKey: updated,
      NSDeletedObjectsKey: changes.eventDeleted.members,
      NSRefreshedObjectsKey: changes.eventRefreshed.members,
    ].filter { !$0.value.isEmpty }
    userInfo[NotificationKey.sourceContext.rawValue] = self
    changes.clearEvents()
    // An observer may process further changes.
    let outer = changes.posted
    changes.posted = [inserted, updated]
    post(.NSManagedObjectContextObjectsDidChange, userInfo)
    changes.posted = outer
  }

  /// Records a new object.
  final func noteInsertion(of object: NSManagedObject) {
    checkQueue()
    object.state.formUnion(faultState.subtracting(.fault))
    changes.inserted.insert(object)
    changes.eventInserted.insert(object)
    changes.mark()
    scheduleProcessing()
    undoState.recorder?.noteInsertion(of: object)
  }

  /// Records that a property of an object is being set, possibly the first change of the event.
  final func noteChange(of object: NSManagedObject) {
    changes.mark()
    if object.state.isDisjoint(with: [.eventInserted, .eventUpdated]) {
      undoState.recorder?.remember(object)
      // Changes of earlier events are the baseline for the changes of this one. An object whose
      // changes were undone is unchanged, and has the baseline of an earlier event.
      if !object.state.isDisjoint(with: [.inserted, .updated]) || undoState.recorder != nil {
        object.values?.beginEvent()
      }
      changes.eventUpdated.insert(object)
      scheduleProcessing()
    }
    if !object.isInserted {
      changes.updated.insert(object)
    }
  }

  /// Removes a new object from the context.
  final func abandon(_ object: NSManagedObject) {
    if object.primaryKey > 0 {
      // It got its primary key before a save.
      store(for: object)?.removeOwner(
        rootIndex: object.layout.rootIndex, keys: CollectionOfOne(object.primaryKey))
    }
    leave(object)
    object.dropRelated()
  }

  /// Removes an object that has no row, or no longer has one, from the context.
  final func leave(_ object: NSManagedObject) {
    registry.remove(object)
    object.state.remove(.changed)
    object.context = nil
  }

  /// Applies the delete rules of deleted objects, which may delete more.
  ///
  /// Objects that can't be read, or have a relationship that can't, are left for the next call.
  final func propagateDeletions() {
    var next = 0
    var unreadable: [NSManagedObject] = []
    while next < changes.unpropagated.count {
      let object = changes.unpropagated[next]
      next += 1
      let count = changes.propagations
      let isPropagated = propagateDeletion(of: object)
      if !isPropagated { unreadable.append(object) }
      guard changes.propagations != count else { continue }
      // `prepareForDeletion` has processed pending changes, including the deletions until then.
      next = 0
      unreadable = isPropagated ? [] : [object]
    }
    changes.unpropagated = unreadable
    changes.propagations += 1
  }

  /// Applies the delete rules of one deleted object; returns `false` if something can't be read.
  private func propagateDeletion(of object: NSManagedObject) -> Bool {
    // It may have been refreshed or rolled back since.
    guard object.state.contains(.deleted), object.context === self else { return true }
    // Saving compares the row version, so the row must be loaded.
    object.willAccess()
    guard !object.isFault else { return false }
    let earlierError = faultFailures.last
    faultFailures.last = nil
    for relationship in object.layout.relationships {
      propagateDeletion(of: object, through: relationship)
    }
    // A relationship that can't be read looks empty. Propagating through the others again has no
    // effect.
    guard faultFailures.last == nil else { return false }
    faultFailures.last = earlierError
    if object.isInserted { forgetInserted(object) }
    return true
  }

  /// Removes a deleted object that was never saved from the context: there's nothing to write.
  private func forgetInserted(_ object: NSManagedObject) {
    changes.inserted.remove(object)
    changes.deleted.remove(object)
    if changes.eventInserted.contains(object) {
      // Its insertion was never posted.
      changes.eventInserted.remove(object)
      if !changes.listsInsertions { changes.eventDeleted.remove(object) }
    }
    abandon(object)
  }

  /// Applies the delete rule of one relationship of a deleted object.
  private func propagateDeletion(
    of object: NSManagedObject, through relationship: NSRelationshipDescription
  ) {
    func affected() -> [NSManagedObject] {
      object.relatedObjects(relationship)
        + [object.savedPartner(relationship)].compactMap { $0 }
    }
    switch relationship.deleteRule {
    case .cascadeDeleteRule:
      for related in affected() where !related.isDeleted { markForDeletion(related) }
    case .nullifyDeleteRule:
      guard let inverse = relationship.inverseRelationship else { return }
      for related in affected() where !related.isDeleted {
        rememberForUndo(related)
        related.dropDestination(object, of: inverse)
      }
    default:
      break
    }
  }
}

extension NSManagedObject {
  /// Returns the destination of a changed one-to-one relationship in the row, if the change hasn't
  /// released it: others have saved it since.
  ///
  /// Its row may be older, and so may this object's: what a fault of it would read decides.
  ///
  /// **Cost:** if its side is unchanged, that of a fault.
  fileprivate final func savedPartner(
    _ relationship: NSRelationshipDescription
  ) -> NSManagedObject? {
    guard !isInserted, let inverse = relationship.inverseRelationship, !inverse.isToMany,
      case .slot(let index)? = layout.position(of: relationship.name),
      values?.isChanged(index) == true,
      let other = destination(of: row, layout.slots[index]),
      case .slot(let back) = other.position(of: inverse.name)
    else { return nil }
    let slot = other.layout.slots[back]
    if other.isInserted || other.values?.isChanged(back) == true {
      return other.destination(slot) === self ? other : nil
    }
    do {
      guard let newest = try context?.visibleRow(of: other) else { return nil }
      defer { newest.release() }
      return other.destination(of: newest, slot) === self ? other : nil
    } catch {
      // Applying the rule fails, too, and is tried again.
      return other
    }
  }
}
