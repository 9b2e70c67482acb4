import ManagedModel
import SQLiteDriver
import Synchronization

/// The conversion of a store to another type: its saved objects are copied one by one.
///
/// Unsaved changes of contexts stay in their contexts. Persistent history isn't copied.
struct StoreConversion {
  let store: RowStore
  let model: NSManagedObjectModel
  /// The new store.
  let url: URL?
  let type: NSPersistentStore.StoreType
  let options: [AnyHashable: Any]?

  /// The keys of an object in both stores.
  struct Pair {
    let entity: String
    let former: Int64
    let new: Int64
  }

  /// The contents of a new in-memory store, and the keys of all objects.
  struct Result {
    let document: StoreDocument?
    let pairs: [Pair]
  }

  /// Writes the new store; for an in-memory store, returns its contents.
  ///
  /// **Cost:** memory for the objects of a document or in-memory store; otherwise as a mapped
  /// migration.
  /// - Throws: 134150 or 134160 if one of the stores can't be used; the file system's errors. They
  ///   name the stores, not their temporary copies. There's no new store then.
  func run() throws -> Result {
    // Those of conversions whose process was killed.
    TemporaryFolders.removeLeftBehind()
    let path: String
    do throws(SQLiteError) {
      path = try TemporaryFolders.make()
    } catch {
      throw NSError.coreData(
        CocoaError.Code.fileWriteOutOfSpace.rawValue,
        "The store \(sourceName) can't be copied: \(error.message). Free some space, or set TMPDIR to "
          + "a folder that has some.", store.url.map { [NSFilePathErrorKey: $0.path] } ?? [:])
    }
    let folder = URL(fileURLWithPath: path, isDirectory: true)
    defer { TemporaryFolders.remove(path) }
    do {
      if store.isIncremental { return try convertIncremental(in: folder) }
      guard let memory = store as? MemoryStore else {
        return try convertDatabase(in: folder)
      }
      return try convert(memory, in: folder)
    } catch {
      // Both are copies of the store, in a folder that's removed.
      throw ["Store.sqlite", "Store.binary"].reduce(error as NSError) { error, name in
        error.naming(sourceName, insteadOf: folder.appendingPathComponent(name))
      }
    }
  }

  private var sourceName: String { store.url?.path ?? "in memory" }

  /// Writes the objects of a store that has them in memory.
  func convert(_ memory: MemoryStore, in folder: URL) throws -> Result {
    var (document, pairs) = try memory.numberedDocument()
    guard type == .sqlite else {
      document.metadata = StoreMetadata.converted(document.metadata, to: type)
      if let url, let form = AtomicStoreForm(type) {
        _ = try AtomicStoreFile(url: url, form: form).create(document)
      }
      return Result(document: AtomicStoreForm(type) == nil ? document : nil, pairs: pairs)
    }
    guard let url else { throw NSError.store("A SQLite store needs the URL of a file.") }
    let file = folder.appendingPathComponent("Store.binary")
    document.metadata = StoreMetadata.converted(document.metadata, to: .binary)
    _ = try AtomicStoreFile(url: file, form: .binary).create(document)
    let copied = try copy(file, .binary, to: url, as: .sqlite)
    return Result(document: nil, pairs: Self.joined(pairs, copied))
  }

  /// Returns the keys of objects that were copied twice.
  static func joined(_ first: [Pair], _ second: [Pair]) -> [Pair] {
    let keys = Dictionary(
      second.map { ("\($0.entity) \($0.former)", $0.new) }, uniquingKeysWith: { first, _ in first })
    return first.compactMap { pair in
      keys["\(pair.entity) \(pair.new)"].map {
        Pair(entity: pair.entity, former: pair.former, new: $0)
      }
    }
  }

  private func convertDatabase(in folder: URL) throws -> Result {
    guard let sqlite = store as? SQLiteStore, let source = sqlite.url else {
      throw NSError.store("The store \(store) can't be copied.")
    }
    let file = folder.appendingPathComponent("Store.sqlite")
    try sqlite.copyFiles(from: source, to: file)
    if let url, AtomicStoreForm(type) != nil {
      return Result(document: nil, pairs: try copy(file, .sqlite, to: url, as: type))
    }
    let document = folder.appendingPathComponent("Store.binary")
    let pairs = try copy(file, .sqlite, to: document, as: .binary)
    return Result(
      document: try AtomicStoreFile(url: document, form: .binary).read().document, pairs: pairs)
  }
}

