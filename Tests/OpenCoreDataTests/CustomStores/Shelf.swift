import OpenCoreData

/// The data of a `ShelfStore`, which several stores can share, and the calls that they got.
///
/// Used by one thread at a time.
final class Shelf: @unchecked Sendable {
  /// A stored object.
  struct Item {
    let entity: String
    /// Attributes; references of to-one relationships; arrays of references of to-many
    /// relationships.
    var values: [String: Any]
    var version: UInt64 = 1
  }

  var items: [String: Item] = [:]
  /// The calls since the last `takeCalls()`.
  private(set) var calls: [String] = []
  /// The errors to throw, by the first word of a call.
  var failures: [String: NSError] = [:]
  /// Whether nodes have the destinations of to-many relationships.
  var includesToMany = false
  /// Whether nodes have the destinations of to-one relationships.
  var includesToOne = true
  /// Whether a save updates the nodes that the store has returned.
  var updatesNodes = false
  /// Whether a fetch and a save create nodes for objects that have none, and update them.
  var createsNodes = false
  /// Whether a save compares versions with those that the store has returned last.
  var comparesVersions = false
  /// Called while a save is written.
  var duringSave: ((NSSaveChangesRequest, NSManagedObjectContext?) -> Void)?
  /// Called before new objects get their IDs.
  var beforeIDs: (() -> Void)?
  let identifier = UUID().uuidString
  private var lastNumber = 100

  /// Records a call, and throws the error that was set for it.
  func record(_ call: String) throws {
    calls.append(call)
    if let word = call.split(separator: " ").first, let error = failures[String(word)] {
      throw error
    }
  }

  /// Records a call that can't fail.
  func note(_ call: String) { calls.append(call) }

  /// Returns the calls since the last time.
  func takeCalls() -> [String] {
    defer { calls = [] }
    return calls
  }

  /// Changes a value as another user of the same data would.
  func change(_ reference: String, _ name: String, to value: Any) {
    items[reference]?.values[name] = value
    items[reference]?.version += 1
  }

  /// Returns a new reference: the first letter of the entity and a number.
  func newReference(_ entity: String) -> String {
    lastNumber += 1
    return entity.prefix(1).lowercased() + "\(lastNumber)"
  }

  /// Two departments, d1 with the employees e1 and e2, and e3 without a department.
  static func company() -> Shelf {
    let shelf = Shelf()
    shelf.items = [
      "d1": Item(entity: "Department", values: ["name": "Sales", "employees": ["e1", "e2"]]),
      "d2": Item(entity: "Department", values: ["name": "Labs", "employees": [String]()]),
      "e1": Item(entity: "Employee", values: ["name": "Ada", "department": "d1"]),
      "e2": Item(entity: "Employee", values: ["name": "Ben", "department": "d1"]),
      "e3": Item(entity: "Employee", values: ["name": "Cleo"]),
    ]
    return shelf
  }
}

/// An incremental store over a `Shelf`, given with the option `shelf`.
final class ShelfStore: NSIncrementalStore, @unchecked Sendable {
  static let shelfType = NSPersistentStore.StoreType(rawValue: "ShelfStore")
  private var nodes: [String: NSIncrementalStoreNode] = [:]
  private var readVersions: [String: UInt64] = [:]

  var shelf: Shelf { options?["shelf"] as? Shelf ?? Shelf() }

  override var type: String { ShelfStore.shelfType.rawValue }

  override func loadMetadata() throws {
    try shelf.record("loadMetadata")
    metadata = [NSStoreUUIDKey: shelf.identifier, NSStoreTypeKey: type]
  }

  override func didAdd(to coordinator: NSPersistentStoreCoordinator) { shelf.note("didAdd") }

