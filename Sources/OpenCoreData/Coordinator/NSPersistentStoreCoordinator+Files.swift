import ManagedModel
import SQLiteDriver

// Stores as files: moving, replacing, destroying, removing.

extension NSPersistentStoreCoordinator {
  /// Returns the store at a URL; nil if none was added from there.
  public func persistentStore(for url: URL) -> NSPersistentStore? {
    let path = url.standardizedFileURL.path
    return persistentStores.first { $0.url?.standardizedFileURL.path == path }
  }

  /// Returns the URL of a store.
  public func url(for store: NSPersistentStore) -> URL {
    store.url ?? URL(fileURLWithPath: "/dev/null")
  }

  /// Moves the files of a store to another URL; the store stays open.
  ///
  /// Others that have it open aren't notified.
  /// - Returns: Whether the move succeeded. An in-memory store only records the URL; the document of
  ///   an XML or binary store is written there by the next save.
  public func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
    guard let sqlite = store as? SQLiteStore else {
      store.url = url
      return true
    }
    guard !sqlite.isReadOnly else { return false }
    return (try? migratePersistentStore(store, to: url, options: store.options, type: .sqlite))
      != nil
  }

  /// Removes a store from the coordinator.
  ///
  /// Firing faults of its remaining objects then fails with an error that the context records.
  /// Unsaved changes are lost.
  /// - Throws: 134070 for a store of another coordinator.
  public func remove(_ store: NSPersistentStore) throws {
    if store.persistentStoreCoordinator === self {
      postWillRemove(store)
    }
    guard let known = detach(store) else {
      throw NSError.store("The store \(store) is not one of this coordinator's.")
    }
    known.close()
    postStoresDidChange([NSRemovedPersistentStoresKey: [store]])
  }

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
      let target = temporaryNeighbour(of: url)
      defer { try? StoreFile.remove(at: target) }
      try sqlite.copyFiles(from: source, to: target)
      if source.standardizedFileURL != url.standardizedFileURL {
        try StoreFile.move(from: target, to: url)
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

  /// Replaces a store's files with copies of another's.
  ///
  /// The database is replaced atomically: a crash leaves the old one or the new one.
  /// - Throws: 134080 if the source isn't a usable store, or the destination is a file but not a
  ///   store; 134070 if the destination is in use (unless `NSPersistentStoreForceDestroyOption` is
  ///   true), which never applies to XML and binary stores; 134000 for a type without a file.
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
    type: NSPersistentStore.StoreType
  ) throws {
    try Self.refuseDevice(destinationURL)
    try Self.checkReplaceable(destinationURL, type, destinationOptions)
    if let destination = try Self.documentFile(type, at: destinationURL) {
      let source = AtomicStoreFile(url: sourceURL, form: destination.form)
      _ = try destination.replace(by: source.read().document)
      return
    }
    if let problem = StoreFileProblem.examine(path: sourceURL.path) {
      throw NSError.unusableStore(problem, sourceURL)
    }
    try Self.checkUnused(destinationURL, destinationOptions)
    let target = temporaryNeighbour(of: destinationURL)
    defer { try? StoreFile.remove(at: target) }
    try StoreFile.copySettled(from: sourceURL, to: target)
    try StoreFile.move(from: target, to: destinationURL)
  }

  /// The older spelling of `replacePersistentStore`.
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
    ofType storeType: String
  ) throws {
    try replacePersistentStore(
      at: destinationURL, destinationOptions: destinationOptions,
      withPersistentStoreFrom: sourceURL, sourceOptions: sourceOptions,
      type: NSPersistentStore.StoreType(rawValue: storeType))
  }

  /// Removes a store's files: the database, SQLite's auxiliary files, and external data files; or the
  /// document.
  ///
  /// Only a store is removed; any other file at the URL is kept. With `NSPersistentStoreForceDestroyOption`,
  /// a SQLite database that's too corrupt to determine whether it's a store is removed, too.
  /// - Throws: 134080 if there's no file, or it isn't a store of the type; 134070 if the file is in use,
  ///   unless `NSPersistentStoreForceDestroyOption` is true; 134000 for a type without a file; the file
  ///   system's errors.
  public func destroyPersistentStore(
    at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    try Self.refuseDevice(url)
    try Self.checkIsStore(url, type, isForced: Self.isForced(options))
    if let document = try Self.documentFile(type, at: url) { return try document.remove() }
    try Self.checkUnused(url, options)
    try StoreFile.remove(at: url)
  }

  /// The older spelling of `destroyPersistentStore(at:type:)`.
  public func destroyPersistentStore(
    at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(
      at: url, type: NSPersistentStore.StoreType(rawValue: storeType), options: options)
  }

  /// Rejects `/dev/null`: a store there is in memory and is discarded with its coordinator.
  private class func refuseDevice(_ url: URL) throws {
    guard url.isNullDevice else { return }
    throw NSError.coreData(
      NSPersistentStoreOperationError,
      "There's no store file at \(url.path). A SQLite store there is in memory: remove it from its "
        + "coordinator.", [NSFilePathErrorKey: url.path])
  }

  private class func isForced(_ options: [AnyHashable: Any]?) -> Bool {
    options?[NSPersistentStoreForceDestroyOption] as? Bool == true
  }

  /// Checks that a file to be removed or replaced is a store of the type.
  ///
  /// - Throws: 134080 with a description of the file.
  private class func checkIsStore(
    _ url: URL, _ type: NSPersistentStore.StoreType, isForced: Bool
  ) throws {
    if (try? FileManager.default.destinationOfSymbolicLink(atPath: url.path)) != nil {
      throw NSError.coreData(
        NSPersistentStoreOpenError,
        "\(url.path) is a symbolic link, not a store. Pass the URL of the store itself.",
        [NSFilePathErrorKey: url.path])
    }
    if let document = try documentFile(type, at: url) {
      if let problem = StoreFileProblem.ofPath(url.path) {
        throw NSError.unusableStore(problem, url)
      }
      _ = try document.read()
      return
    }
    if isForced {
      switch StoreFileProblem.examine(path: url.path) {
      case .corrupt, .truncated: return
      default: break
      }
    }
    _ = try metadataForPersistentStore(type: type, at: url)
  }

  /// Checks that a store may be written to a URL: there's no file, an empty one, or a store.
  ///
  /// - Throws: 134080 with a description of the file.
  private class func checkReplaceable(
    _ url: URL, _ type: NSPersistentStore.StoreType, _ options: [AnyHashable: Any]?
  ) throws {
    var info = stat()
    guard lstat(url.path, &info) == 0 else { return }
    if info.st_mode & S_IFMT == S_IFREG, info.st_size == 0 { return }
    try checkIsStore(url, type, isForced: isForced(options))
  }

  /// Rejects a file that is open elsewhere: its other users would continue to write to the unlinked file.
  private class func checkUnused(_ url: URL, _ options: [AnyHashable: Any]?) throws {
    if isForced(options) { return }
    // A file that isn't a database isn't in use as a store.
    guard StoreFileProblem.examine(path: url.path) == nil else { return }
    do {
      // Leaving WAL mode requires exclusive access to the file.
      let connection = try Connection(
        path: url.path, access: .writing,
        options: Connection.Options(
          busyTimeoutMilliseconds: 200, pragmas: [("journal_mode", "DELETE")]))
      defer { connection.close() }
      if try connection.values("PRAGMA journal_mode") == [[.text("delete")]] {
        try connection.execute("BEGIN EXCLUSIVE")
        try connection.execute("ROLLBACK")
        return
      }
    } catch {
      guard error.code.primary == .busy else { return }
    }
    throw NSError.coreData(
      NSPersistentStoreOperationError,
      "\(url.path) is in use. Remove the store from its coordinator first, or pass "
        + "NSPersistentStoreForceDestroyOption.", [NSFilePathErrorKey: url.path])
  }

  private func temporaryNeighbour(of url: URL) -> URL {
    url.deletingLastPathComponent().appendingPathComponent("\(UUID().uuidString).sqlite")
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
