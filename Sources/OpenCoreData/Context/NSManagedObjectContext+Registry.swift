import ManagedModel
import Synchronization

extension NSManagedObjectContext {
  /// The registered objects; unchanged ones that aren't retained elsewhere are deregistered first.
  ///
  /// No statements.
  public final var registeredObjects: Set<NSManagedObject> {
    sweep()
    var objects: Set<NSManagedObject> = []
    registry.forEach { objects.insert($0) }
    return objects
  }

  /// Returns the registered object with an ID; `nil` if there's none, regardless of the store.
  ///
  /// No statements.
  public final func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    checkModel(of: objectID.layout)
    let (rootIndex, key) = (objectID.layout.rootIndex, presentKey(of: objectID))
    return registry.object(rootIndex: rootIndex, key: key) ?? twin(rootIndex: rootIndex, key: key)
      ?? reassigned(objectID.layout, key)
  }

  /// Returns the object with an ID: the registered object, or a fault that isn't checked against
  /// the store.
  ///
  /// No statements. Firing a fault whose row doesn't exist deletes it (or stops the program, see
  /// `shouldDeleteInaccessibleFaults`). It's a programmer error to pass an ID of another
  /// coordinator's store.
  public final func object(with objectID: NSManagedObjectID) -> NSManagedObject {
    checkModel(of: objectID.layout)
    let key = presentKey(of: objectID)
    if let object = registry.object(rootIndex: objectID.layout.rootIndex, key: key)
      ?? reassigned(objectID.layout, key)
    {
      return object
    }
    guard isOfOwnStore(objectID) else {
      fatalError(
        "\(objectID) is of another coordinator's store: pass its URI to this context's coordinator")
    }
    return objectOfUnregisteredID(objectID.layout, key)
  }

  /// Returns the object with an ID if its row exists.
  ///
  /// An object that had lost its row is looked for again. **Cost:** none for a realized object;
  /// otherwise at most the one SELECT of its fault.
  /// - Throws: `NSManagedObjectReferentialIntegrityError` (133000) if there's no such row.
  public final func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    checkModel(of: objectID.layout)
    let (rootIndex, key) = (objectID.layout.rootIndex, presentKey(of: objectID))
    if let object = registry.object(rootIndex: rootIndex, key: key)
      ?? twin(rootIndex: rootIndex, key: key) ?? reassigned(objectID.layout, key)
    {
      if object.state.contains(.inaccessible) {
        guard try revive(object) else { throw NSError.missingObject(objectID) }
      }
      if !object.isFault { return object }
      return try fulfilled(object, objectID)
    }
    guard key > 0 || parent != nil, isOfOwnStore(objectID) else {
      throw NSError.missingObject(objectID)
    }
    return try fulfilled(objectOfUnregisteredID(objectID.layout, key), objectID)
  }

  /// Returns whether an ID is temporary, or of a row in one of this context's stores.
  private func isOfOwnStore(_ objectID: NSManagedObjectID) -> Bool {
    guard let handle = objectID.handle,
      handle !== self.store(at: objectID.layout.storeIndex)?.handle
    else { return true }
    return objectID.persistentStore == nil
  }

  /// Returns the current key of an ID's object; a save may have replaced a temporary one.
  private func presentKey(of objectID: NSManagedObjectID) -> Int64 {
    let key = objectID.primaryKey
    return key > 0 ? key : children.permanentKey(for: key) ?? key
  }

  /// Returns the number of registered objects of exactly this entity, by the entity's name.
  package final func registeredCount(ofEntity name: String) -> Int {
    sweep()
    return tallies(ofEntity: name).reduce(0) { $0 + $1.count }
  }

  /// Returns the peak number of registered objects of exactly this entity.
  ///
  /// With several stores, each counts its own peak.
  package final func peakRegisteredCount(ofEntity name: String) -> Int {
    tallies(ofEntity: name).reduce(0) { $0 + $1.peak }
  }

  private func tallies(ofEntity name: String) -> [ObjectRegistry.Tally] {
    guard let entity = entityNamed(name) else { return [] }
    return (0..<reads.storeCount).map { registry.tally(EntityLayout.of(entity).at($0).index) }
  }

  /// The peak number of registered objects of all entities.
  ///
  /// Less than the sum of the entities' peaks if those were at different times.
  package final var peakRegisteredCount: Int {
    registry.peak
  }

  /// The number of registered objects of all entities.
  package final var registeredCount: Int {
    sweep()
    return registry.count
  }

  /// Returns the registered object with a key, or a new fault that is registered.
  final func registered(_ layout: EntityLayout, _ key: Int64) -> NSManagedObject {
    if let object = registry.object(rootIndex: layout.rootIndex, key: key) { return object }
    if hasParent, let object = twin(rootIndex: layout.rootIndex, key: key) { return object }
    let object = layout.makeObject()
    object.becomeFault(primaryKey: key, in: self)
    registry.add(object)
    if key > 0 {
      store(for: object)?.addOwner(rootIndex: layout.rootIndex, keys: CollectionOfOne(key))
    }
    return object
  }

  /// Returns the registered object with a key whose entity was read from the database.
  ///
  /// A fault created for another entity, from a dangling reference or an ID with that entity, isn't
  /// an object of that row: it becomes deleted and is deregistered.
  final func known(_ layout: EntityLayout, _ key: Int64) -> NSManagedObject? {
    guard let object = registry.object(rootIndex: layout.rootIndex, key: key) else { return nil }
    if object.layout === layout { return object }
    object.becomeInaccessible()
    store(for: object)?.removeOwner(rootIndex: layout.rootIndex, keys: CollectionOfOne(key))
    leave(object)
    return nil
  }

  /// Stops with a fatal error for an entity that isn't in the coordinator's model: its slots
  /// differ.
  ///
  /// Reserves room for the objects of its store.
  @inline(__always)
  final func checkModel(of layout: EntityLayout) {
    guard layout.family === family else {
      fatalError(
        "the entity '\(layout.entityName)' belongs to another model than this context's")
    }
    makeRoom(for: layout.storeIndex)
  }

  /// Reserves room for the objects of one of several stores, before the first is registered.
  @inline(__always)
  final func makeRoom(for storeIndex: Int) {
    if storeIndex >= reads.storeCount { makeMoreRoom(for: storeIndex) }
  }

  private func makeMoreRoom(for storeIndex: Int) {
    guard let family else { return }
    reads.expect(storeCount: storeIndex + 1)
    registry.prepare(
      entityCount: family.entityCount, rootCount: family.rootCount, storeCount: storeIndex + 1)
  }

  /// Returns the destination of a to-one relationship, with the concrete entity that the row
  /// specifies if it may vary; `nil` if the key belongs to an entity that can't be a destination.
  ///
  /// - Parameter owner: The layout of the relationship's owner: both objects are in one store.
  final func object(
    primaryKey: Int64, of relationship: NSRelationshipDescription, entityNumber: Int64,
    owner: EntityLayout
  ) -> NSManagedObject? {
    // Rows of a child also refer to objects that were never saved.
    guard primaryKey > 0 || (primaryKey < 0 && parent != nil) else { return nil }
    guard let destination = relationship.destinationEntity else {
      fatalError("the relationship '\(relationship.name)' has no destination entity")
    }
    let first = EntityLayout.of(destination)
    if let object = registry.object(
      rootIndex: first.rootIndex &+ owner.rootOffset, key: primaryKey)
    {
      return object.layout.entity.isKind(of: destination) ? object : nil
    }
    return registered(
      destinationLayout(first, destination, entityNumber: entityNumber, owner: owner), primaryKey)
  }

  /// Returns the object ID of a to-one relationship's destination as `object(primaryKey:…)` does,
  /// without registering the destination.
  final func destinationID(
    primaryKey: Int64, of relationship: NSRelationshipDescription, entityNumber: Int64,
    owner: EntityLayout
  ) -> NSManagedObjectID? {
    guard primaryKey > 0 || (primaryKey < 0 && parent != nil),
      let destination = relationship.destinationEntity
    else { return nil }
    let first = EntityLayout.of(destination)
    if let object = registry.object(
      rootIndex: first.rootIndex &+ owner.rootOffset, key: primaryKey)
    {
      return object.layout.entity.isKind(of: destination) ? object.objectID : nil
    }
    let layout = destinationLayout(first, destination, entityNumber: entityNumber, owner: owner)
    return NSManagedObjectID(layout: layout, primaryKey: primaryKey, store: store(for: layout))
  }

  /// Returns the layout of the entity that a row specifies for a destination, or of the declared
  /// one.
  private func destinationLayout(
    _ first: EntityLayout, _ destination: NSEntityDescription, entityNumber: Int64,
    owner: EntityLayout
  ) -> EntityLayout {
    let declared = first.at(owner.storeIndex)
    let concrete = Int(exactly: entityNumber).flatMap {
      store(for: declared).layouts.layout(entityNumber: $0)
    }
    guard let concrete, concrete.entity.isKind(of: destination) else { return declared }
    return concrete
  }

  /// Deregisters the unchanged objects that only the registry retains.
  final func sweep() {
    guard !retainsRegisteredObjects, registry.count > 0 else { return }
    changes.compact()
    var again = true
    while again {
      let swept = registry.sweep()
      notifyDeregistered(swept.notified)
      removeOwner(of: swept.keys)
      again = swept.referencedOthers
    }
  }

  /// Notifies deregistered objects that they turn into faults, the last call they get.
  ///
  /// An object that was retained in the meantime no longer has a context.
  final func notifyDeregistered(_ objects: [NSManagedObject]) {
    for object in objects {
      object.turnIntoFault()
      object.context = nil
    }
  }

  /// Sweeps before a load if the registry has doubled since the last time.
  final func sweepBeforeLoad() {
    if registry.hasDoubled { sweep() }
  }

  final func removeOwner(of released: [[Int64]]) {
    for (rootIndex, keys) in released.enumerated() where !keys.isEmpty {
      let storeIndex = family.map { rootIndex / $0.rootCount } ?? 0
      store(at: storeIndex)?.removeOwner(rootIndex: rootIndex, keys: keys)
    }
  }

  /// Returns the store of a layout's rows; stops with a fatal error if the coordinator has
  /// none.
  final func store(for layout: EntityLayout) -> RowStore {
    guard let store = store(at: layout.storeIndex) else {
      fatalError("the coordinator has no store; add one before fetching or saving")
    }
    return store
  }

  /// Returns the store at an index of the coordinator, or the one that was removed from it.
  final func store(at storeIndex: Int) -> RowStore? {
    (storeIndex == 0 ? firstStore : coordinator?.store(at: storeIndex))
      ?? coordinator?.formerStore(at: storeIndex)
  }

  /// The coordinator's first store, looked up once as long as it's in use.
  final var firstStore: RowStore? {
    reads.firstStore(of: coordinator)
  }

  /// Returns the store that contains an object's row or will contain it.
  final func store(for object: NSManagedObject) -> RowStore? {
    store(at: object.layout.storeIndex)
  }

  /// Returns the entity ID of an object's row in its store.
  final func entityNumber(of object: NSManagedObject) -> Int {
    store(for: object)?.layouts.entityNumber(object.layout) ?? 0
  }

  final func entityNamed(_ name: String) -> NSEntityDescription? {
    coordinator?.managedObjectModel.entitiesByName[name]
  }

  /// Returns the entity whose objects have a class; traps if there's none.
  ///
  /// Of several, it's the one that the class's `entity()` chooses. The entity is searched once for
  /// consecutive calls with the same class.
  final func entity(forClass type: NSManagedObject.Type) -> NSEntityDescription {
    if lastInserted?.type == type, let entity = lastInserted?.entity { return entity }
    let matching = requiredCoordinator.managedObjectModel.entities.filter {
      EntityLayout.of($0).objectClass == type
    }
    let chosen = matching.count > 1 ? type.entity().name : matching.first?.name
    guard let entity = matching.first(where: { $0.name == chosen }) else {
      fatalError("\(matching.count) entities of the model use the class \(type)")
    }
    if matching.count == 1 { lastInserted = (type, entity) }
    return entity
  }

  private func fulfilled(
    _ object: NSManagedObject, _ objectID: NSManagedObjectID
  ) throws -> NSManagedObject {
    guard try fulfill(object) else { throw NSError.missingObject(objectID) }
    return object
  }
}

