import ManagedModel
import SQLiteDriver

// Automatic migration: the book's chapter 14.

extension NSPersistentStoreCoordinator {
  /// Opens a store; if it has another version of the model and the options say so, migrates it
  /// first.
  ///
  /// **Cost:** nothing if the version is the same.
  func migrating<Store>(
    _ url: URL, _ type: NSPersistentStore.StoreType, _ configuration: String?,
    _ options: [AnyHashable: Any]?, _ open: (_ isMigrated: Bool) throws -> Store
  ) throws -> Store {
    do {
      return try open(false)
    } catch let error as NSError
      where error.code == NSPersistentStoreIncompatibleVersionHashError
      && options.isSet(NSMigratePersistentStoresAutomaticallyOption)
      && !options.isSet(NSReadOnlyPersistentStoreOption)
    {
      let metadata = error.userInfo["metadata"] as? [String: Any]
      let store = MigratingStore(
        url: url, type: type, configuration: configuration, options: options,
        model: error.userInfo[NSError.storedModelKey] as? NSManagedObjectModel,
        hashes: metadata?[StoreMetadata.hashesKey] as? [String: Data])
      do {
        try migrate(store)
      } catch let error as NSError where error.isOfMigrationElsewhere {
        return try migrating(url, type, configuration, options, open)
      } catch {
        migrationLog?.note("\(url.path) isn't migrated: \((error as NSError).localizedDescription)")
        throw error
      }
      return try open(true)
    }
  }

  /// A store to migrate before it's opened.
  private struct MigratingStore {
    let url: URL
    let type: NSPersistentStore.StoreType
    let configuration: String?
    let options: [AnyHashable: Any]?
    /// The model in the store before the migration; `nil` if it isn't known.
    let model: NSManagedObjectModel?
    /// The version hashes of the store before the migration; `nil` if they aren't known.
    let hashes: [String: Data]?
  }

