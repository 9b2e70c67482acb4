import ManagedModel
import SQLiteDriver

// Stores as files: moving, replacing, destroying, removing.

extension NSPersistentStoreCoordinator {
  /// Returns the store at a URL; `nil` if none was added from there.
  public func persistentStore(for url: URL) -> NSPersistentStore? {
    persistentStores.first { $0.url?.isSameLocation(as: url) ?? false }
  }

  /// Returns the URL of a store.
  public func url(for store: NSPersistentStore) -> URL {
    store.url ?? URL(fileURLWithPath: "/dev/null")
  }

  /// Changes the URL of a store; no file is moved or replaced.
  ///
  /// A SQLite store is closed, and the store at the new URL, which must exist, is opened with its
  /// options: see `persistentStore(for:)`. Objects of contexts belong to the old store, so reset
  /// the contexts. An in-memory store only records the URL; the document of an XML or binary store
  /// is written there by the next save. **Cost:** for a SQLite store, as `addPersistentStore`.
  /// - Returns: Whether the URL was changed; otherwise, the store stays open.
  public func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
    guard store.persistentStoreCoordinator === self else { return false }
    guard let sqlite = store as? SQLiteStore else {
      let isDocument = AtomicStoreForm(.init(rawValue: store.type)) != nil
      if isDocument, (try? Self.requireFile(url)) == nil { return false }
      store.url = url
      return true
    }
    guard StoreFileProblem.examine(path: url.path) == nil else { return false }
    postWillRemove(store)
    let removed = detach(store)
    do {
      let new = try add(.sqlite, sqlite.configuration, at: url, options: sqlite.options)
      if sqlite.isReadOnly { new.isReadOnly = true }
    } catch {
      if let removed { attach(removed) }
      return false
    }
    removed?.close()
    postStoresDidChange([NSRemovedPersistentStoresKey: [store]])
    return true
  }

  /// Removes a store from the coordinator.
  ///
  /// Waits for a save that is being written. Firing faults of its remaining objects then fails with
  /// an error that the context records. Unsaved changes are lost.
  /// - Throws: 134070 for a store of another coordinator.
  public func remove(_ store: NSPersistentStore) throws {
    if store.persistentStoreCoordinator === self { postWillRemove(store) }
    // After the observers, who may still save to it: a program's own store may close itself.
    let isRemoved = (store as? RowStore)?.withoutSaves { () -> Bool in
      guard store.persistentStoreCoordinator === self else { return false }
      store.willRemove(from: self)
      guard let known = detach(store) else { return false }
      known.close()
      return true
    }
    guard isRemoved == true else {
      throw NSError.store("The store \(store) isn't one of this coordinator's.")
    }
    postStoresDidChange([NSRemovedPersistentStoresKey: [store]])
  }

  /// Replaces a store's files with copies of another's.
  ///
  /// The database is replaced atomically: a crash leaves the old one or the new one.
  /// - Throws: 259 if the source, or a file at the destination, is corrupt or isn't of the type;
  ///   260 if there's no source; 134080 if either isn't a store for another reason; 134070 if the
  ///   destination is in use (unless `NSPersistentStoreForceDestroyOption` is true), which never
  ///   applies to XML and binary stores; 134000 for a type without a file; 640 if the disk is full;
  ///   512 if the copy can't be created.
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
    try Self.requireFile(sourceURL)
    if let problem = StoreFileProblem.examine(path: sourceURL.path) {
      throw NSError.unusableStore(problem, sourceURL)
    }
    try Self.checkUnused(destinationURL, destinationOptions)
    let target = TemporaryStore(replacing: destinationURL)
    defer { target.remove() }
    do {
      try StoreFile.copyConsistently(from: sourceURL, to: target.url)
      try StoreFile.move(from: target.url, to: destinationURL)
    } catch {
      throw (error as NSError).naming(destinationURL.path, insteadOf: target.url)
    }
  }

  /// Replaces a store; calls `replacePersistentStore`.
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

  /// Removes a store's files: the database, SQLite's auxiliary files, and external data files; or
  /// the document.
  ///
  /// Only a store is removed, or a SQLite database that's too corrupt to determine whether it's
  /// one; any other file at the URL is kept. After an error, the store is complete, or its database
  /// is removed; calling it again then removes the other files. A power loss doesn't bring back a
  /// store; if the folder of a document can't be synced to disk, the error says so.
  /// - Throws: 260 if there's no file, 259 if it isn't a SQLite database, or for a document that's
  ///   corrupt or isn't of the type, 134080 if it isn't a store for another reason; 134070 if it's
  ///   in use, unless `NSPersistentStoreForceDestroyOption` is true; 134000 for a type without a
  ///   file; the file system's errors.
  public func destroyPersistentStore(
    at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    try Self.refuseDevice(url)
    let document = try Self.documentFile(type, at: url)
    let remains = InterruptedMigrationFiles(of: url)
    if type == .sqlite, StoreFile.isPartlyRemoved(at: url) { return try remains.removeWithStore() }
    try Self.checkIsStore(url, type, acceptsCorrupt: true)
    if let document { return try document.remove() }
    try Self.checkUnused(url, options)
    try remains.removeWithStore()
  }

  /// Removes a store; calls `destroyPersistentStore(at:type:)`.
  public func destroyPersistentStore(
    at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(
      at: url, type: NSPersistentStore.StoreType(rawValue: storeType), options: options)
  }

  /// Rejects a URL that isn't one of a file, such as one of a server, whose path is on that server.
  class func requireFile(_ url: URL) throws {
    guard let scheme = url.scheme, !url.isFileURL else { return }
    throw NSError.coreData(
      NSPersistentStoreOpenError,
      "\(url.absoluteString) has the scheme '\(scheme)', so it isn't the URL of a file. Create the URL "
        + "with URL(fileURLWithPath:).", [NSFilePathErrorKey: url.path])
  }

  /// Rejects `/dev/null`: a store there is in memory and is discarded with its coordinator.
  class func refuseDevice(_ url: URL) throws {
    guard url.isNullDevice else { return }
    throw NSError.coreData(
      NSPersistentStoreOperationError,
      "There's no store file at \(url.relativePath). A SQLite store there is in memory: remove it from its "
        + "coordinator.", [NSFilePathErrorKey: url.path])
  }

  private class func isForced(_ options: [AnyHashable: Any]?) -> Bool {
    options.isSet(NSPersistentStoreForceDestroyOption)
  }

  /// Checks that a file to be removed or replaced is a store of the type.
  ///
  /// - Parameter acceptsCorrupt: Whether the file can also be a corrupt SQLite database.
  /// - Throws: 259, 260, or 134080 with a description of the file.
  private class func checkIsStore(
    _ url: URL, _ type: NSPersistentStore.StoreType, acceptsCorrupt: Bool
  ) throws {
    if (try? FileManager.default.destinationOfSymbolicLink(atPath: url.path)) != nil {
      throw NSError.coreData(
        NSPersistentStoreOpenError,
        "\(url.relativePath) is a symbolic link, not a store. Pass the URL of the store itself.",
        [NSFilePathErrorKey: url.path])
    }
    if let document = try documentFile(type, at: url) {
      if let problem = StoreFileProblem.ofPath(url.path) {
        throw NSError.unusableStore(problem, url)
      }
      _ = try document.read()
      return
    }
    do {
      _ = try metadataForPersistentStore(type: type, at: url)
    } catch let error as NSError where acceptsCorrupt && error.isOfCorruptDatabase {
      return
    }
  }

  /// Checks that a store may be written to a URL: there's no file, an empty one, or a store.
  ///
  /// - Throws: 259, 260, or 134080 with a description of the file.
  class func checkReplaceable(
    _ url: URL, _ type: NSPersistentStore.StoreType, _ options: [AnyHashable: Any]?
  ) throws {
    if CustomStoreClasses.class(for: type) == nil { try requireFile(url) }
    guard FileStamp.exists(path: url.path) else { return }
    if FileStamp(path: url.path, followsLinks: false)?.size == 0 { return }
    try checkIsStore(url, type, acceptsCorrupt: isForced(options))
  }

  /// Rejects a file that is open elsewhere: its other users would continue to write to the unlinked
  /// file.
  class func checkUnused(_ url: URL, _ options: [AnyHashable: Any]?) throws {
    guard !isForced(options), StoreFile.isInUse(at: url) else { return }
    throw NSError.coreData(
      NSPersistentStoreOperationError,
      "\(url.relativePath) is in use. Remove the store from its coordinator first, or pass "
        + "NSPersistentStoreForceDestroyOption.", [NSFilePathErrorKey: url.path])
  }
}

