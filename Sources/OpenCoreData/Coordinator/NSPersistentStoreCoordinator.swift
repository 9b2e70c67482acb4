import ManagedModel
package import ProfileEvents
import Synchronization

/// Connects contexts with a store: one model, one store, one row cache.
///
/// Any thread may use it. Apple counterpart: `NSPersistentStoreCoordinator`; it takes several stores
/// there, one here so far.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  // `stores` is behind a lock, the rest never changes
  /// The model, which may not be changed any more.
  public let managedObjectModel: NSManagedObjectModel
  /// Where the events of this coordinator's contexts and store go.
  package let eventHub: EventHub
  private let stores = Mutex<[RowStore]>([])
  /// The contexts that merge by themselves what others save.
  let followers = ContextFollowers()

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
  package init(managedObjectModel model: NSManagedObjectModel, sharing hub: EventHub) {
    ModelLayouts.make(for: model)
    managedObjectModel = model
    eventHub = hub
    super.init()
  }

  /// The stores that were added.
  public var persistentStores: [NSPersistentStore] {
    stores.withLock { $0 }
  }

  /// Opens or creates the store in a file, or makes one in memory.
  ///
  /// A file that does not exist is created, unless `NSReadOnlyPersistentStoreOption` is true; such a
  /// store is only looked at: no byte in its folder changes.
  /// Cost: creating runs the schema's DDL in one transaction; opening reads the metadata and the schema.
  /// - Throws: 134080 with a sentence when the file is no usable store, 134100 when it was made with
  ///   another model, 134020 when it lacks tables or columns, 134000 for another type of store.
  @discardableResult
  public func addPersistentStore(
    type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try add(type, at: storeURL, options: options)
  }

  /// The older spelling of `addPersistentStore(type:at:)`.
  ///
  /// A store in memory needs no URL.
  @discardableResult
  public func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try add(NSPersistentStore.StoreType(rawValue: storeType), at: storeURL, options: options)
  }

  private func add(
    _ type: NSPersistentStore.StoreType, at url: URL?, options: [AnyHashable: Any]?
  ) throws -> NSPersistentStore {
    guard persistentStores.isEmpty else {
      throw NSError.store("A coordinator takes one store; this one has \(persistentStores[0]).")
    }
    let store: RowStore
    switch type {
    case .sqlite:
      guard let url else {
        throw NSError.coreData(
          NSPersistentStoreOpenError, "A SQLite store needs the URL of a file.")
      }
      store = try SQLiteStore.open(
        at: url, options: options, model: managedObjectModel, hub: eventHub)
    case .inMemory:
      store = MemoryStore(model: managedObjectModel, url: url, options: options)
    default:
      throw NSError.coreData(
        NSPersistentStoreInvalidTypeError, "There are no stores of the type '\(type.rawValue)'.")
    }
    store.persistentStoreCoordinator = self
    store.handle.join(self)
    stores.withLock { $0.append(store) }
    return store
  }

  /// Takes a store out of the list; nil when it is not there.
  func detach(_ store: NSPersistentStore) -> RowStore? {
    stores.withLock { stores in
      stores.firstIndex { $0 === store }.map { stores.remove(at: $0) }
    }
  }

  /// Puts a store back that was taken out.
  func attach(_ store: RowStore) {
    stores.withLock { $0.append(store) }
  }

  /// The ID that a URI names; nil for a URI of another store, an unknown entity, or no object URI.
  ///
  /// No statement: whether the row exists is not looked up.
  public func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
    let parts = url.path.split(separator: "/")
    guard url.scheme == "x-coredata", parts.count == 2, parts[1].hasPrefix("p"),
      let key = Int64(parts[1].dropFirst()), key > 0,
      let entity = managedObjectModel.entitiesByName[String(parts[0])],
      let store = firstStore,
      url.host?.caseInsensitiveCompare(store.identifier) == .orderedSame
    else { return nil }
    return NSManagedObjectID(layout: .of(entity), primaryKey: key, store: store)
  }

  /// The one store, when it has been added.
  var firstStore: RowStore? {
    stores.withLock { $0.first }
  }

  /// The store that holds an entity's rows; traps when none was added.
  func store(for layout: EntityLayout) -> RowStore {
    guard let store = firstStore else {
      preconditionFailure("the coordinator has no store; add one before fetching or saving")
    }
    return store
  }

  /// The store to save to.
  func writableStore() throws -> RowStore {
    guard let store = firstStore else {
      throw NSError.coreData(NSPersistentStoreSaveError, "The coordinator has no store to save to.")
    }
    guard !store.isReadOnly else {
      throw NSError.coreData(
        NSPersistentStoreSaveError,
        "The store was opened to be looked at (NSReadOnlyPersistentStoreOption): nothing is saved.")
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

    /// Rows in the memory of the process, gone with the store.
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
  }
}
