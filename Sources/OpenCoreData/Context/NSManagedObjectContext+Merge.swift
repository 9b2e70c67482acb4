import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Merges the changes that another context saved, from its did-save notification.
  ///
  /// Updated objects that are registered here are refreshed; their unsaved changes are kept.
  /// Deleted objects that are registered lose their unsaved changes, and are in `deletedObjects`
  /// until pending changes are next processed. As far as their relationships are known without
  /// reading them, unsaved references to them become `nil`, objects that refer to them otherwise
  /// are refreshed, and new objects that a cascade rule applies to are deleted. Inserted objects
  /// are registered as faults, and deregistered unless they're retained. Unregistered objects are
  /// ignored, unless a fetched results controller with a batch size lists them. Posts did-change
  /// and did-merge. If the notification comes from a context of another coordinator with the same
  /// store file, the rows are read again.
  ///
  /// A child has saved its deletions only to its parent. In a context that doesn't read from that
  /// parent, such as the parent itself, the deleted objects are deleted as `delete(_:)` does, so
  /// that the next save deletes their rows.
  ///
  /// Call it on this context's queue. **Cost:** no statements, except one SELECT for each entity of
  /// objects that refer to what another coordinator has deleted; firing a fault for an object that
  /// another coordinator saved costs one SELECT.
  public final func mergeChanges(fromContextDidSave notification: Notification) {
    let source = notification.object as? NSManagedObjectContext
    guard source !== self, let userInfo = notification.userInfo else { return }
    let changes = MergedChanges(userInfo, from: source, for: self)
    let isForeign = source?.coordinator !== coordinator
    if isForeign { requiredCoordinator.forget(changes) }
    merge(changes, rereads: isForeign, isVisible: sees(savesOf: source))
  }

  /// Returns whether this context reads what another one has saved: from the stores, or from a
  /// parent of this context.
  private func sees(savesOf source: NSManagedObjectContext?) -> Bool {
    guard let target = source?.parent else { return true }
    var above = parent
    while let context = above, context !== target { above = context.parent }
    return above != nil
  }

  /// Merges into contexts the changes that another process or a batch request saved.
  ///
  /// The dictionary has the keys of a did-save notification, with sets or arrays of object IDs or
  /// of their URIs. Parents are merged before their children, whatever their order in the array.
  /// Waits for each context's queue. Merges as `mergeChanges(fromContextDidSave:)` does, but also
  /// refreshes the objects that refer to deleted ones whose relationships aren't known. **Cost:**
  /// one SELECT for each entity of updated objects that are registered, and one for each entity of
  /// objects that refer to deleted ones, for which it passes over the registered objects once.
  public static func mergeChanges(
    fromRemoteContextSave changeNotificationData: [AnyHashable: Any],
    into contexts: [NSManagedObjectContext]
  ) {
    var forgotten: Set<ObjectIdentifier> = []
    for context in contexts.sorted(by: { $0.generationsBelowRoot < $1.generationsBelowRoot }) {
      context.performAndWait {
        let changes = MergedChanges(changeNotificationData, from: nil, for: context)
        let coordinator = context.requiredCoordinator
        if forgotten.insert(ObjectIdentifier(coordinator)).inserted { coordinator.forget(changes) }
        context.advanceGeneration()
        let followed = context.registerFollowed(changes)
        context.reload(changes.updated)
        context.merge(changes, rereads: true)
        withExtendedLifetime(followed) {}
      }
    }
  }

  /// Whether the context automatically merges what other contexts save to its coordinator or to its
  /// parent.
  ///
  /// A child merges saves of its siblings, which change the parent, saves of the parent, and what
  /// the parent merges. The merge runs on this context's queue, after the save has returned. Set
  /// this property on that queue.
  public final var automaticallyMergesChangesFromParent: Bool {
    get { mergesAutomatically }
    set {
      guard newValue != mergesAutomatically else { return }
      mergesAutomatically = newValue
      let observers = parent?.mergeObservers ?? coordinator?.mergeObservers
      if newValue { observers?.add(self) } else { observers?.remove(self) }
    }
  }

  /// Merges this context's save into the contexts that merge changes automatically.
  final func mergeIntoObservers(_ changes: () -> MergedChanges) {
    let siblings = (parent?.mergeObservers ?? coordinator?.mergeObservers)?.contexts ?? []
    let listening = (siblings + mergeObservers.contexts).filter { $0 !== self }
    guard !listening.isEmpty else { return }
    let saved = changes()
    for observer in listening { observer.perform { observer.merge(saved) } }
  }

  /// Merges changes saved elsewhere: one event, if a registered or new object is affected.
  ///
  /// - Parameters:
  ///   - rereads: Whether the row cache may have outdated rows of other objects.
  ///   - isVisible: Whether this context reads from where they were saved.
  final func merge(_ saved: MergedChanges, rereads: Bool = false, isVisible: Bool = true) {
    let event = scope.begin(.merge)
    if coordinator?.hasSeveralStores == true {
      for identity in saved.all { makeRoom(for: identity.layout.storeIndex) }
    }
    endReadTransaction()
    advanceGeneration()
    let followed = isVisible ? registerFollowed(saved) : []
    defer { withExtendedLifetime(followed) {} }
    var applied = MergedChanges()
    for identity in saved.inserted {
      if hasParent, let object = registeredForMerge(identity, isSaved: true) {
        // A child's own object, which its parent has saved, or one that the parent had before.
        refresh(object, in: &applied)
        continue
      }
      guard let object = registeredInsertion(identity) else { continue }
      changes.eventInserted.insert(object)
      applied.inserted.append(object.identity)
    }
    mergeUpdates(of: saved.updated, in: &applied)
    applied.deleted =
      isVisible
      ? mergeDeletions(of: saved.deleted, rereads: rereads) : deleteObjects(of: saved.deleted)
    // A child may have objects that this context has released.
    defer {
      for observer in mergeObservers.contexts { observer.perform { observer.merge(saved) } }
    }
    guard !applied.isEmpty else { return scope.abandon(event) }
    processChanges()
    scheduleProcessing()
    announceMerge(applied)
    scope.end(event) { event in
      event.entity = applied.mostFrequentEntity
      event.rows = applied.all.count
    }
  }

  /// Refreshes the registered objects of updated rows, and makes the unsaved changes consistent
  /// with the rows.
  ///
  /// What lost a one-to-one relationship to an unsaved change loses it on its side, too.
  private func mergeUpdates(
    of identities: [FetchedIdentity], in applied: inout MergedChanges
  ) {
    var changed = ResolvedObjects(in: self, wins: true)
    for identity in identities {
      guard let object = registeredForMerge(identity, isSaved: true) else { continue }
      refresh(object, in: &applied)
      if object.hasChanges, !object.isDeleted { changed.append(object) }
    }
    do {
      try undoState.withoutRecording { try changed.settleOneToOne() }
    } catch {
      noteFailure(error, "the other sides of merged relationships couldn't be read")
    }
  }

  private func refresh(_ object: NSManagedObject, in applied: inout MergedChanges) {
    refreshValues(object)
    changes.eventRefreshed.insert(object)
    applied.updated.append(object.identity)
  }

  /// Returns the object of a row that was inserted elsewhere, or a sibling's new object that the
  /// parent has, registered as a fault if necessary.
  private func registeredInsertion(_ identity: FetchedIdentity) -> NSManagedObject? {
    guard identity.primaryKey <= 0 else {
      let object = registered(identity.layout, identity.primaryKey)
      return object.state.contains(.inaccessible) && !isSavedAgain(object) ? nil : object
    }
    return parent == nil ? nil : counterpart(of: identity)
  }

  /// Returns the registered object of a row; `nil` if there's none, or if it has lost the row.
  ///
  /// - Parameter isSaved: Whether the row was saved: an object that had lost it has it again.
  final func registeredForMerge(
    _ identity: FetchedIdentity, isSaved: Bool
  ) -> NSManagedObject? {
    let (rootIndex, key) = (identity.layout.rootIndex, identity.primaryKey)
    let found =
      registry.object(rootIndex: rootIndex, key: key) ?? twin(rootIndex: rootIndex, key: key)
    guard let object = found else { return nil }
    guard object.state.contains(.inaccessible) else { return object }
    return isSaved && isSavedAgain(object) ? object : nil
  }

  /// Returns whether an object that had lost its row has one again; it's fulfilled then.
  private func isSavedAgain(_ object: NSManagedObject) -> Bool {
    do {
      return try revive(object)
    } catch {
      noteFailure(error, "\(object.objectID) couldn't be read again")
      return false
    }
  }

  private func announceMerge(_ merged: MergedChanges) {
    func ids(_ identities: [FetchedIdentity]) -> Set<NSManagedObjectID> {
      Set(identities.map { objectID(of: $0) })
    }
    var userInfo: [AnyHashable: Any] = [
      NSInsertedObjectIDsKey: ids(merged.inserted), NSUpdatedObjectIDsKey: ids(merged.updated),
      NSDeletedObjectIDsKey: ids(merged.deleted),
    ]
    userInfo[NSManagedObjectContextQueryGenerationKey] = queryGenerationToken
    post(.NSManagedObjectContextDidMergeChangesObjectIDs, userInfo)
  }

  /// Rereads the rows of registered objects that the row cache doesn't have: one SELECT for each
  /// entity.
  final func reload(_ identities: [FetchedIdentity]) {
    guard parent == nil else { return }
    var byEntity: [ObjectIdentifier: (layout: EntityLayout, keys: ContiguousArray<Int64>)] = [:]
    for identity in identities {
      let (layout, key) = (identity.layout, identity.primaryKey)
      guard let object = registry.object(rootIndex: layout.rootIndex, key: key),
        store(at: layout.storeIndex)?.isUnread(rootIndex: layout.rootIndex, key: key) == true
      else { continue }
      byEntity[ObjectIdentifier(object.layout), default: (object.layout, [])].keys.append(key)
    }
    for (layout, keys) in byEntity.values.sorted(by: { $0.layout.index < $1.layout.index }) {
      do {
        try read(store(for: layout)) { reader in
          let rows = try reader.rows(keys, of: layout, batchSize: nil, in: scope)
          for fetched in rows { reader.install(fetched).release() }
        }
      } catch {
        noteFailure(error, "the rows of a merge couldn't be read")
      }
    }
  }

  /// The number of parents between this context and the coordinator.
  final var generationsBelowRoot: Int {
    var (count, context) = (0, parent)
    while let next = context {
      count += 1
      context = next.parent
    }
    return count
  }
}

