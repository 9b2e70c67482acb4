import ManagedModel

/// What somebody else has saved, as the contexts of one coordinator name it.
struct MergedChanges: Sendable {
  var inserted: [FetchedIdentity] = []
  var updated: [FetchedIdentity] = []
  var deleted: [FetchedIdentity] = []

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty
  }

  var all: [FetchedIdentity] {
    inserted + updated + deleted
  }

  /// The entity of which it has most objects; the first by name where several have.
  var mostFrequentEntity: String? {
    let counts = all.reduce(into: [String: Int]()) { counts, identity in
      counts[identity.layout.entity.name ?? "", default: 0] += 1
    }
    return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }

  /// What concerns the store at a place.
  func of(_ place: Int) -> MergedChanges {
    func here(_ identities: [FetchedIdentity]) -> [FetchedIdentity] {
      identities.filter { $0.layout.place == place }
    }
    return MergedChanges(
      inserted: here(inserted), updated: here(updated), deleted: here(deleted))
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
