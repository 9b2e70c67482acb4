import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Fulfills a fault that was fired.
  ///
  /// A fault whose row doesn't exist becomes deleted, or stops with a fatal error. One
  /// whose row can't be read stays a fault with `nil` values: the next access reads again. One
  /// whose SELECT was interrupted is fulfilled with default values.
  final func fire(_ object: NSManagedObject) {
    do {
      if try fulfill(object) { return }
    } catch {
      noteFailure(error, "a fault for \(object.objectID) couldn't be fulfilled")
      if faultFailures.noteInterruption(of: object) {
        object.fulfillWithDefaults()
      } else {
        object.remainFault()
      }
      return
    }
    guard shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: nil)
    else {
      fatalError(
        "could not fulfill a fault for \(object.objectID): its row no longer exists")
    }
    object.becomeInaccessible()
    changes.eventDeleted.insert(object)
    scheduleProcessing()
  }

  /// Turns the objects whose SELECTs were interrupted back into faults.
  ///
  /// The caller that interrupts statements calls it after the work that read them has ended, on the
  /// context's queue. Values read from these objects in between are defaults and must not be used.
  package final func revertInterruptedFaults() {
    for object in faultFailures.takeInterrupted() { object.revertToFault() }
  }

  /// Counts a fault whose row is retained by the object: a row-cache hit.
  ///
  /// Changes no reference count: `NSManagedObject.willAccess` calls it without retaining the
  /// context.
  /// - Returns: `false` if more is required: events to emit, a staleness interval to apply, or a
  ///   parent or query generation to query.
  @inline(__always)
  final func countCachedHitIfPossible() -> Bool {
    guard acceptsAnyAge, reads.direct != nil, !scope.demand.isListening else { return false }
    scope.counters.objectFaultHits += 1
    return true
  }

  /// Fulfills a fault from the row cache or the store: one object fault, reported and counted.
  /// - Returns: `false` if the row doesn't exist.
  final func fulfill(_ object: NSManagedObject) throws -> Bool {
    if object.isInserted {
      // A new object that was refreshed has no row.
      object.fulfillWithDefaults()
      return true
    }
    guard let store = reads.direct else { return try fulfillIndirectly(object) }
    return try fulfill(object, from: store)
  }

  @inline(__always)
  private func fulfill(_ object: NSManagedObject, from store: RowStore) throws -> Bool {
    guard let event = scope.begin(.objectFault) else {
      return try fulfill(object, from: store, reporting: nil)
    }
    return try fulfill(object, from: store, in: event)
  }

  /// Fulfills a fault while there's a sink: apart from the usual case, which is faster by itself.
  @inline(never)
  private func fulfill(
    _ object: NSManagedObject, from store: RowStore, in event: OpenEvent
  ) throws -> Bool {
    try fulfill(object, from: store, reporting: FaultReport(event, of: object, in: store))
  }

  @inline(__always)
  private func fulfill(
    _ object: NSManagedObject, from store: RowStore, reporting report: FaultReport?
  ) throws -> Bool {
    var source = FaultSource.rowCache
    if acceptsAnyAge, object.hasCachedRow {
      emitCacheLookup(true, for: report)
      countFault(report, found: true, from: source)
      object.finishFulfillment()
      return true
    }
    var row = cachedRow(of: object, in: store, notBefore: oldestAccepted)
    emitCacheLookup(row != nil, for: report)
    if row == nil {
      source = .database
      do {
        row = try storedRow(of: object, in: store)
      } catch {
        scope.abandon(report?.event)
        throw error
      }
    }
    return finish(report, of: object, with: row, from: source)
  }

  /// Fulfills a fault of a child or pinned context, of one of several stores, or the first one of
  /// another store.
  private func fulfillIndirectly(_ object: NSManagedObject) throws -> Bool {
    let store = store(for: object.layout)
    let isChild = parent != nil
    guard isChild || reads.pin != nil else {
      reads.readDirectly(store)
      return try fulfill(object, from: store)
    }
    let report = scope.begin(.objectFault).map { FaultReport($0, of: object, in: store) }
    do {
      if isChild {
        let row = try parentRow(of: object)
        return finish(report, of: object, with: row, from: .parent)
      }
      let known = try pinnedRow(of: object, in: store)
      emitCacheLookup(known != nil, for: report)
      let row = try known ?? storedRow(of: object, in: store)
      return finish(report, of: object, with: row, from: known == nil ? .database : .rowCache)
    } catch {
      scope.abandon(report?.event)
      throw error
    }
  }

  /// Counts and reports an object fault, and fulfills it with a row.
  @inline(__always)
  private func finish(
    _ report: FaultReport?, of object: NSManagedObject, with row: Row?, from source: FaultSource
  ) -> Bool {
    countFault(report, found: row != nil, from: source)
    guard let row else { return false }
    object.fulfill(with: row)
    return true
  }

  @inline(__always)
  private func countFault(_ report: FaultReport?, found: Bool, from source: FaultSource) {
    switch source {
    case .rowCache: scope.counters.objectFaultHits += 1
    case .database: scope.counters.objectFaultMisses += 1
    case .parent: scope.counters.objectFaultsFromParent += 1
    }
    guard let report else { return }
    scope.end(report.event) { event in
      event.object = report.object
      event.source = source
      event.rows = found ? 1 : 0
    }
  }

  /// Fulfills a to-many relationship: its primary keys from the row cache or the store, its objects
  /// as faults.
  ///
  /// One relationship fault. A relationship that can't be read stays a fault and reads as empty.
  final func fireRelationship(
    _ relationship: NSRelationshipDescription, of object: NSManagedObject, into value: ToManyValue
  ) {
    do {
      value.fill(try destinations(of: relationship, of: object))
    } catch {
      noteFailure(error, "'\(relationship.name)' of \(object.objectID) couldn't be read")
    }
  }

  /// Records the error of a read that can't throw, and prints it to stderr unless the read was
  /// interrupted.
  final func noteFailure(_ error: any Error, _ what: String) {
    let error = NSError.from(error, store: firstStore)
    faultFailures.last = error
    if error.isInterruptedStatement { return }
    SQLDebugLog.writeToStandardError("CoreData: error: \(what): \(error.localizedDescription)")
  }

  /// The oldest timestamp that an entry of the row cache may have.
  final var oldestAccepted: Double {
    if stalenessInterval < 0 { return -.infinity }
    return Date.timeIntervalSinceReferenceDate - stalenessInterval
  }

  /// Returns the object IDs of a to-many relationship's destinations in the store: one relationship
  /// fault, no objects.
  ///
  /// Empty if the relationship can't be read.
  final func destinationIDs(
    of relationship: NSRelationshipDescription, of object: NSManagedObject
  ) -> [NSManagedObjectID] {
    let store = store(for: object.layout)
    do {
      return try destinationIdentities(of: relationship, of: object).map {
        NSManagedObjectID(layout: $0.layout, primaryKey: $0.primaryKey, store: store)
      }
    } catch {
      noteFailure(error, "'\(relationship.name)' of \(object.objectID) couldn't be read")
      return []
    }
  }

  private func destinations(
    of relationship: NSRelationshipDescription, of object: NSManagedObject
  ) throws -> [NSManagedObject] {
    let found = try destinationIdentities(of: relationship, of: object)
    sweepBeforeLoad()
    return found.map { identity in
      known(identity.layout, identity.primaryKey)
        ?? registered(identity.layout, identity.primaryKey)
    }
  }

  private func destinationIdentities(
    of relationship: NSRelationshipDescription, of object: NSManagedObject
  ) throws -> [FetchedIdentity] {
    let store = store(for: object.layout)
    let key = ToManyCache.Key(
      rootIndex: object.layout.rootIndex, primaryKey: object.primaryKey,
      relationship: relationship.name)
    let event = scope.begin(.relationshipFault)
    var source = FaultSource.rowCache
    let found: [FetchedIdentity]
    do {
      if parent != nil {
        source = .parent
        found = try parentDestinations(of: relationship, of: object)
      } else if let cached = try cachedDestinations(key, in: store) {
        found = cached
      } else {
        source = .database
        found = try storedDestinations(of: relationship, of: object, key: key, in: store)
      }
    } catch {
      scope.fail(event, error) { event in
        event.relationship = relationship.name
        event.object = store.reference(object.layout, object.primaryKey)
      }
      throw error
    }
    switch source {
    case .rowCache: scope.counters.relationshipFaultHits += 1
    case .database: scope.counters.relationshipFaultMisses += 1
    case .parent: scope.counters.relationshipFaultsFromParent += 1
    }
    scope.end(event) { event in
      event.relationship = relationship.name
      event.object = store.reference(object.layout, object.primaryKey)
      event.source = source
      event.rows = found.count
    }
    return found
  }

  private func cachedDestinations(
    _ key: ToManyCache.Key, in store: RowStore
  ) throws -> [FetchedIdentity]? {
    if let generation = try reads.generation(of: store, in: requiredCoordinator) {
      return store.withShared { $0.destinations(key, of: generation) }
    }
    let oldest = oldestAccepted
    return store.withShared { shared in
      shared.toMany.destinations(
        key, ownerVersion: shared.rowVersion(rootIndex: key.rootIndex, key: key.primaryKey),
        notBefore: oldest)
    }
  }

  private func storedDestinations(
    of relationship: NSRelationshipDescription, of object: NSManagedObject, key: ToManyCache.Key,
    in store: RowStore
  ) throws -> [FetchedIdentity] {
    return try read(store) { reader in
      var found = try reader.destinations(
        of: relationship, object.identity, in: scope)
      if let destination = relationship.destinationEntity {
        // A corrupt row of another entity in the same table may refer to this owner.
        found.removeAll { !$0.layout.entity.isKind(of: destination) }
      }
      reader.remember(found, for: key)
      return found
    }
  }

  /// Returns the row cache's row, retained for the caller; `nil` if there's none, or if its
  /// entity isn't the object's.
  final func cachedRow(
    of object: NSManagedObject, in store: RowStore, notBefore oldest: Double
  ) -> Row? {
    let (rootIndex, key) = (object.layout.rootIndex, object.primaryKey)
    let found = store.withShared {
      $0.rows.row(rootIndex: rootIndex, key: key, notBefore: oldest)
    }
    guard let found else { return nil }
    guard found.layoutIndex == object.layout.index else {
      found.release()
      return nil
    }
    return found
  }

  /// Reads a row by its primary key and adds it to the row cache; `nil` if it doesn't exist, or if
  /// its entity isn't the object's.
  final func storedRow(of object: NSManagedObject, in store: RowStore) throws -> Row? {
    try read(store) { reader in
      let fetched = try reader.row(object.layout, object.primaryKey, in: scope)
      guard let fetched else { return nil }
      guard fetched.layout === object.layout else {
        fetched.row.release()
        return nil
      }
      return reader.install(fetched)
    }
  }

  /// Emits an event for a look-up in the row cache, at the beginning of the fault's event.
  @inline(__always)
  private func emitCacheLookup(_ found: Bool, for report: FaultReport?) {
    guard let report else { return }
    scope.emit(found ? .rowCacheHit : .rowCacheMiss, at: report.event.begin) { event in
      event.object = report.object
    }
  }
}