extension MergedChanges {
  /// Reads a notification's `userInfo`: objects, object IDs, or URIs of objects, in sets or arrays.
  ///
  /// Only the identity of an object is read, because it may belong to another queue. Objects of
  /// other stores than the context's are ignored; the same file in another coordinator is the same
  /// store.
  /// - Parameter source: The context of the objects, if there are any.
  init(
    _ userInfo: [AnyHashable: Any], from source: NSManagedObjectContext?,
    for context: NSManagedObjectContext
  ) {
    func identities(_ keys: String...) -> [FetchedIdentity] {
      keys.flatMap { MergedChanges.elements(userInfo[$0]) }
        .compactMap { context.identity(naming: $0, from: source) }
    }
    inserted = identities(NSInsertedObjectsKey, NSInsertedObjectIDsKey)
    updated = identities(
      NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey,
      NSInvalidatedObjectsKey, NSInvalidatedObjectIDsKey)
    deleted = identities(NSDeletedObjectsKey, NSDeletedObjectIDsKey)
  }

  private static func elements(_ value: Any?) -> [Any] {
    switch value {
    case let objects as Set<NSManagedObject>: Array(objects)
    case let ids as Set<NSManagedObjectID>: Array(ids)
    case let array as [Any]: array
    case let set as Set<AnyHashable>: set.map(\.base)
    default: []
    }
  }
}