extension NSManagedObjectContext {
  /// Assigns permanent IDs to new objects of this context, with which they'll be saved.
  ///
  /// Objects that have one keep it. In a child, an object that was saved to the parent gets the
  /// parent's ID, which replaces its own. Call it on the context's queue. **Cost:** BEGIN, a read
  /// and a write of `Z_PRIMARYKEY` for each root entity, COMMIT.
  /// - Throws: An error of the store.
  public final func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    var seen: Set<ObjectIdentifier> = []
    let nameless = objects.filter { object in
      object.primaryKey <= 0 && seen.insert(ObjectIdentifier(object)).inserted
    }
    for object in nameless {
      guard object.context === self else {
        fatalError("a permanent ID is obtained in the object's context")
      }
    }
    let fresh = nameless.filter(\.isInserted)
    if !fresh.isEmpty, coordinator?.hasSeveralStores == true { try assignUnassignedObjects() }
    for (storeIndex, fresh) in Dictionary(grouping: fresh, by: \.layout.storeIndex)
      .sorted(by: { $0.key < $1.key })
    {
      guard let store = try store(at: storeIndex)?.writable() else { throw NSError.noStore() }
      let temporary = fresh.map(\.primaryKey)
      do {
        try store.reserveKeys(for: fresh, in: scope)
      } catch {
        for (object, key) in zip(fresh, temporary) { object.primaryKey = key }
        throw NSError.from(error, store: store)
      }
      for (object, key) in zip(fresh, temporary) { adopt(object, from: key, in: store) }
    }
    for object in nameless where !object.isInserted { try takeKeyOfParent(object) }
  }

  /// Registers an object under its new key.
  final func rekey(_ object: NSManagedObject, from temporary: Int64) {
    changeKey(of: object, from: temporary)
    if hasChildren.load(ordering: .relaxed) {
      children.promote(temporary, to: RowKey(object.identity))
    }
  }

  private func adopt(_ object: NSManagedObject, from temporary: Int64, in store: RowStore) {
    rekey(object, from: temporary)
    store.addOwner(rootIndex: object.layout.rootIndex, keys: CollectionOfOne(object.primaryKey))
  }

  /// Assigns the parent's permanent key to an object that was saved to the parent.
  private func takeKeyOfParent(_ object: NSManagedObject) throws {
    let identity = object.identity
    let key = try askParent { parent -> Int64? in
      guard let source = parent.counterpart(of: identity) else { return nil }
      try parent.obtainPermanentIDs(for: [source])
      return source.primaryKey
    }
    guard let key, key > 0, let store = store(for: object) else {
      throw NSError.missingObject(object.objectID)
    }
    guard registry.object(rootIndex: identity.layout.rootIndex, key: key) == nil else {
      throw NSError.coreData(
        NSCoreDataError,
        "\(object.objectID) can't get its permanent ID: another object of this context has it.")
    }
    object.primaryKey = key
    adopt(object, from: identity.primaryKey, in: store)
  }
}

/// Primary keys of objects that were never saved: negative, and never reused in a process.
enum TemporaryKeys {
  private static let last = Atomic<Int64>(0)

  static func next() -> Int64 {
    last.subtract(1, ordering: .relaxed).newValue
  }
}
