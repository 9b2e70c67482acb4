import ManagedModel
import ProfileEvents

// What a child context reads from its parent.

extension NSManagedObjectContext {
  /// Runs a request on the parent's queue; the parent's events are nested in this context's current
  /// event.
  ///
  /// Returns `nil` if the context has no parent.
  final func askParent<R>(_ request: (NSManagedObjectContext) throws -> R?) rethrows -> R? {
    guard let parent else { return nil }
    blocks.noteParentRequest()
    return try parent.serve {
      try parent.scope.working(for: scope) { try request(parent) }
    }
  }

  /// Returns the parent's current values of an object, retained for the caller; `nil` if the parent
  /// has no such object, or is about to delete it.
  final func parentRow(of object: NSManagedObject) throws -> Row? {
    let identity = object.identity
    return try askParent { parent in
      guard let source = try parent.revivedCounterpart(of: identity) else { return nil }
      return try parent.presentRow(of: source)
    }
  }

  /// Returns the destinations of an object's to-many relationship according to the parent's current
  /// values.
  final func parentDestinations(
    of relationship: NSRelationshipDescription, of object: NSManagedObject
  ) throws -> [FetchedIdentity] {
    let identity = object.identity
    let found = try askParent { parent -> [FetchedIdentity]? in
      guard let source = parent.counterpart(of: identity) else { return nil }
      if source.isFault, try !parent.fulfill(source) { return nil }
      return source.relatedObjects(relationship).filter { !$0.isDeleted }.map(\.identity)
    }
    return found ?? []
  }

  /// Returns this context's object for a child's identity; `nil` if there's none.
  ///
  /// An object with a permanent ID is registered as a fault if necessary. A temporary ID is known
  /// in the context where the object was inserted, in the parents that it was saved to, and in the
  /// contexts that have read it from them.
  final func counterpart(of identity: FetchedIdentity) -> NSManagedObject? {
    let (layout, key) = (identity.layout, identity.primaryKey)
    makeRoom(for: layout.storeIndex)
    if let object = registry.object(rootIndex: layout.rootIndex, key: key) {
      return object.layout === layout && !object.state.contains(.inaccessible) ? object : nil
    }
    if key > 0 { return registered(layout, key) }
    if let permanent = children.permanentKey(for: key) { return registered(layout, permanent) }
    let isKnownAbove = askParent { $0.counterpart(of: identity) != nil } ?? false
    return isKnownAbove ? registered(layout, key) : nil
  }

  /// Returns this context's object for a child's identity, even if its row was lost and
  /// exists again; `nil` if there's none.
  private func revivedCounterpart(of identity: FetchedIdentity) throws -> NSManagedObject? {
    if let object = counterpart(of: identity) { return object }
    let (layout, key) = (identity.layout, identity.primaryKey)
    guard let object = registry.object(rootIndex: layout.rootIndex, key: key),
      object.layout === layout, try revive(object)
    else { return nil }
    return object
  }

  /// Returns an object's current values as a row, retained for the caller; `nil` if it is or will
  /// be deleted.
  private func presentRow(of object: NSManagedObject) throws -> Row? {
    if object.isFault, try !fulfill(object) { return nil }
    guard !object.isDeleted else { return nil }
    let changed = object.changedSlots()
    guard !changed.isEmpty else {
      object.row.retain()
      return object.row
    }
    var builder = RowBuilder(layout: object.layout)
    builder.copy(object.row)
    for slot in changed { builder.set(object.rawValue(slot), at: slot) }
    return builder.finish(version: object.row.version)
  }
}

// Fetches of a child context.

extension NSManagedObjectContext {
  /// Fetches through the parent, and merges this context's unsaved changes into the result.
  final func fetchThroughParent(_ plan: FetchPlan) throws -> [NSManagedObject] {
    try fetchingFromParent(plan) { parent in
      let found = try parent.fetchObjects(self.passedOn(plan))
      let objects = try self.overlay(plan, on: self.take(found, of: plan, from: parent))
      return (objects, objects.count)
    }
  }

  /// Returns the object IDs that the parent fetches.
  final func parentIDs(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
    try fetchingFromParent(plan) { parent in
      var passed = plan
      passed.window = nil
      let ids = try parent.fetchIDs(passed)
      return (ids, ids.count)
    }
  }