extension NSManagedObjectContext {
  /// Returns the identity that an object, object ID, or URI refers to in this context's store;
  /// `nil` if it's in another.
  fileprivate final func identity(
    naming element: Any, from source: NSManagedObjectContext?
  ) -> FetchedIdentity? {
    switch element {
    case let object as NSManagedObject:
      local(
        object.identity, of: source?.coordinator?.store(at: object.identity.layout.storeIndex))
    case let id as NSManagedObjectID:
      local(id.identity, of: id.persistentStore)
    case let url as URL:
      coordinator?.managedObjectID(forURIRepresentation: url).map { $0.identity }
    default:
      nil
    }
  }

  private func local(
    _ identity: FetchedIdentity, of origin: NSPersistentStore?
  ) -> FetchedIdentity? {
    let stores = coordinator?.rowStores ?? []
    let known = stores.first { $0 === origin || $0.identifier == origin?.identifier }
    guard let store = origin == nil ? store(at: identity.layout.storeIndex) : known else {
      return nil
    }
    makeRoom(for: store.storeIndex)
    // The same file in another coordinator may have another store index and another model instance.
    let layout: EntityLayout
    if identity.layout.family === family {
      layout = identity.layout.at(store.storeIndex)
    } else {
      guard let entity = entityNamed(identity.layout.entityName) else { return nil }
      layout = EntityLayout.of(entity).at(store.storeIndex)
    }
    return FetchedIdentity(layout: layout, primaryKey: identity.primaryKey)
  }
}
