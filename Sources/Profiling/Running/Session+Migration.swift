import OpenCoreData
import ProfileEvents
import RunResults
import SQLiteDriver
import ScenarioLanguage
import WorkbenchText

extension Session {
  /// Migrates the store to a version of its model, and reopens it with that version.
  ///
  /// - Throws: The errors of the migration; the store is then open with the version it had.
  func migrate(_ step: Step) throws -> String {
    guard let versions, let version = versions.version(step.subject) else { return "" }
    try checkChanges()
    raw = nil
    let former = model
    let mark = stack.recorder.mark
    try stack.reopen(with: version.model) { coordinator in
      if let mapping = step.text(of: .mapping) {
        return try migrate(from: former, to: version, with: versions.mappingURL(mapping))
      }
      switch step.choice(of: .way) as MigrationMethod? {
      case .progressive:
        var migration = try ProgressiveMigration(
          storeURL: storeURL, versionsURL: versions.url, to: version.name)
        migration.eventHub = stack.hub
        try migration.run()
      case .staged: try migrate(coordinator, by: [versions.lightweightStage(to: version)])
      case .custom: try migrate(coordinator, by: versions.customStages(to: version))
      case .deferred:
        try migrate(
          coordinator, [NSPersistentStoreDeferredLightweightMigrationOptionKey: true])
      case nil: try migrate(coordinator)
      }
    }
    take(version.model)
    let recording = stack.recorder.recording().slice(after: mark, through: stack.recorder.mark)
    migration = try comparison(
      of: step, from: former, to: version,
      migrations: recording.events.count { $0.kind == .migration })
    let migrations = recording.events.count { $0.kind == .migration }
    guard migrations > 0 else {
      return "has the version hashes of \(version.name) already; not migrated"
    }
    let rows = recording.value(of: .migratedrows)
    return "migrated to \(version.name)"
      + (migrations > 1 ? " in \(migrations) migrations" : "")
      + ", \(NumberText.counted(rows, "row")) written"
  }

  /// Finishes the deferred work of a migration, or the number of units of it that the step
  /// specifies.
  ///
  /// - Throws: The errors of the framework's `finishDeferredLightweightMigration`.
  func finishMigration(_ step: Step) throws -> String {
    guard let coordinator = stack.main.persistentStoreCoordinator,
      let store = coordinator.persistentStores.first
    else { return "" }
    func isPending() -> Bool {
      store.metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] != nil
    }
    guard isPending() else { return "no migration is deferred" }
    let mark = stack.recorder.mark
    if let units = step.number(of: .times) {
      for _ in 0..<units where isPending() {
        try coordinator.finishDeferredLightweightMigrationTask()
      }
    } else {
      try coordinator.finishDeferredLightweightMigration()
    }
    let recording = stack.recorder.recording().slice(after: mark, through: stack.recorder.mark)
    let units = recording.events.count { $0.migration?.work == .deferredUnit }
    let rows = recording.value(of: .migratedrows)
    return (isPending() ? "continued" : "finished")
      + " the deferred migration in \(NumberText.counted(units, "unit")), "
      + "\(NumberText.counted(rows, "row")) written"
  }

  /// Returns what the migration can be compared with.
  private func comparison(
    of step: Step, from former: NSManagedObjectModel, to version: ModelVersion,
    migrations: Int
  ) throws -> StepContext.Migration {
    var comparison = StepContext.Migration(version: version.name)
    if let name = step.text(of: .mapping), let url = versions?.mappingURL(name),
      let mapping = try MappingModelFile(url).mappingModel(from: former, to: version.model),
      mapping.isInferable(from: former, to: version.model)
    {
      comparison.inferableMapping = name
    }
    if migrations > 1 {
      comparison.isPossibleInOne =
        versions?.isPossibleInOne(from: former, to: version) ?? false
    }
    if migrations == 0 { comparison.missingIndexes = try missingIndexes(of: version.model) }
    if migrations == 1, step.text(of: .mapping) == nil {
      let models = ModelComparison(from: former, to: version.model)
      comparison.copiedEntities = try LightweightMigrationCosts(models).copiedEntities
      comparison.writtenEntities =
        try LightweightMigrationCosts(models, isDeferred: true).writtenEntities
    }
    return comparison
  }

  /// Returns the entities with a fetch index that the store doesn't have, each with the first of
  /// them.
  private func missingIndexes(of model: NSManagedObjectModel) throws -> [String: String] {
    let connection = try StoreConnection.open(path: storeURL.path, access: .reading)
    defer { connection.close() }
    let rows = try connection.values("SELECT name FROM sqlite_master WHERE type = 'index'")
    let present = Set(
      rows.compactMap { row -> String? in
        guard case .text(let name)? = row.first else { return nil }
        return name
      })
    let required = Set(model.storeIndexNames)
    var missing: [String: String] = [:]
    for entity in model.entitiesInNumberingOrder(of: configuration) {
      guard let name = entity.name else { continue }
      missing[name] =
        entity.indexes.first { index in
          let stored = NSManagedObjectModel.storeIndexName(index.name, ofEntity: name)
          return required.contains(stored) && !present.contains(stored)
        }?.name
    }
    return missing
  }

  /// Migrates with a staged migration manager.
  private func migrate(
    _ coordinator: NSPersistentStoreCoordinator, by stages: [NSMigrationStage]
  ) throws {
    try migrate(
      coordinator,
      [NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager(stages)])
  }

  /// Migrates as `addPersistentStore` does, with options in addition to those of an inferred
  /// migration.
  private func migrate(
    _ coordinator: NSPersistentStoreCoordinator, _ more: [String: Any] = [:]
  ) throws {
    let options: [String: Any] = [
      NSMigratePersistentStoresAutomaticallyOption: true,
      NSInferMappingModelAutomaticallyOption: true,
    ]
    let store = try coordinator.addPersistentStore(
      type: .sqlite, configuration: configuration, at: storeURL,
      options: options.merging(more) { $1 })
    try coordinator.remove(store)
  }

  private func migrate(
    from former: NSManagedObjectModel, to version: ModelVersion, with url: URL
  ) throws {
    let file = try MappingModelFile(url)
    guard let mapping = file.mappingModel(from: former, to: version.model) else {
      throw StepInput.error(
        "The mapping model \(url.lastPathComponent) is for other versions. Use one from the store's "
          + "version to \(version.name).")
    }
    try ProgressiveMigration.Step(
      from: ModelVersion(name: "", model: former), to: version,
      mappingModels: [mapping], configuration: configuration
    ).run(at: storeURL, keepsOldStore: false, hub: stack.hub)
  }
}