extension URL {
  /// Returns whether both refer to the same file, or are equal.
  ///
  /// The path of a store on a server isn't that of a file, nor of a store on another server.
  fileprivate func isSameLocation(as other: URL) -> Bool {
    guard isPath, other.isPath else { return absoluteString == other.absoluteString }
    return standardizedFileURL.path == other.standardizedFileURL.path
  }

  private var isPath: Bool { isFileURL || scheme == nil }
}

// Metadata of stores: the book's chapter 12, with Core Data's names.

extension NSPersistentStoreCoordinator {
  /// Returns the metadata of a store, including values that were set and aren't saved yet.
  ///
  /// No statements.
  public func metadata(for store: NSPersistentStore) -> [String: Any] {
    store.metadata
  }

  /// Replaces the metadata of a store; the next save of a context writes it.
  ///
  /// The store's type and UUID don't change, and the framework's own keys are kept if the new
  /// values lack them. Copy the old dictionary before you add keys. The save writes what differs
  /// from the file's metadata when it was read, so that what others have written since stays.
  /// - Parameters:
  ///   - metadata: Property-list values; `nil` removes all keys of the app.
  ///   - store: A store of this coordinator.
  public func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
    store.metadata = StoreMetadata.replacing(store.metadata, with: metadata ?? [:])
  }

  /// Returns the metadata of a store file, as it is on disk.
  ///
  /// Requires no stack, and modifies no file. Two statements, four for a store with Core Data's
  /// version hashes: digests of the model that it contains are included, so that
  /// `isConfiguration(withName:compatibleWithStoreMetadata:)` can compare any model. The document
  /// of an XML or binary store is read as a whole.
  /// - Throws: 134000 for a type without a file, 259 if the file is corrupt or isn't of the type,
  ///   260 if there's none, 134080 if it isn't a usable store for another reason.
  public class func metadataForPersistentStore(
    type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    if let storeClass = CustomStoreClasses.class(for: type) {
      return try storeClass.metadataForPersistentStore(with: url)
    }
    if let file = try documentFile(type, at: url) {
      let document = try file.read().document
      return StoreMetadata(uuid: document.uuid, values: document.metadata).publicValues
    }
    return try NSManagedObjectModel.inspecting(at: url) { connection, metadata in
      var values = metadata.publicValues
      if !metadata.hasOwnDigests, let model = try? ModelArchive.readModel(on: connection) {
        values[NSManagedObjectModel.storedModelDigestsKey] = model.entityDigestsByName
      }
      return values
    }
  }

  /// Returns the metadata of a store file; calls `metadataForPersistentStore(type:at:)`.
  public class func metadataForPersistentStore(
    ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(
      type: NSPersistentStore.StoreType(rawValue: storeType), at: url, options: options)
  }

  /// Returns the model in a SQLite store: the one that the store was created with or migrated to.
  ///
  /// Its entities have the version hashes of the store. Two statements and those of the metadata;
  /// no file is modified.
  /// - Throws: 259 if the file isn't a database or is corrupt, 260 if there's none, 134080 if it
  ///   isn't a usable store for another reason, or contains no model.
  public class func cachedModelForPersistentStore(
    at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> NSManagedObjectModel {
    try NSManagedObjectModel.inStoreWithVersionHashes(at: url)
  }

  /// Writes the metadata of a store file immediately.
  ///
  /// Open stores of this file aren't notified. One transaction; the document of an XML or binary
  /// store is written as a whole, and a coordinator that has it open can no longer save.
  /// - Throws: The errors of reading; 134080 also if the file can't be written.
  public class func setMetadata(
    _ metadata: [String: Any]?, type: NSPersistentStore.StoreType, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    if let storeClass = CustomStoreClasses.class(for: type) {
      return try storeClass.setMetadata(metadata, forPersistentStoreAt: url)
    }
    if let file = try documentFile(type, at: url) {
      return try setMetadata(metadata ?? [:], in: file)
    }
    if let problem = StoreFileProblem.examine(path: url.path) {
      throw NSError.unusableStore(problem, url)
    }
    do {
      let connection = try Connection(
        path: url.path, access: .writing,
        options: SQLiteStore.connectionOptions(options, isNew: false))
      defer { connection.close() }
      try connection.execute("BEGIN IMMEDIATE")
      var stored = try StoreMetadata(reading: connection)
      stored.values = StoreMetadata.replacing(stored.publicValues, with: metadata ?? [:])
      try stored.write(to: connection)
      try connection.execute("COMMIT")
    } catch let error as SQLiteError {
      throw NSError.coreData(
        error.code.isOfCorruptFile ? error.openingCode : NSPersistentStoreOpenError,
        "The store \(url.relativePath) couldn't be written: \(error)", error.readingInfo(url))
    } catch let problem as StoreMetadata.Problem {
      throw NSError.coreData(
        NSPersistentStoreOpenError, "\(url.relativePath): \(problem)",
        [NSFilePathErrorKey: url.path])
    } catch {
      throw error as NSError
    }
  }

  /// Sets the metadata of a store file; calls `setMetadata(_:type:at:)`.
  public class func setMetadata(
    _ metadata: [String: Any]?, ofType storeType: String, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(
      metadata, type: NSPersistentStore.StoreType(rawValue: storeType), at: url, options: options)
  }

  /// Sets the metadata of a store file; the name of the method before `ofType`.
  public class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(metadata, ofType: storeType, at: url, options: options)
  }

  private class func setMetadata(_ metadata: [String: Any], in file: AtomicStoreFile) throws {
    var document = try file.read().document
    let old = StoreMetadata(uuid: document.uuid, values: document.metadata).publicValues
    document.metadata = StoreMetadata.replacing(old, with: metadata)
      .filter { $0.key != StoreMetadata.uuidKey }
    _ = try file.create(document)
  }

  /// Returns the document of an XML or binary store; `nil` for a SQLite store.
  ///
  /// - Throws: 134000 for a type without a file, 134080 for a URL that isn't one of a file.
  class func documentFile(
    _ type: NSPersistentStore.StoreType, at url: URL
  ) throws -> AtomicStoreFile? {
    let form = AtomicStoreForm(type)
    guard type == .sqlite || form != nil else {
      throw NSError.coreData(
        NSPersistentStoreInvalidTypeError,
        "There are no store files of the type '\(type.rawValue)'.")
    }
    try requireFile(url)
    return form.map { AtomicStoreFile(url: url, form: $0) }
  }
}
