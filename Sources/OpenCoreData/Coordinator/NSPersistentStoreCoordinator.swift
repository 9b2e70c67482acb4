// swift-format-ignore-file: AlwaysUseLowerCamelCase

import ManagedModel
package import ProfileEvents
import SQLiteDriver
import Synchronization

/// Connects contexts with stores: one model, one row cache for each store.
///
/// Any thread may use it. Objects of an entity may be in every store that holds the entity, by its
/// configuration; a relationship never leads from one store into another. Apple counterpart:
/// `NSPersistentStoreCoordinator`.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  // `stores` is behind a lock, the rest never changes
  /// The model, which may not be changed any more.
  public let managedObjectModel: NSManagedObjectModel
  /// Where the events of this coordinator's contexts and store go.
  ///
  /// Set before the coordinator is used, and never again.
  package private(set) final var eventHub: EventHub
  private let stores = Mutex<CoordinatedStores>(CoordinatedStores())
  /// Whether it matters which store an object is in; once true, it stays so.
  private let isSpreadNow = Atomic<Bool>(false)
  /// The contexts that merge by themselves what others save.
  let mergeObservers = AutomaticMergeObservers<NSManagedObjectContext>()
  /// Where `perform` runs its blocks.
  let blocks = CoordinatorQueue()
  private let givenName = Mutex<String?>(nil)

  /// A name for debugging.
  public var name: String? {
    get { givenName.withLock { $0 } }
    set { givenName.withLock { $0 = newValue } }
  }

  /// A coordinator for a model, which is frozen by this.
  ///
  /// No statement.
  ///
  /// With the argument `-com.apple.CoreData.SQLDebug N` the process logs this coordinator's SQL.
  public init(managedObjectModel model: NSManagedObjectModel) {
    ModelLayouts.make(for: model)
    managedObjectModel = model
    eventHub = EventHub()
    super.init()
    if let log = SQLDebugLog.requestedByArguments { eventHub.add(log) }
  }

  /// A coordinator whose events are numbered and heard with those of others.
  ///
  /// - Parameter hub: what the coordinators share.
  package convenience init(managedObjectModel model: NSManagedObjectModel, sharing hub: EventHub) {
    self.init(managedObjectModel: model)
    eventHub = hub
  }

  /// The stores that were added, in the order in which they were.
  public var persistentStores: [NSPersistentStore] {
    rowStores
  }

  var rowStores: [RowStore] {
    stores.withLock { $0.all }
  }

  var isSpread: Bool { isSpreadNow.load(ordering: .relaxed) }

  /// Opens or creates the store in a file, or makes one in memory.
  ///
  /// A SQLite store at `/dev/null` is a database in memory, which all contexts of the coordinator share
  /// and which is discarded with the store; each such store is one of its own. Readers and a save wait
  /// for each other there, as there's no write-ahead log.
  /// A file that does not exist is created, unless `NSReadOnlyPersistentStoreOption` is true; such a
  /// store is only looked at: no byte in its folder changes.
  /// Cost: creating runs the schema's DDL in one transaction; opening reads the metadata and the schema.
  /// A document is written, or read, whole, and no statement runs.
  /// - Parameter configuration: The model's configuration whose entities the store holds; nil for all.
  /// - Throws: 134080 with a sentence when the file isn't a usable store, is one of this coordinator's
  ///   already, or an option is none; 134100 when it was made with another model, 134020 when it lacks tables or columns,
  ///   134000 for another type of store, 134070 for a configuration that the model does not have.
  @discardableResult
  public func addPersistentStore(
    type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try add(type, configuration, at: storeURL, options: options)
  }

  /// The older spelling of `addPersistentStore(type:at:)`.
  ///
  /// A store in memory needs no URL.
  @discardableResult
  public func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try add(
      NSPersistentStore.StoreType(rawValue: storeType), configuration, at: storeURL,
      options: options)
  }

  /// Opens a store and adds it.
  ///
  /// - Parameter original: The store that a new one in memory is a copy of.
  func add(
    _ type: NSPersistentStore.StoreType, _ configuration: String?, at url: URL?,
    options: [AnyHashable: Any]?, copying original: SQLiteStore? = nil
  ) throws -> NSPersistentStore {
    guard managedObjectModel.entities(forConfigurationName: configuration) != nil else {
      throw NSError.store(
        "The model has no configuration '\(configuration ?? "")'. It has: "
          + managedObjectModel.configurations.joined(separator: ", ") + ".")
    }
    let identifier = original?.identifier ?? formerIdentifier(type, at: url)
    // Two threads may add stores at the same time.
    let place = stores.withLock { $0.reserve(for: identifier) }
    do {
      let store = try open(
        type, configuration, at: url, options: options, place: place, copying: original)
      store.persistentStoreCoordinator = self
      store.handle.join(self)
      do {
        let isSpread = try stores.withLock { try $0.fill(place, with: store) }
        if isSpread { isSpreadNow.store(true, ordering: .relaxed) }
      } catch {
        store.close()
        throw error
      }
      postStoresDidChange([NSAddedPersistentStoresKey: [store]])
      return store
    } catch {
      stores.withLock { $0.release(place) }
      throw error as NSError
    }
  }

  /// The identifier of a store's file, where the store may be one that was removed; nil for any other.
  private func formerIdentifier(_ type: NSPersistentStore.StoreType, at url: URL?) -> String? {
    guard let url, stores.withLock({ !$0.former.isEmpty }) else { return nil }
    let metadata = try? Self.metadataForPersistentStore(type: type, at: url)
    return metadata?[NSStoreUUIDKey] as? String
  }

  private func open(
    _ type: NSPersistentStore.StoreType, _ configuration: String?, at url: URL?,
    options: [AnyHashable: Any]?, place: Int, copying original: SQLiteStore?
  ) throws -> RowStore {
    switch type {
    case .sqlite:
      guard let url else {
        throw NSError.coreData(
          NSPersistentStoreOpenError, "A SQLite store needs the URL of a file.")
      }
      if let original {
        return try original.openCopyInMemory(
          at: url, place: place, options: options, model: managedObjectModel, hub: eventHub)
      }
      return try SQLiteStore.open(
        at: url, configuration: configuration, place: place, options: options,
        model: managedObjectModel, hub: eventHub)
    case .inMemory:
      return MemoryStore(
        model: managedObjectModel, configuration: configuration, place: place, url: url,
        options: options)
    default:
      guard let form = AtomicStoreForm(type) else {
        throw NSError.coreData(
          NSPersistentStoreInvalidTypeError, "There are no stores of the type '\(type.rawValue)'.")
      }
      guard let url else {
        throw NSError.coreData(
          NSPersistentStoreOpenError,
          "A store of the type '\(type.rawValue)' needs the URL of a file.")
      }
      return try AtomicStoreDocument.open(
        form, at: url, model: managedObjectModel, configuration: configuration, place: place,
        options: options)
    }
  }

  /// Takes a store out of the list; nil when it is not there.
  func detach(_ store: NSPersistentStore) -> RowStore? {
    stores.withLock { $0.remove(store) }
  }

  /// Puts a store back that was taken out.
  func attach(_ store: RowStore) {
    _ = stores.withLock { try? $0.fill(store.place, with: store) }
  }

  /// The classes of stores by their types.
  ///
  /// Apple's gives each class in an `NSValue`.
  public class var registeredStoreTypes: [String: AnyClass] {
    [
      NSSQLiteStoreType: SQLiteStore.self, NSXMLStoreType: MemoryStore.self,
      NSBinaryStoreType: MemoryStore.self, NSInMemoryStoreType: MemoryStore.self,
    ]
  }

  /// The ID that a URI names; nil for a URI of another store, an unknown entity, or no object URI.
  ///
  /// No statement: whether the row exists is not looked up.
  public func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
    let parts = url.path.split(separator: "/")
    guard url.scheme == "x-coredata", parts.count == 2, parts[1].hasPrefix("p"),
      let key = Int64(parts[1].dropFirst()), key > 0,
      let entity = managedObjectModel.entitiesByName[String(parts[0])],
      let store = rowStores.first(where: {
        url.host?.caseInsensitiveCompare($0.identifier) == .orderedSame
      })
    else { return nil }
    let layout = EntityLayout.of(entity).at(store.place)
    guard store.layouts.holds(layout) else { return nil }
    return NSManagedObjectID(layout: layout, primaryKey: key, store: store)
  }

  /// The store at a place, when it has been added.
  func store(at place: Int) -> RowStore? {
    stores.withLock { $0.store(at: place) }
  }

  /// The store that was removed from a place that's still free.
  func formerStore(at place: Int) -> RowStore? {
    stores.withLock { $0.former[place] }
  }

  /// The stores that hold an entity, in their order.
  func stores(holding layout: EntityLayout) -> [RowStore] {
    rowStores.filter { $0.layouts.holds(layout) }
  }

  /// Any store, for what all of them know.
  func anyStore() throws -> RowStore {
    guard let store = rowStores.first else { throw NSError.noStore() }
    return store
  }

  /// Empties the row cache of each store of what somebody else has written to it.
  func forget(_ changes: MergedChanges) {
    for store in rowStores { store.forget(changes.of(store.place)) }
  }

  /// The store that new objects of an entity go to: the first that holds it and may be written.
  ///
  /// - Throws: 134030 when there is none.
  func homeStore(of layout: EntityLayout) throws -> RowStore {
    let stores = rowStores
    guard !stores.isEmpty else { throw NSError.noStore() }
    let holding = stores.filter { $0.layouts.holds(layout) }
    guard let store = holding.first(where: { !$0.isReadOnly }) ?? holding.first else {
      throw NSError.coreData(
        NSPersistentStoreSaveError,
        "No store of the coordinator contains the entity '\(layout.entity.name ?? "")': "
          + "their configurations do not have it.")
    }
    return store
  }
}