extension StoreConversion {
  /// Copies a file to the new store's URL, or to a document for an in-memory store.
  private func copy(
    _ source: URL, _ sourceType: NSPersistentStore.StoreType, to destination: URL,
    as destinationType: NSPersistentStore.StoreType
  ) throws -> [Pair] {
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: model, destinationModel: model)
    let stored = Set(
      (model.entities(forConfigurationName: store.configuration) ?? []).compactMap(\.name))
    mapping.entityMappings.removeAll { !stored.contains($0.sourceEntityName ?? "") }
    let manager = NSMigrationManager(sourceModel: model, destinationModel: model)
    manager.configuration = store.configuration
    manager.checksCounts = false
    let temporary = TemporaryStore(replacing: destination)
    defer { temporary.remove() }
    let new = temporary.url
    do {
      try manager.convertStore(
        at: source, sourceType, mapping: mapping, to: new,
        destinationType, options)
      if destinationType == .sqlite {
        try StoreFile.move(from: new, to: destination)
      } else {
        try Self.replace(destination, by: new)
      }
    } catch {
      throw (error as NSError).naming(destination.path, insteadOf: new)
    }
    return mapping.entityMappings.flatMap { mapping in
      let known = manager.associations(of: mapping)
      return zip(known.sources(in: 0..<known.count), known.destinations(in: 0..<known.count))
        .map { former, new in
          Pair(
            entity: new.layout.entityName, former: former.primaryKey, new: new.primaryKey)
        }
    }
  }
}

extension StoreConversion {
  /// Moves a document, which is on disk, to a URL on the same volume.
  private static func replace(_ destination: URL, by new: URL) throws {
    let unsynced: FileProblem?
    do {
      unsynced = try StoreFile.replace(destination, by: new)
    } catch {
      throw NSError.file(destination.path, "replaced", (error as? FileProblem)?.number ?? EIO)
    }
    if let unsynced { throw NSError.unsynced(destination, unsynced) }
  }
}

extension StoreMetadata {
  /// Returns the metadata of a store of another type with the same contents.
  fileprivate static func converted(
    _ values: [String: Any], to type: NSPersistentStore.StoreType
  ) -> [String: Any] {
    var result = values
    result[storeTypeKey] = type.rawValue
    result[uuidKey] = nil
    result[autoVacuumKey] = nil
    return result
  }
}

extension MemoryStore {
  /// Returns the saved objects as a document, in which a key is used once.
  ///
  /// The objects of an in-memory store and of a program's own get new keys; those of a document
  /// keep theirs.
  /// - Throws: 134070 if the store was removed.
  fileprivate func numberedDocument() throws -> (StoreDocument, [StoreConversion.Pair]) {
    let (tables, lastKeys) = contents.withLock { ($0.tables, $0.lastKeys) }
    // It may have been removed on another thread, which empties the tables.
    guard !isRemoved else { throw NSError.removedStore(self) }
    var document = StoreDocument(
      uuid: identifier, metadata: metadata, lastKey: lastKeys.max() ?? 0, tables: tables)
    let isNumbered = lastKeys.count == 1 && handle.references == nil
    var keys: [String: Int64] = [:]
    for (index, object) in document.objects.enumerated() {
      let new = isNumbered ? object.key : Int64(index + 1)
      keys["\(root(object.entity)) \(object.key)"] = new
    }
    let pairs = document.objects.compactMap { object in
      keys["\(root(object.entity)) \(object.key)"].map {
        StoreConversion.Pair(entity: object.entity, former: object.key, new: $0)
      }
    }
    guard !isNumbered else { return (document, pairs) }
    document.uuid = UUID().uuidString
    document.lastKey = Int64(document.objects.count)
    document.objects = zip(document.objects, pairs).map { object, pair in
      var copy = StoreDocument.Object(entity: object.entity, key: pair.new)
      copy.attributes = object.attributes
      copy.relationships = object.relationships.map { relationship in
        let root = root(relationship.destination)
        return StoreDocument.Relationship(
          name: relationship.name, isToMany: relationship.isToMany,
          destination: relationship.destination,
          keys: relationship.keys.compactMap { keys["\(root) \($0)"] })
      }
      return copy
    }
    return (document, pairs)
  }

  private func root(_ entity: String) -> Int {
    layouts.byName[entity]?.rootIndex ?? -1
  }
}

// Copying a store to another file or type.

