import ManagedModel
import SQLiteDriver

/// The migration of a store through the stages of a manager.
///
/// A lightweight migration goes as far as possible: to the current model of the next custom stage,
/// or to the last version. Each is complete when it ends, so an interrupted migration continues
/// from there. If stages have handlers, others that migrate the store in stages wait, and continue
/// with the version that it has then.
struct StagedMigration {
  let url: URL
  let type: NSPersistentStore.StoreType
  /// The configuration of the models that the store contains; `nil` for all entities.
  let configuration: String?
  let manager: NSStagedMigrationManager
  /// The version that the store becomes.
  let destination: NSManagedObjectModel
  /// The options of the store.
  let options: [AnyHashable: Any]?
  /// Returns the version hashes of the store as it is; `nil` if they aren't known.
  let storeHashes: () throws -> [String: Data]?
  /// Returns the model of the store as it is.
  let storeModel: () throws -> NSManagedObjectModel
  /// Migrates the store in place from its model to another, if it still has the version hashes.
  let migrate: (NSManagedObjectModel, NSManagedObjectModel, [String: Data]?) throws -> Void

  /// A version among the stages.
  private struct Position: Comparable {
    let stage: Int
    let version: Int

    static func < (left: Position, right: Position) -> Bool {
      (left.stage, left.version) < (right.stage, right.version)
    }
  }

  /// Migrates the store to the last version.
  ///
  /// - Throws: 134504 if no stage has the store's version, or a stage's model isn't found; 134506
  ///   if the last version comes before the store's; 134110 for a checksum in two lightweight
  ///   stages, and if the store is being migrated, or was migrated in the meantime, elsewhere; the
  ///   errors of lightweight migration and of handlers. The store then has the last version that
  ///   it has reached.
  func run() throws {
    try checkStages()
    let lock = try lockStages()
    defer { lock?.release() }
    var hashes = try storeHashes()
    let model = try storeModel()
    guard let start = position(of: model, isStart: true) else {
      throw NSError.coreData(
        NSManagedObjectModelReferenceNotFoundError,
        "No migration stage has the version of the store \(url.relativePath): unknown model version "
          + "\(model.versionChecksum). Add it to a stage. The store is unchanged.",
        [NSFilePathErrorKey: url.path, "versionChecksum": model.versionChecksum])
    }
    if let end = position(of: destination, isStart: false), end < start {
      throw NSError.coreData(
        NSStagedMigrationBackwardMigrationError,
        "The store \(url.relativePath) has a later version than the model; stages can't migrate "
          + "it to an earlier version. The store is unchanged.", [NSFilePathErrorKey: url.path])
    }
    try resolveModels(from: start.stage, of: model)
    for stage in manager.stages[start.stage...] {
      guard let stage = stage as? NSCustomMigrationStage else { continue }
      // The stages after the last version's lead to later ones.
      if try stage.currentModel.isModel(destination) || storeModel().digest == destination.digest {
        break
      }
      let current = try stage.currentModel.resolve()
      // The stage that ends with the store's version is complete.
      if try !stage.currentModel.isModel(storeModel()), try stage.nextModel.isModel(storeModel()) {
        continue
      }
      try advance(to: current, from: &hashes)
      if let handler = stage.willMigrateHandler { try run(handler, stage, current) }
      let next = try stage.nextModel.resolve()
      try advance(to: next, from: &hashes)
      if let handler = stage.didMigrateHandler { try run(handler, stage, next) }
    }
    try advance(to: destination, from: &hashes)
  }

  /// Resolves the models of the custom stages that will run, before anything is changed.
  ///
  /// - Throws: 134504 if one isn't found.
  private func resolveModels(from start: Int, of model: NSManagedObjectModel) throws {
    for case let stage as NSCustomMigrationStage in manager.stages[start...] {
      if stage.currentModel.isModel(destination) { return }
      if stage.nextModel.isModel(model), !stage.currentModel.isModel(model) { continue }
      for reference in [stage.currentModel, stage.nextModel] { _ = try reference.resolve() }
      if stage.nextModel.isModel(destination) { return }
    }
  }

  /// Migrates the store to a version, unless it has it.
  ///
  /// - Parameter hashes: The version hashes that the store was left with, which become those of the
  ///   version.
  /// - Throws: 134110 if another process has migrated the store since then.
  private func advance(
    to model: NSManagedObjectModel, from hashes: inout [String: Data]?
  ) throws {
    guard try storeHashes() == hashes else { throw NSError.migratedElsewhere(url) }
    let present = try storeModel()
    guard present.digest != model.digest else { return }
    try migrate(present, model, hashes)
    hashes = try storeHashes()
  }

  /// Waits until no other thread or process runs the handlers of stages of the store, as long as a
  /// statement waits for a lock.
  ///
  /// - Returns: The lock; `nil` if there are no handlers.
  private func lockStages() throws -> StageLock? {
    let hasHandlers = manager.stages.contains { stage in
      guard let stage = stage as? NSCustomMigrationStage else { return false }
      return stage.willMigrateHandler != nil || stage.didMigrateHandler != nil
    }
    guard hasHandlers else { return nil }
    let settings = SQLiteStore.connectionOptions(options, isNew: false)
    do {
      return try StageLock(of: url, timeout: settings.busyTimeoutMilliseconds)
    } catch {
      throw NSError.migrating(error, url)
    }
  }

  private func checkStages() throws {
    var seen: Set<String> = []
    for stage in manager.stages {
      guard let stage = stage as? NSLightweightMigrationStage else { continue }
      for checksum in Set(stage.versionChecksums) where !seen.insert(checksum).inserted {
        throw NSError.coreData(
          NSMigrationError,
          "Duplicate checksums across stages: two lightweight stages have the version \(checksum).",
          ["versionChecksum": checksum])
      }
    }
  }

  /// Returns the position of a version.
  ///
  /// - Parameter isStart: Whether a stage that begins with the version is preferred to one that
  ///   ends with it.
  private func position(of model: NSManagedObjectModel, isStart: Bool) -> Position? {
    var found: Position?
    for (index, stage) in manager.stages.enumerated() {
      for (version, checksum) in stage.checksums.enumerated() where model.hasChecksum(checksum) {
        let isEnd = stage is NSCustomMigrationStage && version == 1
        let position = Position(stage: index, version: version)
        if !isStart || !isEnd { return position }
        found = found ?? position
      }
    }
    return found
  }

  /// Runs a handler with the store in a container of its own.
  private func run(
    _ handler: (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void,
    _ stage: NSCustomMigrationStage, _ model: NSManagedObjectModel
  ) throws {
    let container = NSPersistentContainer(
      name: url.deletingPathExtension().lastPathComponent,
      managedObjectModel: ModelLayouts.plainCopy(of: model))
    var settings = options ?? [:]
    settings[NSPersistentStoreStagedMigrationManagerOptionKey] = nil
    settings[NSMigratePersistentStoresAutomaticallyOption] = nil
    let coordinator = container.persistentStoreCoordinator
    let store = try coordinator.addPersistentStore(
      type: type, configuration: model.known(configuration), at: url, options: settings)
    manager.container = container
    defer {
      manager.container = nil
      try? coordinator.remove(store)
    }
    try handler(manager, stage)
  }
}

extension NSManagedObjectModelReference {
  /// Returns whether the reference is to a version.
  fileprivate func isModel(_ model: NSManagedObjectModel) -> Bool {
    model.hasChecksum(versionChecksum)
  }
}
