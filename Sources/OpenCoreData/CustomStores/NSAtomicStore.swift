import ManagedModel
import ProfileEvents
import SQLiteDriver
import Synchronization

/// The superclass of a store that reads its data as a whole when it's added, and writes it as a
/// whole with each save.
///
/// A subclass overrides `load()`, `save()`, `newReferenceObject(for:)`, and the class methods for
/// metadata, and is registered with `NSPersistentStoreCoordinator.registerStoreClass(_:type:)`.
/// Each object is a cache node. Fetches, faults, and conflicts are those of an in-memory store:
/// predicates and sort descriptors are evaluated in memory, and don't call the store.
///
/// The framework calls it for one context at a time. Apple counterpart: the same.
open class NSAtomicStore: MemoryStore, CustomStore, @unchecked Sendable {
  // all variables are used under `writing`
  private let references: ObjectReferences
  private var nodes: [RowKey: NSAtomicStoreCacheNode] = [:]
  /// The new nodes of a save, which have no values yet.
  private var unfilled: Set<ObjectIdentifier> = []
  /// The nodes that a failure restores, for each running save, the innermost last.
  private var former: [FormerNodes] = []
  private var isLoaded = false

  /// Creates the store; called by the coordinator when a store of the registered type is added.
  ///
  /// An override calls super first. `metadata` and the data are loaded later.
  public required init(
    persistentStoreCoordinator coordinator: NSPersistentStoreCoordinator?,
    configurationName: String?, at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    let opening = CustomStoreOpening.current
    references = ObjectReferences()
    let layouts =
      coordinator.map {
        MemoryStore.layouts(
          of: $0.managedObjectModel, configuration: configurationName,
          storeIndex: opening.storeIndex)
      } ?? StoreLayouts([], of: nil, storeIndex: opening.storeIndex)
    super.init(
      layouts: layouts, type: opening.type, url: url, identifier: "",
      configuration: configurationName, options: options, metadata: [:],
      tables: MemoryTables(rootCount: layouts.rootCount), lastKeys: [0], references: references)
    persistentStoreCoordinator = coordinator
    if let coordinator { handle.join(coordinator) }
  }

  /// The metadata: at least `NSStoreUUIDKey` and `NSStoreTypeKey`.
  ///
  /// `save()` writes it with the data.
  open override var metadata: [String: Any] {
    get { super.metadata }
    set { adopt(metadata: newValue) }
  }

  // MARK: What a subclass overrides

  /// Sets `metadata`: by default, what `metadataForPersistentStore(with:)` returns for a file that
  /// exists.
  ///
  /// A new store gets a new UUID. Called before `load()`, unless the initializer has set
  /// `metadata`.
  open override func loadMetadata() throws {
    // A file that can't be examined isn't a missing one.
    guard metadata.isEmpty, let url, FileStamp.exists(path: url.path, followsLinks: true) else {
      return
    }
    metadata = try Swift.type(of: self).metadataForPersistentStore(with: url)
  }

  /// Loads the data, and passes it to `addCacheNodes(_:)`; an error fails the addition of the
  /// store.
  ///
  /// The URL may have no file yet. The framework reads all nodes after it has returned.
  open func load() throws {
    throw missing("load()")
  }

  /// Writes all of `cacheNodes()` and `metadata`; an error fails the save, and the nodes are
  /// restored, except those that were added, or saved by another context, in the meantime.
  ///
  /// Called after the nodes were created, updated, and removed.
  open func save() throws {
    throw missing("save()")
  }