  /// Migrates a store with the mapping models in the bundles, or else with an inferred one.
  private func migrate(_ store: MigratingStore) throws {
    let stages =
      store.options?[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager
    if let stages, store.options.isSet(NSInferMappingModelAutomaticallyOption) {
      migrationLog?.note("\(store.url.path) is migrated in \(stages.stages.count) stages")
      return try StagedMigration(
        url: store.url, type: store.type, configuration: store.configuration, manager: stages,
        destination: managedObjectModel, options: store.options,
        storeHashes: { try Self.versionHashes(of: store) },
        storeModel: { try self.sourceModel(of: store, stages) },
        migrate: { try self.infer(store, from: $0, to: $1, hashes: $2) }
      ).run()
    }
    let source = try store.model ?? sourceModel(of: store)
    let mappings = try mappingModels(for: store, from: source)
    guard !mappings.isEmpty else {
      guard store.options.isSet(NSInferMappingModelAutomaticallyOption) else {
        throw NSError.missingMappingModel(source, managedObjectModel, store.url)
      }
      migrationLog?.note(
        "no mapping model in \(migrationBundles.map(\.bundlePath).joined(separator: ", ")), so it's inferred"
      )
      return try infer(store, from: source, to: managedObjectModel, hashes: store.hashes)
    }
    migrationLog?.note("\(mappings.count) mapping models in the bundles are for these versions")
    try migrate(
      store, from: source, to: managedObjectModel, mappings, isInferred: false,
      hashes: store.hashes)
  }

  /// Returns the bundles' mapping models that migrate a store of a model to the coordinator's.
  ///
  /// - Throws: 134080 if one can't be read: an inferred mapping could lose what it maps.
  private func mappingModels(
    for store: MigratingStore, from source: NSManagedObjectModel
  ) throws -> [NSMappingModel] {
    do throws(ModelErrors) {
      return try NSMappingModel.complete(
        in: migrationBundles, from: source, to: managedObjectModel)
    } catch {
      throw NSError.coreData(
        NSPersistentStoreOpenError,
        "The store \(store.url.relativePath) isn't migrated, because a mapping model can't be read: "
          + "\(error)", [NSFilePathErrorKey: store.url.path])
    }
  }

  private func migrate(
    _ store: MigratingStore, from source: NSManagedObjectModel,
    to destination: NSManagedObjectModel, _ mappings: [NSMappingModel], isInferred: Bool,
    hashes: [String: Data]?
  ) throws {
    do {
      var migration = MappedMigration(
        url: store.url, source: source, destination: destination, mappings: mappings,
        configuration: store.configuration, options: store.options, hub: eventHub,
        type: store.type, log: migrationLog)
      migration.isInferred = isInferred
      migration.expectedHashes = hashes
      try migration.run()
    } catch {
      throw NSError.migrating(error, store.url)
    }
  }

  /// Migrates a store with an inferred mapping: SQLite in place, others by copy.
  ///
  /// - Parameter hashes: The version hashes of the store; `nil` if they aren't compared.
  private func infer(
    _ store: MigratingStore, from source: NSManagedObjectModel,
    to destination: NSManagedObjectModel, hashes: [String: Data]?
  ) throws {
    let mapping = InferredMapping(from: source, to: destination)
    let obstacles = mapping.obstacles(in: store.configuration)
    guard obstacles.isEmpty else {
      throw NSError.missingMappingModel(source, destination, store.url, obstacles)
    }
    guard store.type == .sqlite else {
      return try migrate(
        store, from: source, to: destination, [NSMappingModel(mapping)], isInferred: true,
        hashes: hashes)
    }
    do {
      var migration = LightweightMigration(
        url: store.url, mapping: mapping, configuration: store.configuration,
        options: store.options, hub: eventHub)
      migration.log = migrationLog
      migration.expectedHashes = hashes
      try migration.run()
    } catch {
      throw NSError.migrating(error, store.url)
    }
  }

  /// Returns the version hashes of a store as it is; `nil` if it has none.
  private class func versionHashes(of store: MigratingStore) throws -> [String: Data]? {
    let metadata = try metadataForPersistentStore(type: store.type, at: store.url)
    return metadata[StoreMetadata.hashesKey] as? [String: Data]
  }

  /// Returns the model that a store was created with: the one in a SQLite store, or else one in the
  /// bundles or of a stage.
  ///
  /// - Throws: 134130 if there's none.
  private func sourceModel(
    of store: MigratingStore, _ stages: NSStagedMigrationManager? = nil
  ) throws -> NSManagedObjectModel {
    let url = store.url
    if store.type == .sqlite, let model = try? Self.cachedModelForPersistentStore(at: url) {
      return model
    }
    let metadata = try Self.metadataForPersistentStore(type: store.type, at: url)
    if let model = NSManagedObjectModel.mergedModel(
      from: migrationBundles, forStoreMetadata: metadata)
    {
      return model
    }
    if let name = store.configuration,
      let model = NSManagedObjectModel.version(
        in: migrationBundles, withConfiguration: name, ofStoreWith: metadata)
    {
      return model
    }
    for case let stage as NSCustomMigrationStage in stages?.stages ?? [] {
      for reference in [stage.currentModel, stage.nextModel] {
        let model = try reference.resolve()
        if model.isConfiguration(
          withName: store.configuration, compatibleWithStoreMetadata: metadata)
        {
          return model
        }
      }
    }
    throw NSError.coreData(
      NSMigrationMissingSourceModelError,
      "The store \(url.relativePath) can't be migrated: it contains no model, and the bundles have "
        + "none with its version hashes. Add the version of the model that it was created with. "
        + "The store is unchanged.",
      ["URL": url, "metadata": metadata, "reason": "Can't find model for source store"])
  }
}

extension NSError {
  /// Returns the error of the public API for one that a migration throws.
  static func migrating(_ error: any Error, _ url: URL) -> any Error {
    switch error {
    case let failure as MigrationFailure: return migration(failure, url)
    case let obstacle as ObjectInTheWay:
      return coreData(
        NSMigrationError,
        "The store \(url.relativePath) can't be migrated: \(obstacle.reason) The store is unchanged.",
        [
          "sourceURL": url, "destinationURL": url, NSFilePathErrorKey: url.path,
          "reason": "Cannot migrate store in-place: \(obstacle.reason)",
        ])
    case let mismatch as SchemaMismatch:
      return coreData(
        NSPersistentStoreIncompatibleSchemaError, mismatch.description,
        [NSFilePathErrorKey: url.path])
    case let error as SQLiteError:
      let cause = coreData(
        NSSQLiteError, "\(error)", [NSSQLiteErrorDomain: Int(error.code.rawValue)])
      return migration(error.code, error.message, cause, url)
    case let problem as FileProblem:
      let cause = file(url.path, "written", problem.number)
      return migration(cause.resultCode ?? .inputOutput, problem.reason, cause, url)
    default:
      let error = error as NSError
      guard !error.isOfUnsyncedFile, let code = error.resultCode else { return error }
      return migration(code, error.localizedDescription, error, url)
    }
  }

  /// Returns the error for a store that no mapping model can migrate.
  ///
  /// - Parameter obstacles: The reasons why none can be inferred; `nil` if that isn't allowed.
  static func missingMappingModel(
    _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel, _ url: URL,
    _ obstacles: [ModelDifference]? = nil
  ) -> NSError {
    var info: [String: Any] = [
      "sourceModel": source, "destinationModel": destination, NSFilePathErrorKey: url.path,
      "reason": "Can't find mapping model for migration",
    ]
    var message = "The store \(url.relativePath) can't be migrated: there's no mapping model"
    if let obstacles {
      let cause = NSError.notInferable(obstacles)
      message += ", and none can be inferred. \(cause.localizedDescription)"
      info["reason"] = "Can't find or automatically infer mapping model for migration"
      info[NSUnderlyingErrorKey] = cause
    } else {
      message += ". Set NSInferMappingModelAutomaticallyOption to infer it."
    }
    return NSError.coreData(
      NSMigrationMissingMappingModelError, message + " The store is unchanged.", info)
  }

