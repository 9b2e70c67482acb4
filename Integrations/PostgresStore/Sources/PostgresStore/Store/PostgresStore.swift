public import OpenCoreData
import PostgresDriver

public import class ManagedModel.NSRelationshipDescription

extension NSPersistentStore.StoreType {
  /// A store in a schema of a PostgreSQL database.
  public static let postgres = NSPersistentStore.StoreType(rawValue: "PostgreSQL")
}

/// A store in a schema of a PostgreSQL database.
///
/// Register the class for the type `postgres`, then add a store with a connection URI of libpq,
/// whose query item `schema` names the schema, `public` by default:
///
/// ```swift
/// NSPersistentStoreCoordinator.registerStoreClass(PostgresStore.self, type: .postgres)
/// try coordinator.addPersistentStore(
///   type: .postgres, at: URL(string: "postgres://user@host/database?schema=library")!)
/// ```
///
/// The tables are created when a store is added for the first time. A schema has one store. Several
/// coordinators, also of several processes, may use it at the same time.
/// `NSPersistentStoreTimeoutOption` limits the seconds to wait for a connection and for each
/// statement.
public final class PostgresStore: NSIncrementalStore, @unchecked Sendable {
  // The framework calls the store for one context at a time; `connection` is set before the other
  // calls.
  private var connection: OpenStore?
  /// The metadata that the database has.
  var storedMetadata: [String: Any] = [:]
  /// Primary keys that were obtained and not used, in order.
  var freeKeys: [Int64] = []
  /// The rows that the framework is about to ask for.
  var readAhead = ReadAhead()

  /// The entity of the fetch or the fault that runs statements; nil for that of the first table
  /// they name.
  var reportedEntity: String?

  /// What a store has while it's open.
  struct OpenStore {
    let location: StoreLocation
    let schema: StoreSchema
    let pool: PostgresPool
  }

  /// Connects, and creates the tables if the schema has none.
  ///
  /// - Throws: 134080 if the server can't be reached, or the schema can't be used; 134020 for a
  ///   model that the store can't have.
  public override func loadMetadata() throws {
    let location = try StoreLocation(url ?? URL(fileURLWithPath: "/"), options)
    let model = persistentStoreCoordinator?.managedObjectModel
    let entities =
      configurationName == "PF_DEFAULT_CONFIGURATION_NAME"
      ? model?.entities : model?.entities(forConfigurationName: configurationName)
    let new = try StoreSchema(entities ?? [], schema: location.schema)
    let size = options?[NSPersistentStoreConnectionPoolMaxSizeKey].flatMap(ModelValue.integer) ?? 2
    let pool = PostgresPool(location.settings, size: Int(clamping: size)) { [weak self] in
      self?.report($0, in: location)
    }
    let names = Set(new.entities.keys)
    let hashes = model?.entityVersionHashesByName.filter { names.contains($0.key) } ?? [:]
    let initial: [String: Any] = [
      NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: type,
      NSStoreModelVersionHashesKey: hashes,
      NSStoreModelVersionIdentifiersKey: model?.versionIdentifiers.compactMap { $0 as? String }
        ?? [],
    ]
    do {
      let store = StoreMetadata(location: location)
      let numbers = try pool.withConnection { connection in
        storedMetadata = try store.readOrCreate(new, initial, connection)
        return try store.entityNumbers(connection)
      }
      connection = OpenStore(
        location: location,
        schema: try StoreSchema(entities ?? [], schema: location.schema, numbers: numbers),
        pool: pool)
    } catch {
      throw StoreError.make(error, otherwise: NSPersistentStoreOpenError)
    }
    metadata = storedMetadata
  }

  /// True: the store reports each statement with its round trips.
  public override class var reportsStatements: Bool { true }

  /// True: the rows of a batch are read with one SELECT.
  public override class var loadsBatches: Bool { true }

