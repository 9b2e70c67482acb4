import ManagedModel

extension NSManagedObjectContext {
  /// Gives new objects their permanent IDs now.
  ///
  /// Objects that have one already are passed over. Cost: one transaction that reserves the keys, a read
  /// and a write for each root entity.
  /// - Throws: an error when the store cannot be written.
  public final func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    let unkeyed = objects.filter { $0.primaryKey <= 0 && $0.context === self }
    guard !unkeyed.isEmpty else { return }
    let store = try requiredCoordinator.writableStore()
    let temporary = unkeyed.map(\.primaryKey)
    do {
      try store.reserveKeys(for: unkeyed, in: scope)
    } catch {
      for (object, key) in zip(unkeyed, temporary) { object.primaryKey = key }
      throw NSError.from(error, store: store)
    }
    for (object, key) in zip(unkeyed, temporary) {
      registry.rekey(object, from: key)
      store.own(rootIndex: object.layout.rootIndex, keys: CollectionOfOne(object.primaryKey))
    }
  }

  /// Gives the row of a new object up that was given a permanent ID and is not saved.
  final func giveUpKey(of object: NSManagedObject) {
    guard object.primaryKey > 0 else { return }
    store(for: object)?.disown(
      rootIndex: object.layout.rootIndex, keys: CollectionOfOne(object.primaryKey))
  }
}
