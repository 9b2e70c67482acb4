import ManagedModel
import ProfileEvents

/// The superclass of a store that reads and writes its data on demand: from a server, a database,
/// or a file.
///
/// A subclass overrides `loadMetadata()`, `execute(_:with:)`, `newValuesForObject(with:with:)`,
/// `newValue(forRelationship:forObjectWith:with:)`, and `obtainPermanentIDs(for:)`, and is
/// registered with `NSPersistentStoreCoordinator.registerStoreClass(_:type:)`. Object IDs are
/// created from the store's own reference objects: `newObjectID(for:referenceObject:)`.
///
/// The framework calls it for one context at a time, on the context's queue; a call can be nested
/// in another one on the same thread. The row cache keeps each node while a context has the object
/// registered, until the object is saved or the context's staleness interval has passed. Saved rows
/// are read again, unless the store updates the node. Apple counterpart: the same.
open class NSIncrementalStore: CachingStore, CustomStore, @unchecked Sendable {
  // `saved`, `call`, and `missing` are used under `callLock`
  let callLock = NSRecursiveLock()
  /// The framework's call that the store executes; `nil` outside of calls.
  var call: StoreCall?
  private let references: ObjectReferences
  /// The layouts of root entities, or of any entity below, by root index.
  private let roots: [Int: EntityLayout]
  /// What the store has reported since the innermost save began; `nil` while none is running.
  var saved: SavedNodes?

  /// The last object that the store didn't have, and its error.
  private var missing: (id: NSManagedObjectID, error: NSError)?