  /// Closes the connections.
  public override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
    connection?.pool.close()
  }

  /// Executes a fetch or a save.
  ///
  /// - Throws: 134091 for other requests, such as batch requests.
  public override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    switch request {
    case let save as NSSaveChangesRequest:
      try self.save(save, context)
      return [Any]()
    case let fetch as NSFetchRequest<any NSFetchRequestResult>:
      return try self.fetch(fetch, context)
    default:
      throw StoreError.make(
        NSPersistentStoreUnsupportedRequestTypeError,
        "A PostgreSQL store executes fetches and saves, not \(Swift.type(of: request)).")
    }
  }

  /// Reads the row of an object with one SELECT.
  ///
  /// - Throws: 133000 if there is none.
  public override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    try node(of: objectID, context)
  }

  /// Reads the rows of a batch with one SELECT.
  public override func prepareValues(
    forObjectsWith objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
  ) throws {
    try readAhead(objectIDs)
  }

  /// Reads the destinations of a relationship with one SELECT.
  public override func newValue(
    forRelationship relationship: NSRelationshipDescription,
    forObjectWith objectID: NSManagedObjectID, with context: NSManagedObjectContext?
  ) throws -> Any {
    try value(of: relationship, objectID)
  }

  /// Returns IDs with keys from the store's sequence, of which each value stands for 100 keys.
  public override func obtainPermanentIDs(
    for array: [NSManagedObject]
  ) throws -> [NSManagedObjectID] {
    try newObjectIDs(of: array)
  }

  /// The framework has the versions of rows, so the store keeps nothing of registered objects.
  public override class var observesRegistrations: Bool { false }

  /// The open store.
  ///
  /// - Throws: 134070 before the metadata is loaded.
  var open: OpenStore {
    get throws {
      guard let connection else {
        throw StoreError.make(NSPersistentStoreOperationError, "The store isn't open.")
      }
      return connection
    }
  }

  /// Calls a body with a connection, and converts the server's errors.
  func withConnection<R>(
    otherwise code: Int = NSPersistentStoreOperationError,
    _ body: (PostgresConnection, OpenStore) throws -> R
  ) throws -> R {
    let open = try open
    do {
      return try open.pool.withConnection { try body($0, open) }
    } catch {
      throw StoreError.make(error, otherwise: code)
    }
  }

  // MARK: Metadata without a coordinator

  /// Returns the metadata of the store at a URL.
  ///
  /// - Throws: 134080 if there is none, or the server can't be reached.
  public override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try withStore(at: url) { store, connection in
      guard let metadata = try store.read(connection) else {
        throw StoreError.make(
          NSPersistentStoreOpenError, "The schema '\(store.location.schema)' has no store.")
      }
      return metadata
    }
  }

  /// Writes the metadata of the store at a URL immediately, except for its UUID, type, and version
  /// hashes.
  ///
  /// - Throws: 134080 if there is no store, or the server can't be reached; 134030 for values that
  ///   aren't of a property list.
  public override class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreAt url: URL
  ) throws {
    try withStore(at: url) { store, connection in
      try connection.transaction {
        guard var present = try store.read(connection) else {
          throw StoreError.make(
            NSPersistentStoreOpenError, "The schema '\(store.location.schema)' has no store.")
        }
        let own = [
          NSStoreUUIDKey, NSStoreTypeKey, NSStoreModelVersionHashesKey,
          NSStoreModelVersionIdentifiersKey,
        ]
        present = present.filter { own.contains($0.key) }
        try store.write(present.merging(metadata ?? [:]) { own, _ in own }, connection)
      }
    }
  }

  private static func withStore<R>(
    at url: URL, _ body: (StoreMetadata, PostgresConnection) throws -> R
  ) throws -> R {
    let store = StoreMetadata(location: try StoreLocation(url, nil))
    do {
      return try body(store, try PostgresConnection(store.location.settings))
    } catch {
      throw StoreError.make(error, otherwise: NSPersistentStoreOperationError)
    }
  }
}
