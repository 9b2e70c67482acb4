import ManagedModel
import ProfileEvents
import SQLiteDriver

extension SQLiteStore {
  /// Opens the store in a file, or creates it; see
  /// `NSPersistentStoreCoordinator.addPersistentStore`.
  ///
  /// At `/dev/null`, creates an in-memory store.
  /// - Parameters:
  ///   - isMigrated: Whether the file was just migrated, so that it needs no examination.
  ///   - contents: The database that a new in-memory store is a copy of; `nil` for an empty store.
  static func open(
    at url: URL, configuration: String?, storeIndex: Int, options: [AnyHashable: Any]?,
    model: NSManagedObjectModel, hub: EventHub, isMigrated: Bool = false,
    contents: Connection? = nil
  ) throws -> SQLiteStore {
    let isReadOnly = options.isSet(NSReadOnlyPersistentStoreOption)
    let isInMemory = url.isNullDevice
    if isInMemory, isReadOnly {
      throw NSError.coreData(
        NSPersistentStoreOpenError,
        "A SQLite store at /dev/null is kept in memory and starts out empty, so it can't be opened "
          + "read-only.", [NSFilePathErrorKey: url.path])
    }
    var exists = try isInMemory ? contents != nil : isMigrated || fileExists(at: url, isReadOnly)
    let readers = try readerCount(options)
    do {
      if exists, !isInMemory, !isReadOnly {
        try checkVersion(of: url, configuration, options, model)
      }
      emitOpening(of: url, to: hub)
      let derived = DerivedChanges()
      let access: Connection.Access = isReadOnly ? .inspecting : .writing
      var settings = connectionOptions(options, isNew: !exists)
      settings.isInMemory = isInMemory
      let path = isInMemory ? "/OpenCoreData-\(UUID().uuidString)" : url.path
      let pool = try ConnectionPool(
        path: path, access: access, options: settings, maximumReaders: readers
      ) { connection throws(SQLiteError) in
        try StoreFunctions.register(on: connection) { derived.note($0) }
      }
      let logger = StoreOpeningLogger(hub)
      for pragma in settings.statements(for: access) { logger?.log(pragma) }
      do {
        if let contents { try pool.withWriter { try contents.copy(into: $0) } }
        if exists, !isReadOnly { exists = try !pool.withWriter(SchemaBuilder.isBlank) }
        let file = OpenedStore(
          pool: pool, url: url, isReadOnly: isReadOnly, exists: exists, logger: logger)
        return try open(
          file, configuration: configuration, storeIndex: storeIndex, options, model, derived)
      } catch {
        pool.close()
        throw error
      }
    } catch let error as SQLiteError {
      throw NSError.opening(url, error, isReadOnly: isReadOnly, isInMemory: isInMemory)
    } catch let mismatch as SchemaMismatch {
      throw NSError.coreData(
        NSPersistentStoreIncompatibleSchemaError, mismatch.description,
        [NSFilePathErrorKey: url.path])
    } catch let problem as StoreMetadata.Problem {
      throw NSError.coreData(
        NSPersistentStoreOpenError, problem.description, [NSFilePathErrorKey: url.path])
    } catch let error as ModelError {
      throw NSError.coreData(
        NSPersistentStoreOpenError, "The model inside \(url.relativePath) can't be read: \(error)",
        [NSFilePathErrorKey: url.path])
    } catch {
      throw error as NSError
    }
  }

  /// Returns whether there's a file that isn't empty.
  ///
  /// - Throws: 259 if it isn't a database or is corrupt, 260 if there's none and it's to be read,
  ///   134080 if it can't be a store for another reason.
  private static func fileExists(at url: URL, _ isReadOnly: Bool) throws -> Bool {
    guard isReadOnly || FileManager.default.fileExists(atPath: url.path) else { return false }
    let problem = StoreFileProblem.examine(path: url.path, isOpenedNext: !isReadOnly)
    guard let problem else { return true }
    if case .empty = problem, !isReadOnly { return false }
    throw NSError.unusableStore(problem, url)
  }