  /// Creates the store; called by the coordinator when a store of the registered type is added.
  ///
  /// An override calls super first. `metadata` and the data are loaded later.
  public required init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?,
    at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    let opening = CustomStoreOpening.current
    references = ObjectReferences()
    let layouts =
      root.map {
        MemoryStore.layouts(
          of: $0.managedObjectModel, configuration: name, storeIndex: opening.storeIndex)
      } ?? StoreLayouts([], of: nil, storeIndex: opening.storeIndex)
    roots = Dictionary(
      layouts.byName.values.map { ($0.rootIndex, $0) },
      uniquingKeysWith: { $0.entity.superentity == nil ? $0 : $1 })
    super.init(
      layouts: layouts, type: opening.type, url: url, identifier: "", configuration: name,
      isReadOnly: options.isSet(NSReadOnlyPersistentStoreOption), options: options,
      metadata: [:], references: references, isIncremental: true)
    persistentStoreCoordinator = root
    if let root { handle.join(root) }
  }

  /// The metadata: at least `NSStoreUUIDKey` and `NSStoreTypeKey`, set by `loadMetadata()`.
  open override var metadata: [String: Any] {
    get { super.metadata }
    set { adopt(metadata: newValue) }
  }

  // MARK: What a subclass overrides

  /// Sets `metadata`, before any other call; an error fails the addition of the store.
  ///
  /// `NSStoreUUIDKey` is the identifier in the URIs of objects, so it must be the same each time.
  /// With `NSStoreModelVersionHashesKey`, the model is compared.
  open override func loadMetadata() throws {
    throw missing("loadMetadata()")
  }

  /// Executes a request and returns its result.
  ///
  /// - Parameters:
  ///   - request: An `NSFetchRequest<any NSFetchRequestResult>`, whose result type determines the
  ///     result; an `NSSaveChangesRequest`, after `obtainPermanentIDs(for:)`, or without objects to
  ///     save `metadata` that was set; a batch request, or one of the program's own.
  ///   - context: The context to create objects in, with `object(with:)`; below a child, its
  ///     parent.
  /// - Returns: For a fetch, an array of `NSManagedObject`, `NSManagedObjectID`, or
  ///   `[String: Any]`, in the request's order and within its limits, or of one number for a count.
  ///   Instead of an array of objects, it can be `IncrementalStoreRows`. For a save, an empty
  ///   array. For a batch request, the value of its result type. For any other request, an
  ///   `NSPersistentStoreResult`.
  /// - Throws: Any error, which fails the fetch or the save. A save whose objects were changed by
  ///   others throws 133020 with `NSMergeConflict`s, and 133021 with `NSConstraintConflict`s for
  ///   duplicate values, under `NSPersistentStoreSaveConflictsErrorKey`: the merge policy resolves
  ///   them, and the request is made again.
  open func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    throw missing("execute(_:with:)")
  }

  /// Returns the values of an object: a fault fired, and the row cache doesn't have them.
  ///
  /// - Throws: 133000 if the object no longer exists: the fault is inaccessible then, and becomes
  ///   deleted.
  open func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    throw missing("newValuesForObject(with:with:)")
  }

  /// Returns the destinations of a relationship that the object's node doesn't have.
  ///
  /// - Returns: For a to-one, an `NSManagedObjectID` or `NSNull`; for a to-many, an array or a set
  ///   of `NSManagedObjectID`s, in order if the relationship is ordered.
  open func newValue(
    forRelationship relationship: NSRelationshipDescription,
    forObjectWith objectID: NSManagedObjectID, with context: NSManagedObjectContext?
  ) throws -> Any {
    throw missing("newValue(forRelationship:forObjectWith:with:)")
  }

  /// Returns permanent IDs for new objects, in their order, before a save or on request.
  ///
  /// Create each with `newObjectID(for:referenceObject:)`.
  open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    throw missing("obtainPermanentIDs(for:)")
  }

  /// Called after a context has registered objects, whose data the store can then keep.
  ///
  /// Balanced by `managedObjectContextDidUnregisterObjects(with:)` for each context. Does nothing
  /// by default.
  open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// Called after a context has deregistered objects.
  ///
  /// Contexts release unused objects at the end of a `perform` block. Does nothing by default.
  open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// Whether the store is notified of the objects that contexts register; true by default.
  ///
  /// A store that keeps nothing for them overrides it, which avoids creating an object ID for each.
  /// Apple counterpart: none.
  open class var observesRegistrations: Bool { true }

  /// Returns the identifier of a store whose metadata has no `NSStoreUUIDKey`; a new UUID by
  /// default.
  open class func identifierForNewStore(at storeURL: URL) -> Any {
    UUID().uuidString
  }

  /// Whether the store reports its statements and round trips with `report(_:)` and
  /// `reportRoundTrips(_:)`; false by default.
  ///
  /// For a store that doesn't, each call that reads, saves, or obtains IDs is counted as a round
  /// trip.
  open class var reportsStatements: Bool { false }

  /// Whether the store reads the values of several objects together, in
  /// `prepareValues(forObjectsWith:with:)`; false by default.
  ///
  /// The framework then loads the batches of a fetch, as it does for a SQLite store. Otherwise the
  /// objects of a batch are faults.
  open class var loadsBatches: Bool { false }

  /// Called before the values of several objects are requested individually, such as those of a
  /// batch: the store can read them together, and keep them until then.
  ///
  /// Does nothing by default, and is called only if `loadsBatches` is true.
  open func prepareValues(
    forObjectsWith objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
  ) throws {}

  // MARK: Object IDs

  /// Returns the ID of an object of this store.
  ///
  /// The same reference object of an entity, or of its superentity, always yields an equal ID.
  ///
  /// - Parameters:
  ///   - entity: The object's entity.
  ///   - data: A string or an integer, from which the URI is made; a string of digits is an integer
  ///     when it's read from a URI, so give such strings a prefix.
  public final func newObjectID(
    for entity: NSEntityDescription, referenceObject data: Any
  ) -> NSManagedObjectID {
    let layout = EntityLayout.of(entity).at(storeIndex)
    return NSManagedObjectID(
      layout: layout, primaryKey: references.key(for: data, layout), store: self)
  }

  /// Returns the reference object that an ID of this store was created from; an integer as an
  /// `NSNumber`.
  public final func referenceObject(for objectID: NSManagedObjectID) -> Any {
    guard objectID.handle === handle else {
      fatalError("\(objectID) isn't an object ID of this store")
    }
    return references.object(for: RowKey(objectID.identity))
  }

  /// Returns the reference object that an ID of this store was created from if it's an integer,
  /// without a box; `nil` for others.
  ///
  /// Apple counterpart: none.
  public final func integerReferenceObject(for objectID: NSManagedObjectID) -> Int64? {
    let key = objectID.primaryKey
    guard objectID.handle === handle, key > 0, key < ObjectReferences.firstKey else {
      return (referenceObject(for: objectID) as? NSNumber)?.int64Value
    }
    return key
  }

  /// Returns the key for an integer reference object.
  final func key(of referenceObject: Int64, _ layout: EntityLayout) -> Int64 {
    references.key(ofInteger: referenceObject, layout)
  }

  private func missing(_ method: String) -> NSError {
    NSError.store("\(Swift.type(of: self)) must override \(method) of NSIncrementalStore.")
  }

  // MARK: Calls

  /// Calls the store, while no other thread does.
  ///
  /// - Parameters:
  ///   - scope: That of the context that causes the call, to which the store's reports belong.
  ///   - owner: What keeps the rows that the store prefetches, for a fetch of objects.
  /// - Throws: 134070 if the store was removed; the store's own errors.
  final func calling<R>(
    in scope: ProfileScope, prefetching owner: PrefetchedRows? = nil, _ body: () throws -> R
  ) throws -> R {
    callLock.lock()
    defer { callLock.unlock() }
    guard !isRemoved else { throw NSError.removedStore(self) }
    let outer = call
    call = StoreCall(scope: scope, prefetched: owner)
    let begin = Self.reportsStatements || !scope.demand.isListening ? 0 : MonotonicClock.now()
    defer {
      // A transaction whose end wasn't reported isn't counted.
      scope.abandon(call?.transaction)
      call = outer
      if !Self.reportsStatements { emitCall(since: begin, in: scope) }
    }
    return try body()
  }

  /// Keeps the error of an object that the store doesn't have, for the caller that needs it.
  final func noteMissing(_ id: NSManagedObjectID, _ error: NSError) {
    callLock.lock()
    defer { callLock.unlock() }
    missing = (id, error)
  }

  override func missingObjectError(_ objectID: NSManagedObjectID) -> NSError? {
    callLock.lock()
    defer { callLock.unlock() }
    return missing.flatMap { $0.id.isEqual(objectID) ? $0.error : nil }
  }

  override func withoutSaves<R>(_ body: () throws -> R) rethrows -> R {
    try callLock.withLock(body)
  }

  /// Runs a save, and returns what the store has reported in it, apart from what it reports in
  /// another one meanwhile.
  ///
  /// Throws 134070 if a copy of the store is to replace it.
  /// - Parameter count: The number of objects that it writes.
  final func saving(
    _ count: Int = 0, in scope: ProfileScope, _ body: () throws -> Void
  ) throws -> SavedNodes {
    try calling(in: scope) {
      try checkIsNotMoving()
      var empty = SavedNodes()
      empty.versions.reserveCapacity(count)
      let outer = saved
      saved = empty
      defer { saved = outer }
      try body()
      return saved ?? SavedNodes()
    }
  }

  /// Adds the new values of a node to the row cache; during a save, after it has succeeded.
  final func nodeDidUpdate(_ node: NSIncrementalStoreNode) {
    callLock.lock()
    defer { callLock.unlock() }
    guard saved == nil else {
      saved?.nodes[RowKey(node.objectID.identity)] = node
      return
    }
    cacheValues(of: node)
  }

  /// Adds the values of a node to the row cache.
  final func cacheValues(of node: NSIncrementalStoreNode) {
    callLock.lock()
    defer { callLock.unlock() }
    let layout = node.objectID.layout
    // A row that can't be created is read again when it's needed.
    let row = try? IncrementalRow(node, layout, of: self) { relationship in
      throw NSError.store("The node of \(node.objectID) has no '\(relationship.name)'.")
    }
    discard([node.objectID.identity])
    guard let row else { return }
    let commit = commitNumber
    remember(row, commit: commit)
    install(row.fetched, commit: commit).release()
  }

  /// Caches the to-many relationships that a node has, for its version.
  final func remember(_ row: IncrementalRow, commit: UInt64) {
    guard !row.links.isEmpty else { return }
    let owner = row.fetched.identity
    let timestamp = Date.timeIntervalSinceReferenceDate
    withShared { shared in
      let (rootIndex, key) = (owner.layout.rootIndex, owner.primaryKey)
      guard commitNumber == commit, shared.rows.hasEntry(rootIndex: rootIndex, key: key) else {
        return
      }
      for (name, destinations) in row.links {
        shared.toMany.install(
          ToManyCache.Entry(
            destinations: LinkedRows(destinations), commit: commit,
            version: row.fetched.row.version,
            timestamp: timestamp),
          for: ToManyKey(rootIndex: rootIndex, primaryKey: key, relationship: name))
      }
    }
  }

  /// Removes rows from the row cache, with their relationships.
  final func discard(_ identities: [FetchedIdentity]) {
    let commit = commitNumber
    withShared { shared in
      for identity in identities {
        let (rootIndex, key) = (identity.layout.rootIndex, identity.primaryKey)
        shared.rows.forget(rootIndex: rootIndex, key: key, commit: commit)
        shared.toMany.forget(rootIndex: rootIndex, key: key)
      }
    }
  }

  /// Returns the identity of an object whose entity is a given one or a subentity.
  final func identity(of key: Int64, _ layout: EntityLayout) -> FetchedIdentity {
    let key = RowKey(rootIndex: layout.rootIndex, primaryKey: key)
    let concrete = references.layout(of: key, root: layout)
    return FetchedIdentity(
      layout: concrete.entity.isKind(of: layout.entity) ? concrete : layout,
      primaryKey: key.primaryKey)
  }

  override func didRegister(rootIndex: Int, keys: [Int64]) {
    guard Swift.type(of: self).observesRegistrations else { return }
    notify(rootIndex, keys) { managedObjectContextDidRegisterObjects(with: $0) }
  }

  override func didUnregister(rootIndex: Int, keys: [Int64]) {
    guard Swift.type(of: self).observesRegistrations else { return }
    notify(rootIndex, keys) { managedObjectContextDidUnregisterObjects(with: $0) }
  }

  private func notify(_ rootIndex: Int, _ keys: [Int64], _ call: ([NSManagedObjectID]) -> Void) {
    guard !keys.isEmpty, let root = roots[rootIndex] else { return }
    let ids = keys.map { key in
      let key = RowKey(rootIndex: rootIndex, primaryKey: key)
      return NSManagedObjectID(
        layout: references.layout(of: key, root: root), primaryKey: key.primaryKey, store: self)
    }
    callLock.lock()
    defer { callLock.unlock() }
    call(ids)
  }
}
