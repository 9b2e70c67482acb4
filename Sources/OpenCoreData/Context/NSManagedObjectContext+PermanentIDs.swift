import ManagedModel
import Synchronization

extension NSManagedObjectContext {
  /// Gives new objects of this context the permanent IDs that they will be saved with.
  ///
  /// Objects that have one keep it. In a child, an object that was saved to the parent gets the
  /// parent's ID, which replaces its own. Call it on the context's queue.
  /// Cost: BEGIN, a read and a write of `Z_PRIMARYKEY` for each root entity, COMMIT.
  /// - Throws: An error of the store.
  public final func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    let nameless = objects.filter { $0.primaryKey <= 0 }
    for object in nameless {
      precondition(object.context === self, "a permanent ID is obtained in the object's context")
    }
    let fresh = nameless.filter(\.isInserted)
    if !fresh.isEmpty, coordinator?.isSpread == true { try settlePlaces() }
    for (place, fresh) in Dictionary(grouping: fresh, by: \.layout.place)
      .sorted(by: { $0.key < $1.key })
    {
      guard let store = try store(at: place)?.writable() else { throw NSError.noStore() }
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
    registry.rekey(object, from: temporary)
    if hasChildren.load(ordering: .relaxed) {
      children.promote(temporary, to: object.primaryKey)
    }
  }

  private func adopt(_ object: NSManagedObject, from temporary: Int64, in store: RowStore) {
    rekey(object, from: temporary)
    store.own(rootIndex: object.layout.rootIndex, keys: CollectionOfOne(object.primaryKey))
  }

  /// Gives an object that was saved to the parent the permanent key it has or gets there.
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
        "\(object.objectID) cannot get its permanent ID: another object of this context has it.")
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