  /// A readable file.
  private struct OpenedStore {
    let pool: ConnectionPool
    let url: URL
    let isReadOnly: Bool
    /// Whether it has a schema.
    let exists: Bool
    /// Logs the statements, if a sink requires them.
    let logger: StoreOpeningLogger?
  }

  private static func open(
    _ file: OpenedStore, configuration: String?, storeIndex: Int, _ options: [AnyHashable: Any]?,
    _ model: NSManagedObjectModel, _ derived: DerivedChanges
  ) throws -> SQLiteStore {
    let (pool, url, isReadOnly) = (file.pool, file.url, file.isReadOnly)
    var isCreated = false
    if !file.exists {
      let metadata = StoreMetadata(newStoreOf: model, configuration: configuration)
      let cache = ModelArchive.write(model)
      isCreated = try pool.withWriter { connection in
        try SchemaBuilder(model: SQLModel(model: model, configuration: configuration)).create(
          on: connection, metadata: metadata, modelCache: cache, loggingTo: file.logger)
      }
    }
    let connection = try pool.lease()
    defer { pool.returnToPool(connection) }
    let metadata = try StoreMetadata(reading: connection, loggingTo: file.logger)
    let ignores = options.isSet(NSIgnorePersistentStoreVersioningOption)
    if !isCreated, !ignores {
      try check(metadata, model, configuration, at: url, options, connection, file.logger)
    }
    if !isReadOnly { try pool.withWriter { try maintain($0, options) } }
    let mapping = try SQLModel(
      model: model, configuration: configuration, connection: connection, ignoresMissing: ignores)
    let store = SQLiteStore(
      pool: pool, mapping: mapping, storeIndex: storeIndex, url: url, identifier: metadata.uuid,
      configuration: configuration, isReadOnly: isReadOnly, options: options,
      metadata: metadata.publicValues, derived: derived)
    let remains = InterruptedMigrationFiles(of: url)
    if !isReadOnly, !pool.isInMemory, remains.exist {
      try pool.withWriter { remains.remove(onceWritableBy: $0) }
    }
    if !isReadOnly, !pool.isInMemory { StageLock.removeAbandoned(of: url) }
    let hashes = model.versionHashes(of: configuration)
    if ignores, !isReadOnly, metadata.hasOwnDigests, metadata.hashes != hashes {
      store.updateVersionHashes(hashes)
    }
    try store.openHistory()
    return store
  }

  /// Compares a model with the one that a store was created with.
  ///
  /// **Cost:** if another version is to be migrated, reads the model in the store, which the
  /// migration then needn't.
  /// - Throws: 134100 if the version differs, with the model in the store for a migration; the
  ///   errors of reading the model.
  private static func check(
    _ metadata: StoreMetadata, _ model: NSManagedObjectModel, _ configuration: String?,
    at url: URL, _ options: [AnyHashable: Any]?, _ connection: Connection,
    _ logger: StoreOpeningLogger?
  ) throws {
    var stored: NSManagedObjectModel?
    do {
      try metadata.check(model, configuration, at: url) {
        stored = try ModelArchive.readModel(on: connection, loggingTo: logger)
        return stored
      }
    } catch let error as NSError
      where error.code == NSPersistentStoreIncompatibleVersionHashError
      && options.isSet(NSMigratePersistentStoresAutomaticallyOption)
      && !options.isSet(NSReadOnlyPersistentStoreOption)
    {
      guard let stored = stored ?? (try? ModelArchive.readModel(on: connection)) else {
        throw error
      }
      metadata.recordHashes(in: stored)
      throw NSError(
        domain: error.domain, code: error.code,
        userInfo: error.userInfo.merging(
          [NSError.storedModelKey: stored], uniquingKeysWith: { $1 }))
    }
  }