extension NSPersistentStore {
  /// A kind of store.
  ///
  /// Apple counterpart: `NSPersistentStore.StoreType`.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    /// Apple's name of the type.
    public let rawValue: String

    /// Takes Apple's name of the type.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// A SQLite file of Apple's format.
    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)

    /// One XML document, read whole when the store is added and written whole by each save.
    public static let xml = StoreType(rawValue: NSXMLStoreType)

    /// One binary document, read whole when the store is added and written whole by each save.
    public static let binary = StoreType(rawValue: NSBinaryStoreType)

    /// Rows in the memory of the process, gone with the store.
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
  }
}

extension NSPersistentStoreCoordinator {
  /// Stops the statements that run now, on all its stores; whoever runs one gets 134180.
  ///
  /// From any thread. For work whose errors are thrown, and for reading: a fault whose SELECT is stopped
  /// reads as empty until `NSManagedObjectContext.revertInterruptedFaults()`.
  package func interruptStatements() {
    for case let store as SQLiteStore in persistentStores { store.pool.interrupt() }
  }

  /// Stops the statement of a save or of a batch request that runs now, on all its stores; whoever runs
  /// one gets 134180, and nothing of its transaction is kept.
  ///
  /// From any thread. What is read meanwhile, such as a fault that a save fires, is not stopped.
  package func interruptWriting() {
    for case let store as SQLiteStore in persistentStores { store.pool.interruptWriter() }
  }
}

// Apple's names of a coordinator's notifications and of their keys.

extension Notification.Name {
  /// A coordinator's stores are about to change.
  ///
  /// Core Data posts it when an iCloud account changes; OpenCoreData never does.
  public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresWillChangeNotification")
  /// A coordinator has got a store, or has one less.
  ///
  /// Posted by the thread that did it, with the coordinator as the object; the stores are in arrays
  /// under `NSAddedPersistentStoresKey` and `NSRemovedPersistentStoresKey`. A store that was migrated is
  /// under `NSUUIDChangedPersistentStoresKey`.
  public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresDidChangeNotification")
  /// A coordinator is going to take a store away, which can be read until all have been told.
  ///
  /// Posted by the thread that does it, with the store as the object.
  public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
    "NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

/// Key of the stores that a coordinator has got.
public let NSAddedPersistentStoresKey = "added"
/// Key of the stores that a coordinator has lost, or is going to lose.
public let NSRemovedPersistentStoresKey = "removed"
/// Key of a store that was migrated elsewhere: an array of the old store, the new store, and an array of
/// pairs, each an array of an object's old and new `NSManagedObjectID`.
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
