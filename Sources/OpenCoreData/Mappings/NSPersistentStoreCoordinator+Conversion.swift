import ManagedModel

// Copying a store to another file or type.

extension NSPersistentStoreCoordinator {
  /// Copies a store to another file or type, opens the copy instead of the store, and removes the store.
  ///
  /// The files of the old store aren't deleted. Objects of contexts belong to the old store, so reset the
  /// contexts; unsaved changes aren't copied. A store at the URL is replaced. The did-change notification has
  /// the old and the new ID of every object.
  ///
  /// A SQLite store is copied to another as a file: object IDs keep their URIs, because the copy has the same
  /// UUID. A copy of another type has its objects, its own UUID if primary keys change, and no history. Cost:
  /// copying the file, as `addPersistentStore`, and one SELECT of primary keys for each table; for another
  /// type, that of `NSMigrationManager.migrateStore`, and of a document in memory.
  /// - Returns: The new store.
  /// - Throws: 134000 for an unknown type, 134080 if there's a file at the URL that isn't a store,
  ///   134070 for a store of another coordinator, or one that is being written continuously; the file
  ///   system's errors. After an error, the old store is still added.
  @discardableResult
  public func migratePersistentStore(
    _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil,
    type: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    guard let sqlite = store as? SQLiteStore, type == .sqlite, let source = sqlite.url else {
      return try convert(store, to: url, options, type)
    }
    guard sqlite.persistentStoreCoordinator === self else {
      throw NSError.store("The store \(store) is not one of this coordinator's.")
    }
    if !url.isNullDevice {
      try Self.checkReplaceable(url, .sqlite, options)
      let target = TemporaryStore(replacing: url)
      defer { target.remove() }
      try sqlite.copyFiles(from: source, to: target.url)
      if source.standardizedFileURL != url.standardizedFileURL {
        try StoreFile.move(from: target.url, to: url)
      }
    }
    postWillRemove(store)
    let removed = detach(store)
    do {
      let new = try add(
        .sqlite, sqlite.configuration, at: url, options: options,
        copying: url.isNullDevice ? sqlite : nil)
      removed?.close()
      // The copy is open and complete; a key that can't be read from it has no pair of IDs.
      let pairs = (try? (new as? SQLiteStore)?.idPairs(from: sqlite)) ?? []
      postStoresDidChange([
        NSRemovedPersistentStoresKey: [store],
        NSUUIDChangedPersistentStoresKey: [store, new, pairs] as [Any],
      ])
      return new
    } catch {
      if let removed { attach(removed) }
      throw error
    }
  }

  private func convert(
    _ store: NSPersistentStore, to url: URL, _ options: [AnyHashable: Any]?,
    _ type: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    if type != .inMemory {
      if type != .sqlite { _ = try Self.documentFile(type, at: url) }
      try Self.refuseDevice(url)
      try Self.checkReplaceable(url, type, options)
    }
    guard let former = store as? RowStore, store.persistentStoreCoordinator === self else {
      throw NSError.store("The store \(store) is not one of this coordinator's.")
    }
    let result = try StoreConversion(
      store: former, model: managedObjectModel, url: url, type: type, options: options
    ).run()
    postWillRemove(store)
    let removed = detach(store)
    do {
      let new = try add(
        type, former.configuration, at: url, options: options, containing: result.document)
      removed?.close()
      postStoresDidChange([
        NSRemovedPersistentStoresKey: [store],
        NSUUIDChangedPersistentStoresKey: [
          store, new, result.pairs.compactMap { $0.identifiers(from: former, to: new) },
        ] as [Any],
      ])
      return new
    } catch {
      if let removed { attach(removed) }
      throw error
    }
  }

  /// The older spelling of `migratePersistentStore(_:to:options:type:)`.
  @discardableResult
  public func migratePersistentStore(
    _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil,
    withType storeType: String
  ) throws -> NSPersistentStore {
    try migratePersistentStore(
      store, to: url, options: options, type: NSPersistentStore.StoreType(rawValue: storeType))
  }
}

extension StoreConversion.Pair {
  /// Returns the object IDs in both stores.
  fileprivate func identifiers(
    from former: RowStore, to new: NSPersistentStore
  ) -> [NSManagedObjectID]? {
    guard let before = former.layouts.byName[entity],
      let after = (new as? RowStore)?.layouts.byName[entity]
    else { return nil }
    return [
      NSManagedObjectID(layout: before, primaryKey: self.former, store: former),
      NSManagedObjectID(layout: after, primaryKey: self.new, store: new),
    ]
  }
}