extension VersionedModel {
  /// Returns whether the mapping inferred between two versions takes each property from where the
  /// versions in between take it.
  fileprivate func isPossibleInOne(
    from former: NSManagedObjectModel, to last: ModelVersion
  ) -> Bool {
    let direct = InferredMapping(from: former, to: last.model)
    guard direct.obstacles.isEmpty,
      let start = versions.firstIndex(where: { $0.model.digest == former.digest })
    else { return false }
    let path = versions(to: last)[start...].map(\.model)
    let steps = zip(path, path.dropFirst()).map { InferredMapping(from: $0, to: $1) }
    return direct.entities.allSatisfy { entity in
      guard let destination = entity.destination?.name else { return true }
      var name: String? = destination
      var sources = Dictionary(
        entity.properties.compactMap { $0.destination.map { ($0.name, Optional($0.name)) } },
        uniquingKeysWith: { first, _ in first })
      for step in steps.reversed() {
        let found = step.entities.first { $0.destination?.name == name && name != nil }
        sources = sources.mapValues { $0.flatMap { found?.sourceName(of: $0) } }
        name = found?.source?.name
      }
      guard entity.source?.name == name else { return false }
      return sources.allSatisfy { entity.sourceName(of: $0.key) == $0.value }
    }
  }

  /// Returns the stage for all versions up to one.
  fileprivate func lightweightStage(to last: ModelVersion) -> NSMigrationStage {
    NSLightweightMigrationStage(versions(to: last).map(\.model.versionChecksum))
  }

  /// Returns a stage from each version to the next, up to one.
  fileprivate func customStages(to last: ModelVersion) -> [NSMigrationStage] {
    let references = versions(to: last).map { version in
      NSManagedObjectModelReference(
        model: version.model, versionChecksum: version.model.versionChecksum)
    }
    return zip(references, references.dropFirst()).map { current, next in
      NSCustomMigrationStage(migratingFrom: current, to: next)
    }
  }

  private func versions(to last: ModelVersion) -> [ModelVersion] {
    let end = versions.firstIndex { $0.name == last.name } ?? versions.count - 1
    return Array(versions[...end])
  }
}