  /// Returns the node of a new object, which is added to the store.
  ///
  /// By default, a node whose values are then set by `updateCacheNode(_:from:)`.
  open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
    unfilled.insert(ObjectIdentifier(node))
    return node
  }

  /// Sets the values of a node to those of a changed object.
  ///
  /// By default, all of them; the destinations of relationships are nodes.
  open func updateCacheNode(
    _ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject
  ) {
    let entity = managedObject.entity
    for (name, attribute) in entity.attributesByName where !attribute.isTransient {
      node.setValue(managedObject.value(forKey: name), forKey: name)
    }
    for (name, relationship) in entity.relationshipsByName where !relationship.isTransient {
      let value = managedObject.value(forKey: name)
      switch value {
      case let destination as NSManagedObject:
        node.setValue(cacheNode(for: destination.objectID), forKey: name)
      case let destinations as Set<NSManagedObject>:
        node.setValue(
          Set(destinations.compactMap { cacheNode(for: $0.objectID) }), forKey: name)
      case let destinations as NSOrderedSet:
        let objects = destinations.array.compactMap { $0 as? NSManagedObject }
        node.setValue(objects.compactMap { cacheNode(for: $0.objectID) }, forKey: name)
      default: node.setValue(nil, forKey: name)
      }
    }
  }

  /// Called before nodes of deleted objects are removed; does nothing by default.
  ///
  /// If the save then fails, the nodes are in the store again.
  open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

  /// Returns the reference object of a new object, which no other object has or had: a string or an
  /// integer.
  ///
  /// Called once for each, before a save or when a permanent ID is requested.
  open func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    UUID().uuidString
  }

  // MARK: Nodes

  /// Returns all nodes of the store.
  public final func cacheNodes() -> Set<NSAtomicStoreCacheNode> {
    writing.withLock { Set(nodes.values) }
  }

  /// Adds nodes to the store; in `load()`, or later for data that appeared in the meantime.
  ///
  /// If a later node replaces one, saving an object that was read before is a conflict.
  public final func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
    writing.lock()
    defer { writing.unlock() }
    for node in cacheNodes { nodes[RowKey(node.objectID.identity)] = node }
    keepNodes { cacheNodes.map { RowKey($0.objectID.identity) } }
    guard isLoaded else { return }
    do {
      try put(Array(cacheNodes))
      var changes = MergedChanges()
      changes.updated = cacheNodes.map(\.objectID.identity)
      forget(changes)
    } catch {
      SQLDebugLog.writeToStandardError("CoreData: error: \(error.localizedDescription)")
    }
  }

  /// Returns the node of an object; `nil` if the store has none.
  public final func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? {
    writing.withLock { nodes[RowKey(objectID.identity)] }
  }

  /// Returns the ID of an object of this store.
  ///
  /// The same reference object of an entity, or of its superentity, always yields an equal ID.
  public final func objectID(
    for entity: NSEntityDescription, withReferenceObject data: Any
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

  private func missing(_ method: String) -> NSError {
    NSError.store("\(Swift.type(of: self)) must override \(method) of NSAtomicStore.")
  }

  // MARK: Loading and saving

  func newIdentifier(at url: URL) -> String { UUID().uuidString }

  func loadContents() throws {
    try writing.withLock {
      try load()
      try put(Array(nodes.values))
      isLoaded = true
    }
  }

  /// Writes the rows of nodes to the tables, each with the next version of the row it replaces.
  private func put(_ nodes: [NSAtomicStoreCacheNode]) throws {
    let versions = contents.withLock { contents -> [Int64] in
      var versions: [Int64] = []
      for identity in nodes.map(\.objectID.identity) {
        let replaced = contents.tables.row(identity.layout.rootIndex, identity.primaryKey)
        versions.append((replaced?.row.version ?? 0) &+ 1)
      }
      return versions
    }
    let rows = try zip(nodes, versions).map { try AtomicRow($0, version: $1, of: self) }
    contents.withLock { contents in
      for row in rows { row.put(into: &contents.tables) }
    }
  }

  /// Calls `newReferenceObject(for:)` for each object.
  override func reserveKeys(for objects: [NSManagedObject], in scope: ProfileScope) throws {
    try writing.withLock {
      var used: Set<RowKey> = []
      for object in objects {
        let reference = newReferenceObject(for: object)
        let key = RowKey(
          rootIndex: object.layout.rootIndex,
          primaryKey: references.key(for: reference, object.layout))
        guard nodes[key] == nil, used.insert(key).inserted else {
          throw NSError.store(
            "newReferenceObject(for:) of \(Swift.type(of: self)) returned \(reference) for a new "
              + "'\(object.layout.entityName)', which another object has.")
        }
        object.primaryKey = key.primaryKey
      }
    }
  }

  /// Writes the metadata with all data.
  override func saveMetadata() throws {
    guard hasUnsavedMetadata else { return }
    try writing.withLock {
      try checkIsNotMoving()
      guard !isRemoved else { throw NSError.removedStore(self) }
      try save()
    }
    noteMetadataSaved()
  }

  /// Changes the nodes, calls `save()`, then replaces the tables; a failure restores the nodes.
  override func write(
    _ plan: SavePlan, in scope: ProfileScope, beforeCommit: () throws -> Void
  ) throws -> [Row] {
    writing.lock()
    defer { writing.unlock() }
    try checkIsNotMoving()
    guard !isRemoved else { throw NSError.removedStore(self) }
    try contents.withLock { try check(plan, $0.tables) }
    former.append(FormerNodes(nodes, before: plan))
    do {
      try change(plan)
      try beforeCommit()
      try save()
    } catch {
      nodes = former.removeLast().restored()
      throw error
    }
    former.removeLast()
    keepNodes { (plan.written + plan.deleted).map { RowKey($0.identity) } }
    noteMetadataSaved()
    let rows = newRows(of: plan.written)
    let commit = contents.withLock { apply(plan, rows, to: &$0.tables) }
    return remember(plan, rows: rows, commit: commit)
  }

  /// Keeps nodes as they are, even if a running save fails.
  private func keepNodes(_ keys: () -> [RowKey]) {
    guard !former.isEmpty else { return }
    let keys = keys()
    for index in former.indices { former[index].adopt(keys, of: nodes) }
  }

  /// Creates, updates, and removes nodes.
  private func change(_ plan: SavePlan) throws {
    let outer = unfilled
    unfilled = []
    defer { unfilled = outer }
    // An object that the merge policy restores has lost its node.
    let created = plan.inserted + plan.updated.filter { $0.state.contains(.restored) }
    for object in created {
      let node = newCacheNode(for: object)
      guard node.objectID == object.objectID else {
        throw NSError.store(
          "newCacheNode(for:) of \(Swift.type(of: self)) returned the node of \(node.objectID) for "
            + "\(object.objectID).")
      }
      nodes[RowKey(object.identity)] = node
    }
    for object in created {
      guard let node = nodes[RowKey(object.identity)],
        unfilled.contains(ObjectIdentifier(node))
      else { continue }
      updateCacheNode(node, from: object)
    }
    for object in plan.updated where !object.state.contains(.restored) {
      guard let node = nodes[RowKey(object.identity)] else { continue }
      updateCacheNode(node, from: object)
    }
    let removed = plan.deleted.map { RowKey($0.identity) }
    guard !removed.isEmpty else { return }
    willRemoveCacheNodes(Set(removed.compactMap { nodes[$0] }))
    for key in removed { nodes[key] = nil }
  }
}