  /// Returns the dictionaries that the parent fetches.
  final func parentDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] {
    try fetchingFromParent(plan) { parent in
      let dictionaries = try parent.fetchDictionaries(plan)
      return (dictionaries, dictionaries.count)
    }
  }

  /// Returns the number of objects that the parent counts.
  final func parentCount(_ plan: FetchPlan) throws -> Int {
    try fetchingFromParent(plan) { parent in
      let count = try parent.count(plan)
      return (count, count)
    }
  }

  /// Loads a batch through the parent.
  final func loadBatchThroughParent(
    _ keys: ArraySlice<FetchedIdentity>, _ plan: FetchPlan, unsaved: [Int64: NSManagedObject]
  ) throws -> [NSManagedObject] {
    let mine = Set(unsaved.keys)
    let theirs = keys.filter { !mine.contains($0.primaryKey) }
    let loaded = try askParent { parent -> [NSManagedObject]? in
      var known: [Int64: NSManagedObject] = [:]
      for identity in theirs where identity.primaryKey <= 0 {
        known[identity.primaryKey] = parent.counterpart(of: identity)
      }
      let batch = try parent.loadBatch(theirs[...], self.passedOn(plan), unsaved: known)
      return try self.take(batch, of: plan, from: parent)
    }
    return withExtendedLifetime(loaded) {
      keys.map { unsaved[$0.primaryKey] ?? registered($0.layout, $0.primaryKey) }
    }
  }

  /// Returns a fetch plan for the parent: without batches, and without prefetches unless they are
  /// required; the child applies an offset and a limit after it has merged its changes.
  private func passedOn(_ plan: FetchPlan) -> FetchPlan {
    var passed = plan
    passed.window = nil
    if !prefetchesThroughParent {
      passed.batchSize = 0
      passed.prefetchPaths = []
    }
    return passed
  }

  /// Returns this context's objects for those that the parent fetched, realized if requested.
  private func take(
    _ found: [NSManagedObject], of plan: FetchPlan, from parent: NSManagedObjectContext
  ) throws -> [NSManagedObject] {
    var fresh: [Int: [Int64]] = [:]
    let objects = try found.map { source in
      makeRoom(for: source.layout.storeIndex)
      let (rootIndex, key) = (source.layout.rootIndex, source.primaryKey)
      let known = known(source.layout, key) ?? twin(rootIndex: rootIndex, key: key)
      let object = known ?? makeFault(source.layout, source.primaryKey)
      if known == nil, source.primaryKey > 0 {
        fresh[source.layout.storeIndex, default: []].append(source.primaryKey)
      }
      if let prefetched = source.prefetched, !plan.prefetchPaths.isEmpty {
        object.prefetched = object.prefetched.map { $0.joined(with: prefetched) } ?? prefetched
      }
      if object.isFault {
        if !plan.returnsObjectsAsFaults, let row = try parent.presentRow(of: source) {
          object.turnIntoFault()
          object.fulfill(with: row)
        }
      } else if object.state.contains(.inaccessible) {
        if let row = try parent.presentRow(of: source) { revive(object, with: row) }
      } else if plan.refreshes, plan.includesPropertyValues,
        let row = try parent.presentRow(of: source)
      {
        refresh(object, with: row)
      }
      return object
    }
    for (storeIndex, keys) in fresh {
      guard let layout = found.first(where: { $0.layout.storeIndex == storeIndex })?.layout else {
        continue
      }
      store(at: storeIndex)?.addOwner(rootIndex: layout.rootIndex, keys: keys)
    }
    return objects
  }

  /// Creates a fault for a row that isn't registered; the caller adds its owner to the row cache.
  private func makeFault(_ layout: EntityLayout, _ key: Int64) -> NSManagedObject {
    let object = layout.makeObject()
    object.becomeFault(primaryKey: key, in: self)
    registry.add(object)
    return object
  }

  /// Runs one fetch in the parent, then counts and reports it if it succeeded.
  ///
  /// - Parameter body: Returns the result and the number of rows to report.
  private func fetchingFromParent<R>(
    _ plan: FetchPlan, _ body: (NSManagedObjectContext) throws -> (result: R, rows: Int)
  ) throws -> R {
    let event = scope.begin(.fetch)
    sweepBeforeLoad()
    do {
      guard let (result, rows) = try askParent(body) else {
        fatalError("a context without a parent can't fetch from it")
      }
      scope.counters.fetches += 1
      scope.end(event) { event in
        event.entity = plan.entityName
        event.rows = rows
      }
      return result
    } catch {
      scope.fail(event, error) { $0.entity = plan.entityName }
      throw error
    }
  }
}

// How a child's save reaches its parent.

extension NSManagedObjectContext {
  /// Applies this child's changes to the parent, overwriting any changes the parent has made since.
  ///
  /// No statements. New objects keep their temporary IDs, under which the parent registers them
  /// too.
  /// - Throws: 133000 if an updated object no longer exists in the parent or will be deleted there;
  ///   the parent is unchanged then.
  final func push(_ plan: SavePlan) throws {
    guard let parent else { return }
    try parent.performAndWait {
      try parent.scope.working(for: scope) { try parent.take(plan) }
    }
    let rows =
      try plan.written.isEmpty ? [] : requiredCoordinator.anyStore().newRows(of: plan.written)
    for (object, row) in zip(plan.written, rows) { object.adopt(saved: row) }
    for object in plan.deleted { detach(object) }
  }

