// swift-format-ignore-file: AlwaysUseLowerCamelCase

import ManagedModel
package import ProfileEvents
import SQLiteDriver
import Synchronization

/// Connects contexts to stores: one model, and one row cache for each store.
///
/// Any thread may use it. Objects of an entity can be in every store whose configuration contains
/// the entity; a relationship never refers to an object in another store. Apple counterpart:
/// `NSPersistentStoreCoordinator`.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  // A lock guards `stores`; the rest is immutable.
  /// The model, which can no longer be changed.
  public let managedObjectModel: NSManagedObjectModel
  /// The hub that receives the events of this coordinator's contexts and stores.
  ///
  /// Set once, before the coordinator is used.
  package private(set) final var eventHub: EventHub
  private let stores = Mutex<CoordinatedStores>(CoordinatedStores())
  /// Whether objects of several stores must be distinguished; once true, it stays so.
  private let severalStores = Atomic<Bool>(false)
  /// The contexts that merge changes automatically.
  let mergeObservers = AutomaticMergeObservers<NSManagedObjectContext>()
  /// The queue on which `perform` runs its blocks.
  let blocks = CoordinatorQueue()
  private let givenName = Mutex<String?>(nil)
  private let givenMigrationLog = Mutex(MigrationDebugLog.requestedByArguments)
  private let bundles = Mutex<[Bundle]>([.main])

  /// The bundles in which automatic migration looks for the mapping model, and for the source model
  /// of a store that doesn't contain it; the main bundle by default.
  ///
  /// Set it before a store is added; `Bundle.module` has the resources of a Swift package. No Apple
  /// counterpart: Core Data looks in all bundles, which Foundation doesn't list on Linux.
  public var migrationBundles: [Bundle] {
    get { bundles.withLock { $0 } }
    set { bundles.withLock { $0 = newValue } }
  }

  /// The log of its migrations; `nil` for none.
  var migrationLog: MigrationDebugLog? {
    get { givenMigrationLog.withLock { $0 } }
    set { givenMigrationLog.withLock { $0 = newValue } }
  }

  /// A name for debugging.
  open var name: String? {
    get { givenName.withLock { $0 } }
    set { givenName.withLock { $0 = newValue } }
  }

  /// Creates a coordinator for a model, which can't be changed afterward.
  ///
  /// No statements.
  ///
  /// With the argument `-com.apple.CoreData.SQLDebug N`, the process logs this coordinator's SQL;
  /// with `-com.apple.CoreData.MigrationDebug N`, its migrations.
  public init(managedObjectModel model: NSManagedObjectModel) {
    ModelLayouts.make(for: model)
    managedObjectModel = model
    eventHub = EventHub()
    super.init()
    if let log = SQLDebugLog.requestedByArguments { eventHub.add(log) }
  }

  /// Creates a coordinator whose events are numbered and recorded together with those of others.
  ///
  /// - Parameter hub: The hub that the coordinators share.
  package convenience init(managedObjectModel model: NSManagedObjectModel, sharing hub: EventHub) {
    self.init(managedObjectModel: model)
    eventHub = hub
  }

  /// The coordinator's stores, in the order in which they were added.
  open var persistentStores: [NSPersistentStore] {
    rowStores
  }

  var rowStores: [RowStore] {
    stores.withLock { $0.all }
  }

  var hasSeveralStores: Bool { severalStores.load(ordering: .relaxed) }

  /// Opens or creates the store in a file, or creates one in memory.
  ///
  /// A SQLite store at `/dev/null` is an in-memory database, which all contexts of the coordinator
  /// share and which is discarded with the store; each such store is separate. There, reads and
  /// saves wait for each other, because there's no WAL. With
  /// `NSMigratePersistentStoresAutomaticallyOption`, a store of another version of the model is
  /// migrated first: SQLite in place or with a mapping model, a document by copy. A file that
  /// doesn't exist is created, unless `NSReadOnlyPersistentStoreOption` is true; such a store is
  /// opened read-only: no file in its folder is modified. **Cost:** creating runs the schema's DDL
  /// in one transaction; opening reads the metadata and the schema. A document is written or read
  /// as a whole, without statements.
  ///
  /// - Parameters:
  ///   - type: The type of the store.
  ///   - configuration: The model's configuration whose entities the store contains; `nil`, or the
  ///     `configurationName` of a store with all entities, for all.
  ///   - storeURL: The store's file.
  ///   - options: The options of the store by key, such as `NSReadOnlyPersistentStoreOption`.
  /// - Throws: 259 if the file is corrupt or isn't of the type, with SQLite's code for
  ///   `NSSQLiteErrorDomain`; 260 if there's none and it's opened read-only; 512 if the folder of a
  ///   new SQLite store doesn't exist; 134080 if it isn't a usable store for another reason, was
  ///   already added, or an option is invalid; 134100 if it was created with another model and
  ///   isn't to be migrated, the errors of migration 134110, 134130, and 134140; 134020 if it lacks
  ///   tables or columns, 134000 for an unknown type, 134070 for a configuration that isn't in the
  ///   model.
  @discardableResult
  open func addPersistentStore(
    type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try add(type, configuration, at: storeURL, options: options)
  }

  /// Adds a store; calls `addPersistentStore(type:at:)`.
  ///
  /// An in-memory store needs no URL.
  @discardableResult
  open func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try add(
      NSPersistentStore.StoreType(rawValue: storeType), configuration, at: storeURL,
      options: options)
  }

  /// Opens a store and adds it.
  ///
  /// - Parameters:
  ///   - original: The store that a new in-memory SQLite store is a copy of.
  ///   - document: The contents of a new in-memory store.
  func add(
    _ type: NSPersistentStore.StoreType, _ configuration: String?, at url: URL?,
    options: [AnyHashable: Any]?, copying original: SQLiteStore? = nil,
    containing document: StoreDocument? = nil
  ) throws -> NSPersistentStore {
    let isDefault = configuration == NSManagedObjectModel.defaultConfigurationName
    let configuration = isDefault ? nil : configuration
    guard managedObjectModel.entities(forConfigurationName: configuration) != nil else {
      throw NSError.store(
        "The model has no configuration '\(configuration ?? "")'. It has: "
          + managedObjectModel.configurations.joined(separator: ", ") + ".")
    }
    let identifier = original?.identifier ?? formerIdentifier(type, at: url)
    // Two threads may add stores at the same time.
    let storeIndex = stores.withLock { $0.reserve(for: identifier) }
    do {
      let store = try open(
        type, configuration, at: url, options: options, storeIndex: storeIndex, copying: original,
        containing: document)
      store.persistentStoreCoordinator = self
      store.handle.join(self)
      do {
        let hasSeveralStores = try stores.withLock { try $0.fill(storeIndex, with: store) }
        if hasSeveralStores { severalStores.store(true, ordering: .relaxed) }
      } catch {
        store.close()
        throw error
      }
      // A later migration to its file mustn't remove what the program saves to it.
      if store.metadata[StoreMetadata.incompleteMigrationKey] != nil, !store.isReadOnly {
        store.metadata.removeValue(forKey: StoreMetadata.incompleteMigrationKey)
      }
      store.didAdd(to: self)
      postStoresDidChange([NSAddedPersistentStoresKey: [store]])
      return store
    } catch {
      stores.withLock { $0.release(storeIndex) }
      throw error as NSError
    }
  }

  /// Returns the identifier of a store's file, if it may be that of a removed store; otherwise
  /// `nil`.
  private func formerIdentifier(_ type: NSPersistentStore.StoreType, at url: URL?) -> String? {
    guard let url, stores.withLock({ !$0.former.isEmpty }) else { return nil }
    let metadata = try? Self.metadataForPersistentStore(type: type, at: url)
    return metadata?[NSStoreUUIDKey] as? String
  }

  private func open(
    _ type: NSPersistentStore.StoreType, _ configuration: String?, at url: URL?,
    options: [AnyHashable: Any]?, storeIndex: Int, copying original: SQLiteStore?,
    containing document: StoreDocument?
  ) throws -> RowStore {
    switch type {
    case .sqlite:
      guard let url else {
        throw NSError.coreData(
          NSPersistentStoreOpenError, "A SQLite store needs the URL of a file.")
      }
      try Self.requireFile(url)
      if let original {
        return try original.openCopyInMemory(
          at: url, storeIndex: storeIndex, options: options, model: managedObjectModel,
          hub: eventHub)
      }
      return try migrating(url, type, configuration, options) { isMigrated in
        try SQLiteStore.open(
          at: url, configuration: configuration, storeIndex: storeIndex, options: options,
          model: managedObjectModel, hub: eventHub, isMigrated: isMigrated)
      }
    case .inMemory:
      if let document {
        return try MemoryStore(
          document, model: managedObjectModel, configuration: configuration, storeIndex: storeIndex,
          url: url, options: options)
      }
      return MemoryStore(
        model: managedObjectModel, configuration: configuration, storeIndex: storeIndex, url: url,
        options: options)
    default:
      if let storeClass = CustomStoreClasses.class(for: type) {
        return try openCustom(
          storeClass, type, configuration, at: url, options: options, storeIndex: storeIndex)
      }
      guard let form = AtomicStoreForm(type) else {
        throw NSError.coreData(
          NSPersistentStoreInvalidTypeError, "There are no stores of the type '\(type.rawValue)'.")
      }
      guard let url else {
        throw NSError.coreData(
          NSPersistentStoreOpenError,
          "A store of the type '\(type.rawValue)' needs the URL of a file.")
      }
      try Self.requireFile(url)
      return try migrating(url, type, configuration, options) { _ in
        try AtomicStoreDocument.open(
          form, at: url, model: managedObjectModel, configuration: configuration,
          storeIndex: storeIndex,
          options: options)
      }
    }
  }

  /// Removes and returns a store; `nil` if it isn't in the list.
  func detach(_ store: NSPersistentStore) -> RowStore? {
    stores.withLock { $0.remove(store) }
  }

  /// Adds a removed store again.
  func attach(_ store: RowStore) {
    _ = stores.withLock { try? $0.fill(store.storeIndex, with: store) }
  }

  /// Returns the object ID for a URI; `nil` if it's of another store or an unknown entity, or isn't
  /// an object URI.
  ///
  /// No statements: doesn't check whether the row exists.
  open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
    let path = URLComponents(url: url, resolvingAgainstBaseURL: false)?.percentEncodedPath ?? ""
    let parts = path.split(separator: "/")
    guard url.scheme == "x-coredata", parts.count == 2, parts[1].hasPrefix("p"),
      let name = parts[0].removingPercentEncoding,
      let entity = managedObjectModel.entitiesByName[name],
      let store = rowStores.first(where: {
        url.host?.caseInsensitiveCompare($0.identifier) == .orderedSame
      })
    else { return nil }
    let layout = EntityLayout.of(entity).at(store.storeIndex)
    guard store.layouts.contains(layout) else { return nil }
    let text = String(parts[1].dropFirst())
    let key =
      store.handle.references.map { $0.key(ofComponent: text, layout) } ?? Int64(text) ?? 0
    guard key > 0 else { return nil }
    return NSManagedObjectID(layout: layout, primaryKey: key, store: store)
  }

  /// Returns the object ID for the text of a URI, as `managedObjectID(forURIRepresentation:)` does.
  ///
  /// `nil` for text that isn't a URL, too. No statements.
  public func managedObjectID(for string: String) -> NSManagedObjectID? {
    URL(string: string).flatMap { managedObjectID(forURIRepresentation: $0) }
  }

  /// Returns the store at an index, if it was added.
  func store(at storeIndex: Int) -> RowStore? {
    stores.withLock { $0.store(at: storeIndex) }
  }

  /// Returns the store that was removed from an index that's still unused, or one in its place if
  /// it was released.
  func formerStore(at storeIndex: Int) -> RowStore? {
    stores.withLock { $0.former[storeIndex] }?.found()
  }

  /// Returns the stores that can contain an entity, in order.
  func stores(containing layout: EntityLayout) -> [RowStore] {
    rowStores.filter { $0.layouts.contains(layout) }
  }

  /// Returns any store, for information that all of them have.
  func anyStore() throws -> RowStore {
    guard let store = rowStores.first else { throw NSError.noStore() }
    return store
  }

  /// Removes rows that were changed elsewhere from the row cache of each store.
  func forget(_ changes: MergedChanges) {
    for store in rowStores { store.forget(changes.of(store.storeIndex)) }
  }

  /// Returns the store for new objects of an entity: the first writable one that can contain it.
  ///
  /// - Throws: 134030 if there's none.
  func homeStore(of layout: EntityLayout) throws -> RowStore {
    let stores = rowStores
    guard !stores.isEmpty else { throw NSError.noStore() }
    let candidates = stores.filter { $0.layouts.contains(layout) }
    guard let store = candidates.first(where: { !$0.isReadOnly }) ?? candidates.first else {
      throw NSError.noStore(containing: layout.entityName)
    }
    return store
  }
}