extension NSPersistentStoreCoordinator {
  /// Copies a store to another file or type, opens the copy instead of the store, and removes the
  /// store.
  ///
  /// The files of the old store aren't deleted. Objects of contexts belong to the old store, so
  /// reset the contexts; unsaved changes aren't copied, except metadata and what an observer of the
  /// will-remove notification saves. A save to the store on another thread fails with 134070 until
  /// the copy is open. A store at the URL is replaced. The did-change notification has the old and
  /// the new ID of every object.
  ///
  /// A SQLite store is copied to another as a file: object IDs keep their URIs, because the copy
  /// has the same UUID. A copy of another type has its objects, its own UUID if primary keys
  /// change, and no history. **Cost:** copying the file, as `addPersistentStore`, and one SELECT of
  /// primary keys for each table; for another type, that of `NSMigrationManager.migrateStore`, and
  /// of a document in memory. A program's own store is read and written through contexts, all
  /// objects at once; a new one is added to a coordinator of its own first, and must have none.
  /// - Returns: The new store.
  /// - Throws: 134000 for an unknown type, 259 if there's a file at the URL that's corrupt or isn't
  ///   of the type, 134080 if it isn't a store for another reason, or is a program's own store with
  ///   objects, 134070 for a store of another coordinator, one that is being written continuously,
  ///   or a SQLite store at the URL that's in use (unless `NSPersistentStoreForceDestroyOption` is
  ///   true); the file system's errors. After an error, the old store is still added.
  @discardableResult
  public func migratePersistentStore(
    _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil,
    type: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    guard let sqlite = store as? SQLiteStore, type == .sqlite, let source = sqlite.url else {
      return try convert(store, to: url, options, type)
    }
    guard sqlite.persistentStoreCoordinator === self else {
      throw NSError.store("The store \(store) isn't one of this coordinator's.")
    }
    let isMoved = source.standardizedFileURL != url.standardizedFileURL
    if !url.isNullDevice {
      try Self.checkReplaceable(url, .sqlite, options)
      if isMoved { try Self.checkUnused(url, options) }
    }
    // Its observers may save to the store.
    postWillRemove(store)
    return try whileMoving(sqlite) {
      if !url.isNullDevice {
        let target = TemporaryStore(replacing: url)
        defer { target.remove() }
        do {
          try sqlite.copyFiles(from: source, to: target.url)
          if isMoved { try StoreFile.move(from: target.url, to: url) }
        } catch {
          throw (error as NSError).naming(url.path, insteadOf: target.url)
        }
      }
      return try replace(sqlite, at: url, options)
    }
  }

  /// Calls a body that copies a store and replaces it by the copy, while nothing is saved to it.
  func whileMoving<Result>(_ store: RowStore, _ body: () throws -> Result) throws -> Result {
    do {
      try store.beginMoving()
      return try body()
    } catch {
      store.isMoving = false
      throw error
    }
  }

  /// Removes a SQLite store, and adds its copy.
  private func replace(
    _ store: SQLiteStore, at url: URL, _ options: [AnyHashable: Any]?
  ) throws -> NSPersistentStore {
    let removed = detach(store)
    do {
      let new = try add(
        .sqlite, store.configuration, at: url, options: options,
        copying: url.isNullDevice ? store : nil)
      // A store that's opened again at its URL has no copy with its metadata.
      if store.hasUnsavedMetadata, url.standardizedFileURL == store.url?.standardizedFileURL {
        new.metadata = store.mergedMetadata(into: new.metadata)
      }
      removed?.close()
      // The copy is open and complete; a key that can't be read from it has no pair of IDs.
      let pairs = (try? (new as? SQLiteStore)?.idPairs(from: store)) ?? []
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
    if CustomStoreClasses.class(for: type) != nil {
      return try convertToRegistered(store, to: url, options, type)
    }
    if type != .inMemory {
      if type != .sqlite { _ = try Self.documentFile(type, at: url) }
      try Self.refuseDevice(url)
      try Self.checkReplaceable(url, type, options)
      if type == .sqlite { try Self.checkUnused(url, options) }
    }
    guard let former = store as? RowStore, store.persistentStoreCoordinator === self else {
      throw NSError.store("The store \(store) isn't one of this coordinator's.")
    }
    postWillRemove(store)
    return try whileMoving(former) {
      let result = try StoreConversion(
        store: former, model: managedObjectModel, url: url, type: type, options: options
      ).run()
      return try replace(former) {
        try add(type, former.configuration, at: url, options: options, containing: result.document)
      } pairs: { _ in
        result.pairs
      }
    }
  }

  /// Removes a store, adds its copy, and posts the IDs of all objects in both.
  ///
  /// That it will be removed was posted before it was copied: observers may save to it.
  /// - Throws: The error of adding the copy; the store is added then.
  func replace(
    _ store: RowStore, by addCopy: () throws -> NSPersistentStore,
    pairs: (NSPersistentStore) -> [StoreConversion.Pair]
  ) throws -> NSPersistentStore {
    let removed = detach(store)
    do {
      let new = try addCopy()
      // Only now: after an error, a program's own store is used again.
      store.withoutSaves {
        store.willRemove(from: self)
        removed?.close()
      }
      postStoresDidChange([
        NSRemovedPersistentStoresKey: [store],
        NSUUIDChangedPersistentStoresKey: [
          store, new, pairs(new).compactMap { $0.identifiers(from: store, to: new) },
        ] as [Any],
      ])
      return new
    } catch {
      if let removed { attach(removed) }
      throw error
    }
  }

  /// Migrates a store; calls `migratePersistentStore(_:to:options:type:)`.
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
