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
      let observers = parent?.mergeObservers ?? coordinator?.mergeObservers
      if newValue { observers?.add(self) } else { observers?.remove(self) }
    }
  }

  /// Merges what was saved here into the contexts that merge changes automatically.
  final func mergeIntoObservers(_ changes: () -> MergedChanges) {
    let siblings = parent?.mergeObservers ?? coordinator?.mergeObservers
    // What a child has saved its parent has only been given.
    let others = parent == nil ? siblings?.contexts ?? [] : []
    let listening = (others + mergeObservers.contexts).filter { $0 !== self }
    guard !listening.isEmpty else { return }
    let saved = changes()
    for observer in listening { observer.perform { observer.merge(saved) } }
  }

  /// Merges what somebody else has saved: one event, where a registered or new object is told of it.
  final func merge(_ saved: MergedChanges) {
    let event = scope.begin(.merge)
    if coordinator?.isSpread == true {
      for identity in saved.all { makeRoom(for: identity.layout.place) }
    }
    endReadTransaction()
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
    for observer in mergeObservers.contexts { observer.perform { observer.merge(saved) } }
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

  /// Reads the rows of registered objects again, where the row cache has none: one SELECT an entity.
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

/// Objects that are marked by one flag of their state, in the order in which they were marked.
///
/// The flag is the membership, so that marking an object again costs a test of a bit.
struct ChangedObjects {
  private let flag: ObjectState
  private var marked: [NSManagedObject] = []
  /// Objects in `marked` whose mark was taken away; they are held until `compact`.
  private var unmarked: Set<ObjectIdentifier> = []
  /// The marked objects as a set that was asked for; nil once another is marked or unmarked.
  private var known: Set<NSManagedObject>?

  init(_ flag: ObjectState) {
    self.flag = flag
  }

  var isEmpty: Bool { marked.count == unmarked.count }

  /// The marked objects in the order of marking.
  var array: [NSManagedObject] {
    unmarked.isEmpty ? marked : marked.filter { $0.state.contains(flag) }
  }

  /// The marked objects as a set, which is kept until the next change.
  var members: Set<NSManagedObject> {
    mutating get {
      if let known { return known }
      let members = Set(array)
      known = members
      return members
    }
  }

  /// The marked objects that the next save does not delete, in the order of marking.
  var undeleted: [NSManagedObject] {
    let all = array
    return all.contains { $0.isDeleted } ? all.filter { !$0.isDeleted } : all
  }

  func contains(_ object: NSManagedObject) -> Bool {
    object.state.contains(flag)
  }

  /// Marks an object; one that is marked stays where it is.
  ///
  /// - Returns: Whether the object was not marked before.
  @discardableResult
  mutating func insert(_ object: NSManagedObject) -> Bool {
    guard !object.state.contains(flag) else { return false }
    // It would stand there twice.
    if !unmarked.isEmpty, unmarked.contains(ObjectIdentifier(object)) { compact() }
    object.state.insert(flag)
    marked.append(object)
    known = nil
    return true
  }

  /// Takes an object's mark away; it is let go with the next `compact`.
  mutating func remove(_ object: NSManagedObject) {
    guard object.state.contains(flag) else { return }
    object.state.remove(flag)
    unmarked.insert(ObjectIdentifier(object))
    known = nil
  }

  /// Lets go of the objects whose mark was taken away.
  ///
  /// Cost: none without such objects, else the number of marked ones.
  mutating func compact() {
    guard !unmarked.isEmpty else { return }
    marked.removeAll { !$0.state.contains(flag) }
    unmarked.removeAll()
  }

  /// Takes all marks away.
  mutating func removeAll() {
    for object in marked { object.state.remove(flag) }
    marked.removeAll()
    unmarked.removeAll()
    known = nil
  }
}

extension MergedChanges {
  /// Reads a notification's `userInfo`: objects, object IDs or URIs of objects, in sets or arrays.
  ///
  /// Of objects, which may belong to another queue, nothing but the identity is read. What belongs to
  /// another store than the context's is left out; the same file below another coordinator counts as
  /// the same store.
  /// - Parameter source: The context whose objects they are, when there are objects.
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
  /// The row that an object, an ID or a URI names, in this context's store; nil when it is elsewhere.
  fileprivate final func identity(
    naming element: Any, from source: NSManagedObjectContext?
  ) -> FetchedIdentity? {
    switch element {
    case let object as NSManagedObject:
      local(
        object.identity, of: source?.coordinator?.store(at: object.identity.layout.place))
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
    guard let store = origin == nil ? store(at: identity.layout.place) : known else { return nil }
    makeRoom(for: store.place)
    // The same file below another coordinator may be at another place, with a model of its own.
    let layout: EntityLayout
    if identity.layout.family === family {
      layout = identity.layout.at(store.place)
    } else {
      guard let name = identity.layout.entity.name, let entity = entityNamed(name) else {
        return nil
      }
      layout = EntityLayout.of(entity).at(store.place)
    }
    return FetchedIdentity(layout: layout, primaryKey: identity.primaryKey)
  }
}