extension NSPersistentStoreCoordinator {
  /// Interrupts the statements that are running on all its stores; their callers get error 134180.
  ///
  /// Call it from any thread. For work whose errors are thrown, and for reading: a fault whose
  /// SELECT is interrupted has default values until
  /// `NSManagedObjectContext.revertInterruptedFaults()`.
  package func interruptStatements() {
    for case let store as SQLiteStore in persistentStores { store.pool.interrupt() }
  }

  /// Interrupts the statement of a save or a batch request that is running on any of its stores;
  /// its caller gets error 134180, and its transaction is rolled back.
  ///
  /// Call it from any thread. Concurrent reads, such as a fault that a save fires, aren't
  /// interrupted.
  package func interruptWriting() {
    for case let store as SQLiteStore in persistentStores { store.pool.interruptWriter() }
  }
}

// Core Data's names of a coordinator's notifications and of their keys.

extension Notification.Name {
  /// Posted when a coordinator's stores are about to change.
  ///
  /// Core Data posts it when an iCloud account changes; OpenCoreData never does.
  public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresWillChangeNotification")
  /// Posted after a store was added to or removed from a coordinator.
  ///
  /// Posted on the thread that made the change, with the coordinator as the object; the stores are
  /// in arrays under `NSAddedPersistentStoresKey` and `NSRemovedPersistentStoresKey`. A store that
  /// was migrated is under `NSUUIDChangedPersistentStoresKey`.
  public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresDidChangeNotification")
  /// Posted when a coordinator is about to remove a store, which can be read and written until all
  /// observers have returned.
  ///
  /// Posted on the thread that removes it, with the store as the object.
  public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
    "NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

/// Key of the stores that were added to a coordinator.
public let NSAddedPersistentStoresKey = "added"
/// Key of the stores that were removed from a coordinator, or are about to be.
public let NSRemovedPersistentStoresKey = "removed"
/// Key of a migrated store: an array of the old store, the new store, and an array of pairs, each
/// an array of an object's old and new `NSManagedObjectID`.
public let NSUUIDChangedPersistentStoresKey = "NSUUIDChangedPersistentStores"

extension NSPersistentStoreCoordinator {
  /// Posts that the stores have changed.
  func postStoresDidChange(_ userInfo: [AnyHashable: Any]) {
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: userInfo)
  }

  /// Posts that a store is about to be removed.
  func postWillRemove(_ store: NSPersistentStore) {
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
  }
}
