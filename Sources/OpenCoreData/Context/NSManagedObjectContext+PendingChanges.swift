import ManagedModel

extension NSManagedObjectContext {
  /// Whether anything has been inserted, set or deleted since the last save.
  public final var hasChanges: Bool {
    !changes.isEmpty
  }

  /// New objects that were never saved.
  public final var insertedObjects: Set<NSManagedObject> {
    changes.inserted.members
  }

  /// Saved objects of which a property was set; one that was then deleted is here as well.
  public final var updatedObjects: Set<NSManagedObject> {
    changes.updated.members
  }

  /// Objects whose rows the next save removes.
  public final var deletedObjects: Set<NSManagedObject> {
    changes.deleted.members
  }

  /// Inserts an object that was made without a context.
  ///
  /// Calls `awakeFromInsert`. No statement. Traps for an object that has a context, of an abstract entity
  /// or of another model.
  public final func insert(_ object: NSManagedObject) {
    precondition(object.context == nil, "an object is inserted into one context, once")
    checkModel(of: object.layout)
    precondition(
      !object.layout.entity.isAbstract,
      "the entity '\(object.layout.entity.name ?? "")' is abstract and has no objects")
    object.context = self
    object.primaryKey = TemporaryKeys.next()
    if coordinator?.isSpread == true { place(object) }
    registry.add(object)
    noteInsertion(of: object)
    object.state.insert(.awaking)
    object.awakeFromInsert()
    object.state.remove(.awaking)
  }

  /// Marks an object for deletion; the next save deletes its row.
  ///
  /// Calls `prepareForDeletion`. An object that was never saved leaves the context with the next
  /// `processPendingChanges`, which applies the delete rules of the relationships and may fire faults.
  /// An object without a context, such as one whose deletion was saved, isn't in any store: nothing
  /// happens. It's a programmer error to pass an object of another context. No statement.
  public final func delete(_ object: NSManagedObject) {
    guard let context = object.context, !object.state.contains(.inaccessible) else { return }
    precondition(
      context === self,
      "\(object.objectID) belongs to another context: pass object(with: objectID) of this context "
        + "to delete(_:)")
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

  /// Carries deletions through relationships and posts did-change, if there is anything to tell.
  ///
  /// Runs by itself before a save, at the end of each `perform` block, and, for changes that were made
  /// on the main thread outside of any block of a main-queue context, when the main run loop or the
  /// main dispatch queue turns.
  public final func processPendingChanges() {
    checkQueue()
    finishMergedDeletions()
    processChanges()
  }

  /// The same, but for what a merge has deleted, which stays in `deletedObjects`.
  final func processChanges() {
    if propagatesDeletesAtEndOfEvent { propagateDeletions() }
    registerUndo()
    guard changes.hasEvents else { return }
    let (inserted, updated) = (changes.eventInsertions, changes.eventUpdated.members)
    let userInfo: [AnyHashable: Any] = [
      NSInsertedObjectsKey: inserted,
      NSUpdatedObjectsKey: updated,
      NSDeletedObjectsKey: changes.eventDeleted.members,
      NSRefreshedObjectsKey: changes.eventRefreshed.members,
    ].filter { !$0.value.isEmpty }
    changes.clearEvents()
    changes.posted = [inserted, updated]
    post(.NSManagedObjectContextObjectsDidChange, userInfo)
    changes.posted = []
  }

  /// Notes a new object.
  final func noteInsertion(of object: NSManagedObject) {
    checkQueue()
    object.state.formUnion(faultState.subtracting(.fault))
    changes.inserted.insert(object)
    changes.eventInserted.insert(object)
    changes.mark()
    scheduleProcessing()
    undoState.recorder?.noteInsertion(of: object)
  }

  /// Notes that a property of an object is being set, of which that may not have been noted before.
  final func noteChange(of object: NSManagedObject) {
    changes.mark()
    if object.state.isDisjoint(with: [.eventInserted, .eventUpdated]) {
      undoState.recorder?.remember(object)
      // What an earlier event has left is what the changes of this one are told from.
      if !object.state.isDisjoint(with: [.inserted, .updated]) { object.values?.beginEvent() }
      changes.eventUpdated.insert(object)
      scheduleProcessing()
    }
    if !object.isInserted {
      changes.updated.insert(object)
    }
  }

  /// Takes a new object out of the context.
  final func abandon(_ object: NSManagedObject) {
    if object.primaryKey > 0 {
      // It was given its key before a save.
      store(for: object)?.disown(
        rootIndex: object.layout.rootIndex, keys: CollectionOfOne(object.primaryKey))
    }
    leave(object)
    object.dropRelated()
  }

  /// Takes an object that has no row, or no longer one, out of the context.
  final func leave(_ object: NSManagedObject) {
    registry.remove(object)
    object.state.remove(.changed)
    object.context = nil
  }

  /// Carries out the delete rules of what was deleted, which may delete more.
  final func propagateDeletions() {
    var next = 0
    while next < changes.unpropagated.count {
      let object = changes.unpropagated[next]
      next += 1
      // It may have been refreshed or rolled back since.
      guard object.state.contains(.deleted), object.context === self else { continue }
      // Saving compares the version of the row, so the row has to be there.
      object.willAccess()
      for relationship in object.layout.entity.relationshipsByName.values
        .sorted(by: { $0.name < $1.name }) where object.layout.place(of: relationship.name) != nil
      {
        carry(relationship, of: object)
      }
      if object.isInserted { forgetInserted(object) }
    }
    changes.unpropagated.removeAll()
  }

  /// Takes a deleted object that was never saved out of the context: there is nothing to write.
  private func forgetInserted(_ object: NSManagedObject) {
    changes.inserted.remove(object)
    changes.deleted.remove(object)
    if changes.eventInserted.contains(object) {
      // Nobody was told that it came.
      changes.eventInserted.remove(object)
      changes.eventDeleted.remove(object)
    }
    abandon(object)
  }

  private func carry(_ relationship: NSRelationshipDescription, of object: NSManagedObject) {
    switch relationship.deleteRule {
    case .cascadeDeleteRule:
      for related in object.relatedObjects(relationship) where !related.isDeleted {
        delete(related)
      }
    case .nullifyDeleteRule:
      guard let inverse = relationship.inverseRelationship else { return }
      for related in object.relatedObjects(relationship) where !related.isDeleted {
        related.dropDestination(object, of: inverse)
      }
    default:
      break
    }
  }
}

extension NSEntityDescription {
  /// The entity of that name in the context's model; nil when there is none.
  public static func entity(
    forEntityName entityName: String, in context: NSManagedObjectContext
  ) -> NSEntityDescription? {
    context.entityNamed(entityName)
  }

  /// Inserts a new object of the entity of that name.
  ///
  /// Traps when the context has no coordinator, or its model no such entity. No statement.
  public static func insertNewObject(
    forEntityName entityName: String, into context: NSManagedObjectContext
  ) -> NSManagedObject {
    let model = context.requiredCoordinator.managedObjectModel
    guard let entity = model.entitiesByName[entityName] else {
      preconditionFailure(
        "the model has no entity '\(entityName)'. It has: "
          + model.entitiesByName.keys.sorted().joined(separator: ", "))
    }
    return EntityLayout.of(entity).objectClass.init(entity: entity, insertInto: context)
  }
}
