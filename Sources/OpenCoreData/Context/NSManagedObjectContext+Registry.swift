import ManagedModel

extension NSManagedObjectContext {
  /// The objects registered now; clean ones that nobody else holds are let go first.
  ///
  /// No statement.
  public final var registeredObjects: Set<NSManagedObject> {
    sweep()
    var objects: Set<NSManagedObject> = []
    registry.forEach { objects.insert($0) }
    return objects
  }

  /// The registered object of that ID; nil when there is none, whatever the store has.
  ///
  /// No statement.
  public final func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    checkModel(of: objectID.layout)
    return registry.object(rootIndex: objectID.layout.rootIndex, key: presentKey(of: objectID))
  }

  /// The object of that ID: the registered one, or a fault that was not checked against the store.
  ///
  /// No statement. Reading a fault of a row that does not exist makes it deleted (or traps, see
  /// `shouldDeleteInaccessibleFaults`). Traps for an ID of another coordinator's store.
  public final func object(with objectID: NSManagedObjectID) -> NSManagedObject {
    checkModel(of: objectID.layout)
    let key = presentKey(of: objectID)
    if let object = registry.object(rootIndex: objectID.layout.rootIndex, key: key) {
      return object
    }
    precondition(
      isOfOwnStore(objectID),
      "\(objectID) is of another coordinator's store: pass its URI to this context's coordinator")
    return registered(objectID.layout, key)
  }

  /// The object of that ID when its row exists.
  ///
  /// Cost: none for a filled object; otherwise at most one SELECT, which is a fault's.
  /// - Throws: `NSManagedObjectReferentialIntegrityError` (133000) when there's no such row.
  public final func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    checkModel(of: objectID.layout)
    let key = presentKey(of: objectID)
    if let object = registry.object(rootIndex: objectID.layout.rootIndex, key: key) {
      guard !object.state.contains(.inaccessible) else { throw NSError.missingObject(objectID) }
      if !object.isFault { return object }
      return try fulfilled(object, objectID)
    }
    guard key > 0 || parent != nil, isOfOwnStore(objectID) else {
      throw NSError.missingObject(objectID)
    }
    return try fulfilled(registered(objectID.layout, key), objectID)
  }

  /// Whether an ID names no row, or one of this context's store.
  private func isOfOwnStore(_ objectID: NSManagedObjectID) -> Bool {
    guard let handle = objectID.handle, handle !== self.store(at: objectID.layout.place)?.handle
    else { return true }
    return objectID.persistentStore == nil
  }

  /// The key of an ID's object here: a temporary one may have been replaced by a save.
  private func presentKey(of objectID: NSManagedObjectID) -> Int64 {
    let key = objectID.primaryKey
    return key > 0 ? key : children.permanentKey(for: key) ?? key
  }

  /// Objects of exactly this entity that are registered now, by the entity's name.
  package final func registeredCount(ofEntity name: String) -> Int {
    sweep()
    return tallies(ofEntity: name).reduce(0) { $0 + $1.count }
  }

  /// The most objects of exactly this entity that were registered at once.
  ///
  /// Of several stores each counts its own peak.
  package final func peakRegisteredCount(ofEntity name: String) -> Int {
    tallies(ofEntity: name).reduce(0) { $0 + $1.peak }
  }

  private func tallies(ofEntity name: String) -> [ObjectRegistry.Tally] {
    guard let entity = entityNamed(name) else { return [] }
    return (0..<reads.placeCount).map { registry.tally(EntityLayout.of(entity).at($0).index) }
  }

  /// The most objects, whatever their entity, that were registered at once.
  ///
  /// Less than the sum of the entities' peaks when those were not at the same time.
  package final var peakRegisteredCount: Int {
    registry.peak
  }

  /// All registered objects, whatever their entity.
  package final var registeredCount: Int {
    sweep()
    return registry.count
  }

  /// The registered object of a key, or a new fault that is registered now.
  final func registered(_ layout: EntityLayout, _ key: Int64) -> NSManagedObject {
    if let object = registry.object(rootIndex: layout.rootIndex, key: key) { return object }
    let object = layout.makeObject()
    object.becomeFault(primaryKey: key, in: self)
    registry.add(object)
    if key > 0 {
      store(for: object)?.own(rootIndex: layout.rootIndex, keys: CollectionOfOne(key))
    }
    return object
  }

  /// The registered object of a key whose entity the database has told.
  ///
  /// A fault that was made for another entity, from a damaged reference or an ID that names one, is
  /// no object of that row: it becomes deleted and leaves.
  final func known(_ layout: EntityLayout, _ key: Int64) -> NSManagedObject? {
    guard let object = registry.object(rootIndex: layout.rootIndex, key: key) else { return nil }
    if object.layout === layout { return object }
    object.becomeInaccessible()
    store(for: object)?.disown(rootIndex: layout.rootIndex, keys: CollectionOfOne(key))
    leave(object)
    return nil
  }

  /// Traps for an entity of another model than the coordinator's: its objects are laid out
  /// differently.
  ///
  /// Makes room for the objects of its store.
  @inline(__always)
  final func checkModel(of layout: EntityLayout) {
    precondition(
      layout.family === family,
      "the entity '\(layout.entity.name ?? "")' belongs to another model than this context's")
    makeRoom(for: layout.place)
  }

  /// Makes room for the objects of one of several stores, before the first of them comes.
  @inline(__always)
  final func makeRoom(for place: Int) {
    if place >= reads.placeCount { makeMoreRoom(for: place) }
  }

  private func makeMoreRoom(for place: Int) {
    guard let family else { return }
    reads.expect(placeCount: place + 1)
    registry.prepare(
      entityCount: family.entityCount, rootCount: family.rootCount, placeCount: place + 1)
  }

  /// The destination of a to-one, whose concrete entity the row names where it may be another; nil
  /// when the key names an object of an entity that the relationship does not lead to.
  ///
  /// - Parameter owner: The layout of the object that the relationship is of: both are in one store.
  final func object(
    primaryKey: Int64, of relationship: NSRelationshipDescription, entityNumber: Int64,
    owner: EntityLayout
  ) -> NSManagedObject? {
    // The rows of a child also name objects that were never saved.
    guard primaryKey > 0 || (primaryKey < 0 && parent != nil) else { return nil }
    guard let destination = relationship.destinationEntity else {
      preconditionFailure("the relationship '\(relationship.name)' has no destination entity")
    }
    let first = EntityLayout.of(destination)
    if let object = registry.object(
      rootIndex: first.rootIndex &+ owner.rootOffset, key: primaryKey)
    {
      return object.layout.entity.isKind(of: destination) ? object : nil
    }
    let declared = first.at(owner.place)
    let concrete = Int(exactly: entityNumber).flatMap {
      store(for: declared).layouts.layout(entityNumber: $0)
    }
    guard let concrete, concrete.entity.isKind(of: destination) else {
      return registered(declared, primaryKey)
    }
    return registered(concrete, primaryKey)
  }

  /// Lets go of the clean objects that the registry alone holds.
  final func sweep() {
    guard !retainsRegisteredObjects, registry.count > 0 else { return }
    changes.compact()
    var again = true
    while again {
      let swept = registry.sweep()
      notifyDeregistered(swept.told)
      disown(swept.keys)
      again = swept.heldOthers
    }
  }

  /// Tells objects that the context lets go that they become faults, the last they hear.
  ///
  /// One that somebody took hold of meanwhile has no context any more.
  final func notifyDeregistered(_ objects: [NSManagedObject]) {
    for object in objects {
      object.turnIntoFault()
      object.context = nil
    }
  }

  /// Sweeps before a load when the registry has doubled since the last time.
  final func sweepBeforeLoad() {
    if registry.hasDoubled { sweep() }
  }

  final func disown(_ released: [[Int64]]) {
    for (rootIndex, keys) in released.enumerated() where !keys.isEmpty {
      let place = family.map { rootIndex / $0.rootCount } ?? 0
      store(at: place)?.disown(rootIndex: rootIndex, keys: keys)
    }
  }

  /// The store that holds a layout's rows; traps when the coordinator has none.
  final func store(for layout: EntityLayout) -> RowStore {
    guard let store = store(at: layout.place) else {
      preconditionFailure("the coordinator has no store; add one before fetching or saving")
    }
    return store
  }

  /// The store at a place of the coordinator, or the one that was removed from it.
  final func store(at place: Int) -> RowStore? {
    (place == 0 ? firstStore : coordinator?.store(at: place))
      ?? coordinator?.formerStore(at: place)
  }

  /// The coordinator's store at the first place, asked for once as long as it is there.
  final var firstStore: RowStore? {
    reads.firstStore(of: coordinator)
  }

  /// The store an object's row is in or will be in.
  final func store(for object: NSManagedObject) -> RowStore? {
    store(at: object.layout.place)
  }

  /// The entity number of an object's row in its store.
  final func entityNumber(of object: NSManagedObject) -> Int {
    store(for: object)?.layouts.entityNumber(object.layout) ?? 0
  }

  final func entityNamed(_ name: String) -> NSEntityDescription? {
    coordinator?.managedObjectModel.entitiesByName[name]
  }

  /// The entity whose objects get this class; traps unless there is exactly one.
  ///
  /// Looked for once in a run of the same class.
  final func entity(forClass type: NSManagedObject.Type) -> NSEntityDescription {
    if let lastInserted, lastInserted.type == type { return lastInserted.entity }
    let matching = requiredCoordinator.managedObjectModel.entities.filter {
      EntityLayout.of($0).objectClass == type
    }
    guard let entity = matching.first, matching.count == 1 else {
      preconditionFailure("\(matching.count) entities of the model use the class \(type)")
    }
    lastInserted = (type, entity)
    return entity
  }

  private func fulfilled(
    _ object: NSManagedObject, _ objectID: NSManagedObjectID
  ) throws -> NSManagedObject {
    guard try fill(object) else { throw NSError.missingObject(objectID) }
    return object
  }
}
