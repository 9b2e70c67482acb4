import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Takes over what another context has saved, as its did-save notification tells.
  ///
  /// Registered objects that were updated are refreshed; unsaved changes stay and win. Registered
  /// objects that were deleted lose their unsaved changes, and are in `deletedObjects` until pending
  /// changes are processed the next time. Inserted objects come as
  /// faults, which go again unless somebody holds them. What is not registered is left alone. Posts
  /// did-change and did-merge. The notification may come from another coordinator's context over the
  /// same file: its rows are read again. On this context's queue.
  /// Cost: no statement; firing what another coordinator saved costs a SELECT each.
  public final func mergeChanges(fromContextDidSave notification: Notification) {
    let source = notification.object as? NSManagedObjectContext
    guard source !== self, let userInfo = notification.userInfo else { return }
    let changes = MergedChanges(userInfo, from: source, for: self)
    if source?.coordinator !== coordinator { requiredCoordinator.forget(changes) }
    merge(changes)
  }

  /// Has contexts take over what was saved elsewhere: by another process, or by a batch request.
  ///
  /// The dictionary has the keys of a did-save notification, with sets or arrays of object IDs or of
  /// their URIs. A parent comes before its children, whatever their order in the array. Waits for
  /// each context's queue. What is merged is what `mergeChanges(fromContextDidSave:)` merges.
  /// Cost: one SELECT for each entity of updated objects that are registered.
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
        context.reload(changes.updated)
        context.merge(changes)
      }
    }
  }

  /// Whether what is saved to the parent, or to the coordinator by other contexts, is merged by itself.
  ///
  /// The merge runs on this context's queue, after the save has returned. Set it on that queue.
  public final var automaticallyMergesChangesFromParent: Bool {
    get { mergesAutomatically }
    set {
      guard newValue != mergesAutomatically else { return }
      mergesAutomatically = newValue
      let leaders = parent?.followers ?? coordinator?.followers
      if newValue { leaders?.add(self) } else { leaders?.remove(self) }
    }
  }

  /// Has the contexts that merge by themselves take over what was saved here.
  final func tellFollowers(_ changes: () -> MergedChanges) {
    let siblings = parent?.followers ?? coordinator?.followers
    // What a child has saved its parent has only been given.
    let others = parent == nil ? siblings?.contexts ?? [] : []
    let listening = (others + followers.contexts).filter { $0 !== self }
    guard !listening.isEmpty else { return }
    let saved = changes()
    for follower in listening {
      follower.perform { follower.merge(saved) }
    }
  }

  /// Merges what somebody else has saved: one event, where a registered or new object is told of it.
  final func merge(_ saved: MergedChanges) {
    let event = scope.begin(.merge)
    if coordinator?.isSpread == true {
      for identity in saved.all { makeRoom(for: identity.layout.place) }
    }
    endBurst()
    advanceGeneration()
    var told = MergedChanges()
    for identity in saved.inserted where identity.primaryKey > 0 {
      let object = registered(identity.layout, identity.primaryKey)
      changes.eventInserted.insert(object)
      told.inserted.append(object.identity)
    }
    for identity in saved.updated {
      guard let object = registeredForMerge(identity) else { continue }
      refreshValues(object)
      changes.eventRefreshed.insert(object)
      told.updated.append(object.identity)
    }
    var isPropagating = false
    for identity in saved.deleted {
      guard let object = registeredForMerge(identity) else { continue }
      if object.state.contains(.deleted) { isPropagating = true }
      loseRow(object)
      told.deleted.append(object.identity)
    }
    // What is gone from the store propagates no deletion of this context.
    if isPropagating { changes.unpropagated.removeAll { $0.state.contains(.inaccessible) } }
    guard !told.isEmpty else { return scope.abandon(event) }
    processChanges()
    scheduleProcessing()
    announceMerge(told)
    scope.end(event) { event in
      event.entity = told.mostFrequentEntity
      event.rows = told.all.count
    }
    for follower in followers.contexts { follower.perform { follower.merge(saved) } }
  }

  private func registeredForMerge(_ identity: FetchedIdentity) -> NSManagedObject? {
    let object = registry.object(rootIndex: identity.layout.rootIndex, key: identity.primaryKey)
    guard let object, !object.state.contains(.inaccessible) else { return nil }
    return object
  }

  /// Marks an object for deletion whose row somebody else has deleted; there is nothing left to save.
  private func loseRow(_ object: NSManagedObject) {
    changes.inserted.remove(object)
    changes.updated.remove(object)
    changes.eventUpdated.remove(object)
    changes.eventRefreshed.remove(object)
    object.becomeInaccessible()
    object.values = nil
    object.prefetched = nil
    changes.deleted.insert(object)
    changes.mergedDeletions.append(object)
    changes.eventDeleted.insert(object)
  }

  /// Takes the objects that a merge has deleted out of `deletedObjects`.
  final func finishMergedDeletions() {
    guard !changes.mergedDeletions.isEmpty else { return }
    for object in changes.mergedDeletions {
      changes.updated.remove(object)
      changes.deleted.remove(object)
    }
    changes.mergedDeletions = []
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

  /// Reads the rows of registered objects anew, where the row cache has none: one SELECT an entity.
  private func reload(_ identities: [FetchedIdentity]) {
    guard parent == nil else { return }
    var byEntity: [ObjectIdentifier: (layout: EntityLayout, keys: ContiguousArray<Int64>)] = [:]
    for identity in identities {
      let (layout, key) = (identity.layout, identity.primaryKey)
      guard let object = registry.object(rootIndex: layout.rootIndex, key: key),
        store(at: layout.place)?.isUnread(rootIndex: layout.rootIndex, key: key) == true
      else { continue }
      byEntity[ObjectIdentifier(object.layout), default: (object.layout, [])].keys.append(key)
    }
    for (layout, keys) in byEntity.values.sorted(by: { $0.layout.index < $1.layout.index }) {
      do {
        try read(store(for: layout)) { reader in
          let rows = try reader.rows(keys, of: layout, pageSize: nil, in: scope)
          for fetched in rows { reader.install(fetched).release() }
        }
      } catch {
        noteFailure(error, "the rows of a merge could not be read")
      }
    }
  }

  /// How many parents lie between this context and the coordinator.
  final var generationsBelowRoot: Int {
    var (count, context) = (0, parent)
    while let next = context {
      count += 1
      context = next.parent
    }
    return count
  }
}