  /// Applies a child's changes to this context.
  ///
  /// The child waits, so its objects may be read here.
  private func take(_ plan: SavePlan) throws {
    var updated: [NSManagedObject] = []
    for object in plan.updated {
      guard let mine = counterpart(of: object.identity), !mine.isDeleted,
        try !mine.isFault || fulfill(mine)
      else { throw NSError.missingObject(object.objectID) }
      updated.append(mine)
    }
    let inserted = plan.inserted.map { insertCounterpart(of: $0) }
    for (object, mine) in zip(plan.written, inserted + updated) { mine.take(from: object) }
    for object in plan.deleted {
      if let mine = counterpart(of: object.identity) { markForDeletion(mine) }
    }
    processPendingChanges()
  }

  /// Creates the counterpart of an object that was inserted in a child, with the same key.
  ///
  /// An object that was registered with its permanent ID before, without a row, becomes the
  /// counterpart.
  private func insertCounterpart(of object: NSManagedObject) -> NSManagedObject {
    makeRoom(for: object.layout.storeIndex)
    if let known = known(object.layout, object.primaryKey) {
      known.state.remove(.inaccessible)
      known.fulfillWithDefaults()
      changes.deleted.remove(known)
      changes.eventDeleted.remove(known)
      changes.mergedDeletions.removeAll { $0 === known }
      noteInsertion(of: known)
      return known
    }
    let mine = object.layout.makeObject()
    mine.context = self
    mine.primaryKey = object.primaryKey
    registry.add(mine)
    if mine.primaryKey > 0 {
      store(for: mine)?.addOwner(
        rootIndex: mine.layout.rootIndex, keys: CollectionOfOne(mine.primaryKey))
    }
    noteInsertion(of: mine)
    return mine
  }
}

extension NSManagedObject {
  /// Applies the changes of a child's object; inverse relationships are updated.
  fileprivate final func take(from object: NSManagedObject) {
    if object.state.contains(.transientOnly) { noteTransientChange() } else { noteChange() }
    takeTransients(from: object)
    let slots = object.isInserted ? layout.slots : object.changedSlots()
    for slot in slots {
      if slot.kind.isToOne {
        setDestination(counterpart(of: object.destination(slot)), slot)
      } else {
        change(.raw(object.rawValue(slot)), at: slot.index)
      }
    }
    for (index, relationship) in layout.toMany.enumerated() {
      let position = layout.valueIndex(.toMany(index))
      if relationship.isOrdered, case .toMany(let changed)? = object.values?[position],
        changed.hasChanges, let list = changed.list
      {
        // Inverses record the objects that were added and removed.
        storeDestinations(ordered(relationship, as: list, changed), relationship)
        continue
      }
      // If the inverse is a to-one, it was changed as well, and this side is updated from it.
      guard relationship.inverseRelationship?.isToMany != false,
        case .toMany(let changed)? = object.values?[position], changed.hasChanges
      else { continue }
      let value = toManyValue(at: position)
      for destination in changed.removed.compactMap({ counterpart(of: $0) }) {
        value.remove(destination)
      }
      for destination in changed.added where !destination.isDeleted {
        if let mine = counterpart(of: destination) { value.insert(mine) }
      }
    }
  }

  /// Returns the destinations of an ordered relationship in the order of a child's list.
  ///
  /// What this context has added since the child read the relationship stays, at the end, and what
  /// it has removed isn't added again: their inverses aren't the child's changes.
  private func ordered(
    _ relationship: NSRelationshipDescription, as list: [NSManagedObject], _ changed: ToManyValue
  ) -> [NSManagedObject] {
    let present = relatedObjects(relationship)
    let known = Set(present)
    let order = list.filter { !$0.isDeleted }.compactMap { destination -> NSManagedObject? in
      guard let mine = counterpart(of: destination) else { return nil }
      return known.contains(mine) || changed.added.contains(destination) ? mine : nil
    }
    let gone = changed.removed.union(list.filter(\.isDeleted)).compactMap { counterpart(of: $0) }
    let settled = Set(order + gone)
    return order + present.filter { !settled.contains($0) }
  }

  /// Applies the transient properties that were set in the child since its last save.
  private func takeTransients(from object: NSManagedObject) {
    guard let values = object.values else { return }
    for index in layout.transients.indices {
      let position = layout.valueIndex(.transient(index))
      guard values.isChanged(position) else { continue }
      if let destination = object.cachedValue(.transient(index)) as? NSManagedObject {
        setTransient(counterpart(of: destination), at: index)
      } else {
        storage.change(values[position], at: position)
      }
    }
  }

  private func counterpart(of destination: NSManagedObject?) -> NSManagedObject? {
    guard let destination, let context else { return nil }
    return context.counterpart(of: destination.identity)
  }
}