  override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
    shelf.note("willRemove")
  }

  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    switch request {
    case let save as NSSaveChangesRequest:
      shelf.duringSave?(save, context)
      return try write(save)
    case let fetch as NSFetchRequest<any NSFetchRequestResult>:
      return try answer(fetch, context)
    case is NSBatchDeleteRequest:
      try shelf.record("batch delete")
      return 3
    default:
      try shelf.record("execute \(Swift.type(of: request))")
      return NSPersistentStoreResult()
    }
  }

  private func answer(
    _ request: NSFetchRequest<any NSFetchRequestResult>, _ context: NSManagedObjectContext?
  ) throws -> Any {
    guard let entity = request.entity, let context else { return [] }
    let name = entity.name ?? ""
    let found = matches(request)
    switch request.resultType {
    case .countResultType:
      try shelf.record("count \(name)")
      return [NSNumber(value: found.count)]
    case .managedObjectIDResultType:
      try shelf.record("IDs \(name)")
      return found.map { newObjectID(for: entity, referenceObject: $0) }
    case .dictionaryResultType:
      try shelf.record("dictionaries \(name)")
      return found.map { shelf.items[$0]?.values ?? [:] }
    default:
      let paths = request.relationshipKeyPathsForPrefetching ?? []
      try shelf.record((["fetch", name] + paths).joined(separator: " "))
      return found.map {
        let object = context.object(with: newObjectID(for: entity, referenceObject: $0))
        if shelf.createsNodes, let item = shelf.items[$0] { putNode(of: object, item) }
        return object
      }
    }
  }

  /// Updates the node of an item, which is created if the store has returned none.
  private func putNode(of object: NSManagedObject, _ item: Shelf.Item) {
    let node =
      nodes[name(object.objectID)]
      ?? NSIncrementalStoreNode(objectID: object.objectID, withValues: [:], version: 0)
    node.update(withValues: values(of: item, object.entity), version: item.version)
  }

  /// Returns the references that match a request, in its order and within its limits.
  private func matches(_ request: NSFetchRequest<any NSFetchRequestResult>) -> [String] {
    var found = shelf.items.filter { $0.value.entity == request.entity?.name }
      .map { (reference: $0.key, values: $0.value.values) }
      .sorted { $0.reference < $1.reference }
    if let predicate = request.predicate {
      found = found.filter { predicate.evaluate(with: $0.values) }
    }
    for descriptor in (request.sortDescriptors ?? []).reversed() {
      found.sort {
        descriptor.compare($0.values, to: $1.values) == .orderedAscending
      }
    }
    let rest = found.dropFirst(request.fetchOffset)
    return (request.fetchLimit > 0 ? rest.prefix(request.fetchLimit) : rest).map(\.reference)
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    let reference = name(objectID)
    try shelf.record("values \(reference)")
    guard let item = shelf.items[reference] else {
      throw NSError(
        domain: NSCocoaErrorDomain, code: NSManagedObjectReferentialIntegrityError,
        userInfo: ["reference": reference])
    }
    let node = NSIncrementalStoreNode(
      objectID: objectID, withValues: values(of: item, objectID.entity), version: item.version)
    nodes[reference] = node
    readVersions[reference] = item.version
    return node
  }

  /// Updates the node of an item that others have changed.
  func updateNode(_ reference: String) {
    guard let item = shelf.items[reference], let node = nodes[reference] else { return }
    node.update(withValues: values(of: item, node.objectID.entity), version: item.version)
  }

  /// Returns a node's values.
  private func values(of item: Shelf.Item, _ entity: NSEntityDescription) -> [String: Any] {
    var values = item.values
    for (name, relationship) in entity.relationshipsByName {
      guard let destination = relationship.destinationEntity else { continue }
      let included = relationship.isToMany ? shelf.includesToMany : shelf.includesToOne
      switch values[name] {
      case let references as [String]:
        values[name] = references.map { newObjectID(for: destination, referenceObject: $0) }
      case let reference as String:
        values[name] = newObjectID(for: destination, referenceObject: reference)
      default: values[name] = NSNull()
      }
      if !included { values[name] = nil }
    }
    return values
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription,
    forObjectWith objectID: NSManagedObjectID, with context: NSManagedObjectContext?
  ) throws -> Any {
    let reference = name(objectID)
    try shelf.record("\(relationship.name) \(reference)")
    guard let destination = relationship.destinationEntity else { return NSNull() }
    switch shelf.items[reference]?.values[relationship.name] {
    case let references as [String]:
      return references.map { newObjectID(for: destination, referenceObject: $0) }
    case let reference as String: return newObjectID(for: destination, referenceObject: reference)
    default: return relationship.isToMany ? [NSManagedObjectID]() : NSNull()
    }
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    shelf.beforeIDs?()
    try shelf.record("obtain \(array.map { $0.entity.name ?? "" }.joined(separator: " "))")
    return array.map {
      newObjectID(
        for: $0.entity, referenceObject: shelf.newReference($0.entity.name ?? ""))
    }
  }

  override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    shelf.note("register \(names(objectIDs))")
  }

  override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
    shelf.note("unregister \(names(objectIDs))")
  }

  // MARK: Saving

  private func write(_ request: NSSaveChangesRequest) throws -> Any {
    let parts = [
      ("+", request.insertedObjects), ("~", request.updatedObjects), ("-", request.deletedObjects),
      ("=", request.lockedObjects),
    ].compactMap { sign, objects in
      objects?.isEmpty == false ? sign + names((objects ?? []).map(\.objectID)) : nil
    }
    try shelf.record("save " + parts.joined(separator: " "))
    if shelf.comparesVersions { try compareVersions(request.updatedObjects ?? []) }
    for object in (request.insertedObjects ?? []).union(request.updatedObjects ?? []) {
      let reference = name(object.objectID)
      let version = (shelf.items[reference]?.version ?? 0) + 1
      let item = Shelf.Item(
        entity: object.entity.name ?? "", values: values(of: object), version: version)
      shelf.items[reference] = item
      readVersions[reference] = version
      if shelf.updatesNodes {
        nodes[reference]?.update(withValues: values(of: item, object.entity), version: version)
      }
      if shelf.createsNodes { putNode(of: object, item) }
    }
    for object in request.deletedObjects ?? [] { shelf.items[name(object.objectID)] = nil }
    return [Any]()
  }

  private func compareVersions(_ objects: Set<NSManagedObject>) throws {
    let conflicts = objects.compactMap { object -> NSMergeConflict? in
      let reference = name(object.objectID)
      let (old, item) = (readVersions[reference] ?? 0, shelf.items[reference])
      guard item?.version != old else { return nil }
      return NSMergeConflict(
        source: object, newVersion: Int(item?.version ?? 0), oldVersion: Int(old),
        cachedSnapshot: nil, persistedSnapshot: item?.values)
    }
    guard !conflicts.isEmpty else { return }
    throw NSError(
      domain: NSCocoaErrorDomain, code: NSManagedObjectMergeError,
      userInfo: [NSPersistentStoreSaveConflictsErrorKey: conflicts])
  }

  /// Returns an object's values as a shelf has them.
  private func values(of object: NSManagedObject) -> [String: Any] {
    var values: [String: Any] = [:]
    for key in object.entity.attributesByName.keys { values[key] = object.value(forKey: key) }
    for key in object.entity.relationshipsByName.keys {
      switch object.value(forKey: key) {
      case let other as NSManagedObject: values[key] = name(other.objectID)
      case let others as Set<NSManagedObject>:
        values[key] = others.map { name($0.objectID) }.sorted()
      default: break
      }
    }
    return values
  }

  private func name(_ objectID: NSManagedObjectID) -> String {
    "\(referenceObject(for: objectID))"
  }

  private func names(_ objectIDs: [NSManagedObjectID]) -> String {
    objectIDs.map { name($0) }.sorted().joined(separator: ",")
  }
}

