package import ManagedModel
package import ProfileEvents

/// The migration of a SQLite store along the versions of a model on disk.
///
/// Each step migrates to the next version if there's a mapping model for it, or to the latest
/// version that a mapping model migrates to; otherwise to the nearest version for which a mapping
/// can be inferred. A step from which the last version can't be reached isn't taken. Mapping models
/// are searched for in the folder of versions, next to it, and in bundles; several for a step are
/// parts of it. Each step is complete when it ends, so an interrupted migration continues from
/// there. A store that was created with a configuration of its model is migrated with the same
/// configuration, or with one of the last version that has the same entities.
///
///     let migration = try ProgressiveMigration(storeURL: store, versionsURL: model)
///     print(migration.steps)
///     try migration.run()
///
/// Use it on one thread; `progress` can be used on any. No Apple counterpart: the book's chapter 14
/// describes it.
public struct ProgressiveMigration {
  /// A migration from one version to a later one.
  public struct Step: CustomStringConvertible {
    /// The name of the version that the step begins with.
    public let from: String
    /// The name of the version that the step ends with.
    public let to: String
    /// The mapping models; empty if the mapping is inferred.
    public let mappingModels: [NSMappingModel]
    /// The model that the step begins with.
    package let source: NSManagedObjectModel
    /// The model that the step ends with.
    package let destination: NSManagedObjectModel
    /// The configuration of both models that the store contains; `nil` for all entities.
    package let configuration: String?

    /// Creates a step.
    ///
    /// - Parameters:
    ///   - before: The version that the step begins with.
    ///   - after: The version that the step ends with.
    ///   - mappingModels: The mapping models that are parts of the step; none to infer the mapping.
    ///   - configuration: The configuration of both models that the store contains; `nil` for all
    ///     entities.
    package init(
      from before: ModelVersion, to after: ModelVersion,
      mappingModels: [NSMappingModel], configuration: String? = nil
    ) {
      (from, source) = (before.name, before.model)
      (to, destination) = (after.name, after.model)
      (self.mappingModels, self.configuration) = (mappingModels, configuration)
    }

    /// The versions, and how the mapping is found.
    public var description: String {
      "\(from) to \(to), \(mappingModels.isEmpty ? "inferred" : "with a mapping model")"
    }
  }

  /// The steps, in order; empty if the store already has the version.
  public let steps: [Step]
  /// The progress of all steps; cancelling it ends the migration with 134120 in or after the
  /// current one.
  public let progress: Progress
  private let url: URL
  /// Receives the events of all steps; no sink by default.
  package var eventHub = EventHub()

  private static let stepUnits: Int64 = 1_000

