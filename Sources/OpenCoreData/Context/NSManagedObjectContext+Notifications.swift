import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Posts on the context's queue, with the context as the object; one event.
  final func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]) {
    let event = scope.begin(.notification)
    NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    scope.end(event) { $0.entity = name.rawValue }
  }

  /// Tells that a save is done: did-save with objects, did-save with IDs, and the contexts that merge
  /// by themselves.
  ///
  /// - Parameter insertions: `inserted` as a set.
  final func announceSave(
    inserted: [NSManagedObject], _ insertions: Set<NSManagedObject>, updated: [NSManagedObject],
    deleted: [NSManagedObject]
  ) {
    advanceGeneration()
    var objects: [AnyHashable: Any] = [
      NSInsertedObjectsKey: insertions, NSUpdatedObjectsKey: Set(updated),
      NSDeletedObjectsKey: Set(deleted),
    ]
    var identities: [AnyHashable: Any] = [
      NSInsertedObjectIDsKey: objectIDs(of: inserted),
      NSUpdatedObjectIDsKey: objectIDs(of: updated), NSDeletedObjectIDsKey: objectIDs(of: deleted),
    ]
    let isEmpty = inserted.isEmpty && updated.isEmpty && deleted.isEmpty
    if parent == nil, let token = coordinator?.historyToken(afterSave: !isEmpty) {
      objects[NSManagedObjectContext.newHistoryTokenKey] = token
      identities[NSManagedObjectContext.newHistoryTokenKey] = token
    }
    objects[NSManagedObjectContextQueryGenerationKey] = queryGenerationToken
    identities[NSManagedObjectContextQueryGenerationKey] = queryGenerationToken
    post(.NSManagedObjectContextDidSave, objects)
    post(.NSManagedObjectContextDidSaveObjectIDs, identities)
    guard !isEmpty else { return }
    tellFollowers {
      MergedChanges(
        inserted: inserted.map(\.identity), updated: updated.map(\.identity),
        deleted: deleted.map(\.identity))
    }
  }

  /// The IDs of objects of this context, those included that have just left it.
  final func objectIDs(of objects: some Sequence<NSManagedObject>) -> Set<NSManagedObjectID> {
    var ids: Set<NSManagedObjectID> = []
    ids.reserveCapacity(objects.underestimatedCount)
    var last: (layout: EntityLayout, handle: StoreHandle?)?
    for object in objects {
      let layout = object.layout
      if last?.layout !== layout { last = (layout, store(at: layout.place)?.handle) }
      let handle = object.primaryKey > 0 ? last?.handle : nil
      ids.insert(NSManagedObjectID(layout: layout, primaryKey: object.primaryKey, handle: handle))
    }
    return ids
  }

  /// The ID of a row of one of this context's stores, or of a new object.
  final func objectID(of identity: FetchedIdentity) -> NSManagedObjectID {
    NSManagedObjectID(
      layout: identity.layout, primaryKey: identity.primaryKey,
      store: identity.primaryKey > 0 ? store(at: identity.layout.place) : nil)
  }
}

extension NSManagedObject {
  /// Where the object's row is or will be.
  final var identity: FetchedIdentity {
    FetchedIdentity(layout: layout, primaryKey: primaryKey)
  }
}