/// A coordinator with one `ShelfStore`.
struct ShelfStack {
  let shelf: Shelf
  let coordinator: NSPersistentStoreCoordinator
  let store: NSPersistentStore

  init(
    _ shelf: Shelf = .company(), model: NSManagedObjectModel = TestModels.company()
  ) throws {
    self.shelf = shelf
    NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, type: ShelfStore.shelfType)
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    store = try coordinator.addPersistentStore(
      type: ShelfStore.shelfType, at: URL(fileURLWithPath: "/shelf"), options: ["shelf": shelf])
    _ = shelf.takeCalls()
  }

  func context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Returns the employees of a new context's fetch, in the order of their names, and forgets the
  /// calls.
  static func employees(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    try context.fetch(request("Employee"))
  }

  static func request(_ entity: String) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return request
  }
}

extension Shelf {
  /// A context of a new coordinator that stores departments in a file, and employees in a shelf if
  /// there's one.
  static func context(
    beside file: URL, _ type: NSPersistentStore.StoreType, _ shelf: Shelf?
  ) throws -> NSManagedObjectContext {
    let model = TestModels.company()
    let entities = model.entitiesByName
    model.setEntities([entities["Employee"]].compactMap { $0 }, forConfigurationName: "Shelf")
    model.setEntities([entities["Department"]].compactMap { $0 }, forConfigurationName: "File")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: type, configuration: "File", at: file)
    if let shelf {
      NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, type: ShelfStore.shelfType)
      try coordinator.addPersistentStore(
        type: ShelfStore.shelfType, configuration: "Shelf", at: URL(fileURLWithPath: "/shelf"),
        options: ["shelf": shelf])
    }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }
}