  /// Plans the migration of a store.
  ///
  /// **Cost:** reads the models, the mapping models, and the store's metadata; no rows.
  /// - Parameters:
  ///   - storeURL: The store.
  ///   - versionsURL: A `.momd` or `.xcdatamodeld` folder.
  ///   - version: The name of the version to migrate to; `nil` for the current one.
  ///   - bundles: The bundles to search for mapping models, in addition to the folders.
  /// - Throws: 134130 if the store has none of the versions, 134506 if it has a later one, 134140
  ///   if a step can't be inferred and has no mapping model; 134070 if a version on the way doesn't
  ///   have the configuration that the store was made with; 134080 if a model or a mapping
  ///   model can't be read; the errors of reading the metadata of the store.
  public init(
    storeURL: URL, versionsURL: URL, to version: String? = nil, bundles: [Bundle] = []
  ) throws {
    url = storeURL
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: storeURL)
    let (versions, end) = try Self.versions(versionsURL, version)
    let folders =
      [versionsURL, versionsURL.deletingLastPathComponent()] + bundles.compactMap(\.resourceURL)
    guard
      let start = MigrationPlanner(versions: versions, mappingModels: [])
        .position(ofStoreWith: metadata)
    else {
      throw NSError.coreData(
        NSMigrationMissingSourceModelError,
        "The store \(storeURL.relativePath) has none of the versions in \(versionsURL.relativePath): "
          + "\(versions.map(\.name).joined(separator: ", ")). Add its version.",
        ["URL": storeURL, "metadata": metadata, "reason": "Can't find model for source store"])
    }
    let configuration: String?
    do {
      configuration = try MigrationPlanner.configuration(
        ofStoreWith: metadata, from: [versions[start]], along: versions, to: versions[end])
    } catch {
      throw error.error(storeURL, versions[end].name)
    }
    // An earlier version can have the same entities in the configuration.
    let isCurrent = versions[end].model.isConfiguration(
      withName: configuration, compatibleWithStoreMetadata: metadata)
    guard isCurrent || start <= end else {
      throw NSError.coreData(
        NSStagedMigrationBackwardMigrationError,
        "The store \(storeURL.relativePath) has the version \(versions[start].name), which is later than "
          + "\(versions[end].name).",
        [NSFilePathErrorKey: storeURL.path])
    }
    let planner = MigrationPlanner(
      versions: versions, mappingModels: [try Self.mappingModels(in: folders)],
      configuration: configuration)
    do {
      steps = try isCurrent ? [] : planner.steps(from: start, to: end)
    } catch {
      throw NSError.missingMappingModel(
        error.from.model, error.to.model, storeURL, error.obstacles)
    }
    if let version = planner.versionWithoutConfiguration(between: steps) {
      let stored = versions[start].model.entities(forConfigurationName: configuration) ?? []
      throw MigrationPlanner.ConfigurationProblem.missing(
        entities: stored.compactMap(\.name).sorted(), name: configuration
      ).error(storeURL, version)
    }
    progress = Progress(totalUnitCount: Int64(max(steps.count, 1)) * Self.stepUnits)
  }

  private static func versions(
    _ url: URL, _ version: String?
  ) throws -> (versions: [ModelVersion], end: Int) {
    do {
      let versions = try NSManagedObjectModel.versions(of: url).map { name in
        ModelVersion(
          name: name, model: try NSManagedObjectModel.read(contentsOf: url, version: name))
      }
      let wanted = try version ?? NSManagedObjectModel.currentVersion(of: url)
      if let end = versions.firstIndex(where: { $0.name == wanted }) { return (versions, end) }
      _ = try NSManagedObjectModel.file(of: url, version: wanted)
      return (versions, versions.count - 1)
    } catch {
      throw NSError.coreData(
        NSPersistentStoreOpenError, "The versions in \(url.relativePath) can't be read: \(error)",
        [NSFilePathErrorKey: url.path])
    }
  }

  private static func mappingModels(in folders: [URL]) throws -> [MappingModelFile] {
    do {
      return try folders.flatMap { try MappingModelFile.all(in: $0) }
    } catch {
      throw NSError.coreData(
        NSPersistentStoreOpenError, "A mapping model can't be read: \(error)",
        [NSFilePathErrorKey: folders.first?.path ?? ""])
    }
  }

  /// Migrates the store.
  ///
  /// **Cost:** that of the steps; see `NSMigrationManager.migrateStore` for one with a mapping
  /// model. An inferred step runs in one transaction, with memory that doesn't grow with the rows.
  /// Each step begins with the metadata of the store: steps that another process has completed in
  /// the meantime aren't repeated.
  /// - Parameter options: The options to open the store with.
  /// - Throws: 134110 with the reason if a step fails; 134120 after cancellation; the errors of
  ///   `NSMigrationManager.migrateStore`. The store then has the version that the failed step
  ///   begins with.
  public func run(options: [AnyHashable: Any]? = nil) throws {
    var completed = 0
    while completed < steps.count {
      try checkCancellation()
      let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        type: .sqlite, at: url)
      let index = try nextStep(from: completed, metadata)
      guard index < steps.count else { break }
      let first = Int64(index) * Self.stepUnits
      let report = { (fraction: Double) throws in
        progress.completedUnitCount = first + Int64(fraction * Double(Self.stepUnits))
        try checkCancellation()
      }
      do {
        try steps[index].run(
          at: url, options: options,
          expectedHashes: metadata[NSStoreModelVersionHashesKey] as? [String: Data],
          hub: eventHub, report: report)
        completed = index + 1
      } catch let error as NSError where error.isOfMigrationElsewhere {
        completed = index
      }
      progress.completedUnitCount = Int64(completed) * Self.stepUnits
    }
    progress.completedUnitCount = progress.totalUnitCount
  }

  /// Returns the position of the step that begins with the version of the store; the number of
  /// steps if the store has the last version.
  ///
  /// - Parameters:
  ///   - index: The position of the step that's next if no other process migrates the store.
  ///   - metadata: The metadata of the store.
  /// - Throws: 134110 if another process has migrated the store to any other version.
  private func nextStep(from index: Int, _ metadata: [String: Any]) throws -> Int {
    func isOfStore(_ model: NSManagedObjectModel, _ step: Step) -> Bool {
      model.isConfiguration(
        withName: step.configuration, compatibleWithStoreMetadata: metadata)
    }
    if let next = steps[index...].firstIndex(where: { isOfStore($0.source, $0) }) { return next }
    guard let last = steps.last, isOfStore(last.destination, last) else {
      throw NSError.migratedElsewhere(url)
    }
    return steps.count
  }

  private func checkCancellation() throws {
    guard progress.isCancelled else { return }
    throw NSError.coreData(NSMigrationCancelledError, "The migration was cancelled.")
  }
}