  /// Checks the version of a file that a connection for writing would change, before there's one.
  ///
  /// A store without a WAL is switched to WAL mode, and pragmas can change a file. **Cost:**
  /// nothing for a store in WAL mode without pragmas; otherwise a connection and the statements of
  /// reading the metadata.
  /// - Throws: 134100 if the version differs, `SchemaMismatch` if the tables do. Other problems are
  ///   left for the connection to report.
  private static func checkVersion(
    of url: URL, _ configuration: String?, _ options: [AnyHashable: Any]?,
    _ model: NSManagedObjectModel
  ) throws {
    let ignores = options.isSet(NSIgnorePersistentStoreVersioningOption)
    let isLogged = (try? DatabaseHeader(path: url.path))?.usesLog ?? false
    guard !ignores, !isLogged || options?[NSSQLitePragmasOption] != nil,
      let connection = try? Connection(path: url.path, access: .inspecting)
    else { return }
    defer { connection.close() }
    do {
      try check(
        StoreMetadata(reading: connection), model, configuration, at: url, options, connection, nil)
      _ = try SQLModel(
        model: model, configuration: configuration, connection: connection, ignoresMissing: false)
    } catch let mismatch as SchemaMismatch {
      throw mismatch
    } catch let error as NSError where error.code == NSPersistentStoreIncompatibleVersionHashError {
      throw error
    } catch {
      return
    }
  }

  /// Performs the maintenance that options specify when a file is opened.
  private static func maintain(_ connection: Connection, _ options: [AnyHashable: Any]?) throws {
    if options.isSet(NSSQLiteManualVacuumOption) { try connection.execute("VACUUM") }
    if options.isSet(NSSQLiteAnalyzeOption) { try connection.execute("ANALYZE") }
  }

  /// Returns the number of readers that the options specify.
  ///
  /// - Throws: 134080 for anything but a positive integer.
  private static func readerCount(_ options: [AnyHashable: Any]?) throws -> Int {
    guard let given = options?[NSPersistentStoreConnectionPoolMaxSizeKey] else {
      return ConnectionPool.usualReaders
    }
    let count = given as? Int ?? (given as? NSNumber).flatMap { Int(exactly: $0.doubleValue) }
    guard let count, count > 0 else {
      throw NSError.coreData(
        NSPersistentStoreOpenError,
        "NSPersistentStoreConnectionPoolMaxSizeKey is '\(given)', but must be an integer above 0.")
    }
    return count
  }

  static func connectionOptions(
    _ options: [AnyHashable: Any]?, isNew: Bool
  ) -> Connection.Options {
    var result = Connection.Options()
    if let given = options?[NSPersistentStoreTimeoutOption],
      let seconds = given as? Double ?? (given as? NSNumber)?.doubleValue
        ?? (given as? Int).map(Double.init), !seconds.isNaN
    {
      // A million seconds are practically unlimited.
      result.busyTimeoutMilliseconds = Int32(max(0, min(seconds, 1_000_000)) * 1000)
    }
    var given: [(name: String, value: String)] = []
    for (name, value) in options?[NSSQLitePragmasOption] as? [String: Any] ?? [:] {
      given.append((name.lowercased(), "\(value)"))
    }
    given.sort { $0 < $1 }
    // These take effect only in this order, before any other one writes to the new file.
    let first = isNew ? SchemaBuilder.newFilePragmas : []
    for (name, usual) in first {
      result.pragmas.append((name, given.last { $0.name == name }?.value ?? usual))
    }
    result.pragmas += given.filter { pragma in !first.contains { $0.0 == pragma.name } }
    return result
  }

  private static func emitOpening(of url: URL, to hub: EventHub) {
    guard hub.isListening else { return }
    var event = Event(
      id: hub.nextID(), parent: 0, kind: .storeOpening, begin: MonotonicClock.now(), duration: 0,
      thread: MonotonicClock.threadID())
    event.path = url.path
    hub.emit(event)
  }
}