  /// Returns the error for rows that don't fit the new version.
  private static func migration(_ failure: MigrationFailure, _ url: URL) -> NSError {
    let code =
      failure.problem.isConflict ? NSMigrationConstraintViolationError : NSMigrationError
    var info: [String: Any] = ["entity": failure.entity, "reason": failure.reason]
    if !failure.property.isEmpty { info["property"] = failure.property }
    if failure.problem == .missingValue {
      // Core Data's entries, by which programs recognize the error.
      info["attribute"] = failure.property
      info["reason"] =
        "Validation error missing attribute values on mandatory destination attribute"
    }
    let cause = NSError.coreData(code, failure.reason, info)
    return NSError.coreData(
      NSMigrationError,
      "The store \(url.relativePath) can't be migrated: \(failure.reason) The store is unchanged.",
      [
        "sourceURL": url, "destinationURL": url, NSFilePathErrorKey: url.path,
        "reason": "Cannot migrate store in-place: \(failure.reason)", NSUnderlyingErrorKey: cause,
      ])
  }

  /// Returns the error for a migration that SQLite or the file system couldn't complete.
  private static func migration(
    _ code: ResultCode, _ message: String, _ cause: NSError, _ url: URL
  ) -> NSError {
    let advice =
      switch code.primary {
      case .busy: "It's open elsewhere: close it there, and open it again."
      case _ where code.isOutOfSpace:
        "The disk is full: free \(neededSpace(url)), and open it again."
      case .readOnly, .cantOpen, .permission:
        "The file or its folder can't be written: give this user access to both. \(message)"
      default: message
      }
    return NSError.coreData(
      NSMigrationError,
      "The store \(url.relativePath) can't be migrated. \(advice) The store is unchanged.",
      [
        "sourceURL": url, "destinationURL": url, NSFilePathErrorKey: url.path,
        "reason": "Cannot migrate store in-place: \(message)", NSUnderlyingErrorKey: cause,
      ])
  }

  /// Returns the space that a migration needs at most: twice the database, and its external data
  /// once.
  private static func neededSpace(_ url: URL) -> String {
    let database = ["", "-wal"].compactMap { FileStamp(path: url.path + $0)?.size }.reduce(0, +)
    let external = (try? ExternalStorage(storeURL: url).files())?.values.reduce(0, +) ?? 0
    let bytes = 2 * Double(database) + Double(external)
    return "\((bytes / 100_000).rounded(.up) / 10) MB"
  }

  /// SQLite's code for an error that it, or the file system, is the cause of; `nil` for another
  /// error.
  private var resultCode: ResultCode? {
    if let number = userInfo[NSSQLiteErrorDomain] as? Int, let code = Int32(exactly: number) {
      return ResultCode(rawValue: code)
    }
    if let cause = userInfo[NSUnderlyingErrorKey] as? NSError, let code = cause.resultCode {
      return code
    }
    switch FileErrorText.errno(of: self) {
    case nil: return nil
    case ENOSPC, EDQUOT: return .full
    case EACCES, EPERM, EROFS: return .readOnly
    default: return .inputOutput
    }
  }
}

// The deferred work of lightweight migrations.

extension NSPersistentStoreCoordinator {
  /// Finishes the deferred lightweight migrations of all stores.
  ///
  /// Contexts can be used before, during, and after: objects and object IDs stay, and writers wait
  /// for one unit at a time. Does nothing if there's no work; a store's metadata contains
  /// `NSPersistentStoreDeferredLightweightMigrationOptionKey` if there's some.
  /// **Cost:** for each table with columns that the model doesn't have, the copy of its rows; each
  /// unit is one transaction.
  /// - Throws: 134110 if a store is open read-only, or SQLite can't complete a unit, such as with a
  ///   full disk; the units before it are complete, and the next call continues.
  public func finishDeferredLightweightMigration() throws {
    for store in deferringStores {
      while try store.finishDeferredTask(eventHub, migrationLog) {}
    }
  }

  /// Does one unit of the deferred work of lightweight migrations, such as in a background task.
  ///
  /// A unit drops a table, or copies a table without the columns and indexes that the model doesn't
  /// have. It's one transaction. Does nothing if there's no work.
  /// - Throws: The errors of `finishDeferredLightweightMigration()`; the store is unchanged then.
  public func finishDeferredLightweightMigrationTask() throws {
    for store in deferringStores where try store.finishDeferredTask(eventHub, migrationLog) {
      return
    }
  }

  private var deferringStores: [SQLiteStore] { rowStores.compactMap { $0 as? SQLiteStore } }
}