extension ProgressiveMigration.Step {
  /// The mapping models, or else the inferred one.
  var mappings: [NSMappingModel] {
    mappingModels.isEmpty
      ? [NSMappingModel(InferredMapping(from: source, to: destination))] : mappingModels
  }

  /// Migrates a store of the step's source model.
  ///
  /// - Parameters:
  ///   - url: The store.
  ///   - type: SQLite, XML, or binary. Only a SQLite store is migrated in place.
  ///   - options: The options to open it with.
  ///   - keepsOldStore: Whether a migration with mapping models keeps the old store next to the new
  ///     one.
  ///   - limits: The limits of the statements of a migration in place; `nil` for none.
  ///   - expectedHashes: The version hashes of the store; `nil` if they aren't compared.
  ///   - hub: Receives the events.
  ///   - report: Called with how much is complete, from 0 to 1; an error that it throws cancels the
  ///     step.
  /// - Throws: The errors of `ProgressiveMigration.run(options:)`; the store is unchanged then.
  ///   134110 also if the store has other version hashes than expected.
  package func run(
    at url: URL, type: NSPersistentStore.StoreType = .sqlite,
    options: [AnyHashable: Any]? = nil, keepsOldStore: Bool = true,
    limits: RehearsalLimits? = nil, expectedHashes: [String: Data]? = nil,
    hub: EventHub = EventHub(),
    report: @escaping (Double) throws -> Void = { _ in }
  ) throws {
    do {
      if mappingModels.isEmpty, type == .sqlite {
        var migration = LightweightMigration(
          url: url, mapping: InferredMapping(from: source, to: destination),
          configuration: configuration, options: options, hub: hub)
        migration.limits = limits
        migration.expectedHashes = expectedHashes
        migration.progress = { try report(Double($0) / Double(max($1, 1))) }
        try migration.run()
      } else {
        var migration = MappedMigration(
          url: url, source: source, destination: destination, mappings: mappings,
          configuration: configuration, options: options, hub: hub, type: type, report: report)
        migration.isInferred = mappingModels.isEmpty
        migration.keepsOldStore = keepsOldStore
        migration.expectedHashes = expectedHashes
        try migration.run()
      }
    } catch {
      throw NSError.migrating(error, url)
    }
  }
}