/// The event of an object fault that's being fulfilled, and the object for it and its look-up.
private struct FaultReport {
  let event: OpenEvent
  let object: ObjectReference

  init(_ event: OpenEvent, of object: NSManagedObject, in store: RowStore) {
    self.event = event
    self.object = store.reference(object.layout, object.primaryKey)
  }
}

/// The faults of a context that couldn't be fulfilled; they have no caller to throw an error to.
struct FaultFailures {
  /// The last error.
  var last: NSError?
  /// The objects whose SELECTs were interrupted, which have default values.
  private var interrupted: [NSManagedObject] = []

  /// Records the object that the last error concerns, if its SELECT was interrupted.
  ///
  /// - Returns: Whether it was interrupted.
  mutating func noteInterruption(of object: NSManagedObject) -> Bool {
    guard last?.isInterruptedStatement == true else { return false }
    interrupted.append(object)
    return true
  }

  /// Returns the objects whose SELECTs were interrupted since the last call.
  mutating func takeInterrupted() -> [NSManagedObject] {
    defer { interrupted = [] }
    return interrupted
  }
}

extension NSManagedObjectContext {
  /// The last error of a fault that couldn't be fulfilled; such a fault has no caller to throw to.
  ///
  /// The fault stays one with `nil` values, and a to-many relationship reads as empty. Set this
  /// property to `nil` to detect the next error. Use it on the context's queue.
  package final var faultError: NSError? {
    get { faultFailures.last }
    set { faultFailures.last = newValue }
  }
}
