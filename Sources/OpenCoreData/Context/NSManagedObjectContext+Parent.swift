import ManagedModel
import ProfileEvents

// What a child reads from its parent.

extension NSManagedObjectContext {
  /// Asks the parent, on its queue; its events lie inside the present one of this context.
  ///
  /// Nil without a parent, which is a root's.
  final func askParent<R>(_ request: (NSManagedObjectContext) throws -> R?) rethrows -> R? {
    guard let parent else { return nil }
    hasAskedParent = true
    return try parent.serve {
      try parent.scope.working(for: scope) { try request(parent) }
    }
  }

  /// The parent's present values of an object, with a count for the caller; nil when the parent knows
  /// no such object, or one that it is going to delete.
  final func parentRow(of object: NSManagedObject) throws -> Row? {
    let identity = object.identity
    return try askParent { parent in
      guard let source = parent.counterpart(of: identity) else { return nil }
      return try parent.presentRow(of: source)
    }
  }

  /// Where a to-many of an object leads by the parent's present values.
  final func parentDestinations(
    of relationship: NSRelationshipDescription, of object: NSManagedObject
  ) throws -> [FetchedIdentity] {
    let identity = object.identity
    let found = try askParent { parent -> [FetchedIdentity]? in
      guard let source = parent.counterpart(of: identity) else { return nil }
      if source.isFault, try !parent.fill(source) { return nil }
      return source.relatedObjects(relationship).filter { !$0.isDeleted }.map(\.identity)
    }
    return found ?? []
  }

  /// The object by which this context knows what a child of it knows by that key; nil when there is
  /// none.
  ///
  /// An object with a permanent key comes as a fault when it is not registered. A temporary key is
  /// known to the context where the object was inserted, to those above that it was saved to, and to
  /// those that have read it from them.
  final func counterpart(of identity: FetchedIdentity) -> NSManagedObject? {
    let (layout, key) = (identity.layout, identity.primaryKey)
    makeRoom(for: layout.place)
    if let object = registry.object(rootIndex: layout.rootIndex, key: key) {
      return object.layout === layout && !object.state.contains(.inaccessible) ? object : nil
    }
    if key > 0 { return registered(layout, key) }
    if let permanent = promotedKeys[key] { return registered(layout, permanent) }
    let isKnownAbove = askParent { $0.counterpart(of: identity) != nil } ?? false
    return isKnownAbove ? registered(layout, key) : nil
  }

  /// What an object holds now as a row, with a count for the caller; nil when it is gone or going.
  private func presentRow(of object: NSManagedObject) throws -> Row? {
    if object.isFault, try !fill(object) { return nil }
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

// Fetches of a child.

extension NSManagedObjectContext {
  /// Has the parent fetch, and lays this context's changes over the result.
  final func fetchThroughParent(_ plan: FetchPlan) throws -> [NSManagedObject] {
    try fetchingFromParent(plan) { parent in
      let found = try parent.fetchObjects(self.passedOn(plan))
      let objects = try self.overlay(plan, on: self.take(found, of: plan, from: parent))
      return (objects, objects.count)
    }
  }

  /// The IDs that the parent gives.
  final func parentIDs(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
    try fetchingFromParent(plan) { parent in
      let ids = try parent.fetchIDs(plan)
      return (ids, ids.count)
    }
  }

  /// The dictionaries that the parent gives.
  final func parentDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] {
    try fetchingFromParent(plan) { parent in
      let dictionaries = try parent.fetchDictionaries(plan)
      return (dictionaries, dictionaries.count)
    }
  }

  /// The number of objects that the parent counts.
  final func parentCount(_ plan: FetchPlan) throws -> Int {
    try fetchingFromParent(plan) { parent in
      let count = try parent.count(plan)
      return (count, count)
    }
  }

  /// Has the parent load a page.
  final func loadPageThroughParent(
    _ keys: ArraySlice<FetchedIdentity>, _ plan: FetchPlan, unsaved: [Int64: NSManagedObject]
  ) throws -> [NSManagedObject] {
    let event = scope.begin(.batchLoad)
    defer {
      scope.end(event) { event in
        event.entity = plan.entityName
        event.rows = keys.count
      }
    }
    sweepBeforeLoad()
    let mine = Set(unsaved.keys)
    let theirs = keys.filter { !mine.contains($0.primaryKey) }
    let loaded = try askParent { parent -> [NSManagedObject]? in
      var held: [Int64: NSManagedObject] = [:]
      for identity in theirs where identity.primaryKey <= 0 {
        held[identity.primaryKey] = parent.counterpart(of: identity)
      }
      let page = try parent.loadPage(theirs[...], self.passedOn(plan), unsaved: held)
      return try self.take(page, of: plan, from: parent)
    }
    return withExtendedLifetime(loaded) {
      keys.map { unsaved[$0.primaryKey] ?? registered($0.layout, $0.primaryKey) }
    }
  }

  /// A fetch as the parent is asked for it: without batches, and without prefetches unless they are
  /// wanted.
  private func passedOn(_ plan: FetchPlan) -> FetchPlan {
    var passed = plan
    if !prefetchesThroughParent {
      passed.batchSize = 0
      passed.prefetchPaths = []
    }
    return passed
  }

  /// The objects of this context for those that the parent has found, filled when asked for.
  private func take(
    _ found: [NSManagedObject], of plan: FetchPlan, from parent: NSManagedObjectContext
  ) throws -> [NSManagedObject] {
    var fresh: [Int: [Int64]] = [:]
    let objects = try found.map { source in
      makeRoom(for: source.layout.place)
      let known = registry.object(rootIndex: source.layout.rootIndex, key: source.primaryKey)
      let object = known ?? makeFault(source.layout, source.primaryKey)
      if known == nil, source.primaryKey > 0 {
        fresh[source.layout.place, default: []].append(source.primaryKey)
      }
      if let prefetched = source.prefetched, !plan.prefetchPaths.isEmpty {
        object.prefetched = object.prefetched.map { $0.joined(with: prefetched) } ?? prefetched
      }
      let isStale = plan.refreshes && !object.hasChanges
      if !plan.returnsObjectsAsFaults, object.isFault || isStale,
        let row = try parent.presentRow(of: source)
      {
        object.turnIntoFault()
        object.fill(with: row)
      } else if isStale {
        object.turnIntoFault()
      }
      return object
    }
    for (place, keys) in fresh {
      guard let layout = found.first(where: { $0.layout.place == place })?.layout else { continue }
      store(at: place)?.own(rootIndex: layout.rootIndex, keys: keys)
    }
    return objects
  }

  /// A fault of a row that is not registered yet; the caller adds its owner to the row cache.
  private func makeFault(_ layout: EntityLayout, _ key: Int64) -> NSManagedObject {
    let object = layout.makeObject()
    object.becomeFault(primaryKey: key, in: self)
    registry.add(object)
    return object
  }

  /// Runs one fetch in the parent: counts it and tells it once it has succeeded.
  ///
  /// - Parameter body: Gives the result and the number of rows to tell.
  private func fetchingFromParent<R>(
    _ plan: FetchPlan, _ body: (NSManagedObjectContext) throws -> (result: R, rows: Int)
  ) throws -> R {
    let event = scope.begin(.fetch)
    sweepBeforeLoad()
    do {
      guard let (result, rows) = try askParent(body) else {
        preconditionFailure("a context without a parent asked it for a fetch")
      }
      scope.counters.fetches += 1
      scope.end(event) { event in
        event.entity = plan.entityName
        event.rows = rows
      }
      return result
    } catch {
      scope.abandon(event)
      throw error
    }
  }
}
