public import OpenCoreData

/// A version of a model, and how its stores become stores of the next version.
///
/// With a mapping model for each step, a store of any version can be migrated, one version after
/// the other; automatic migration would need one from every version to the latest. See chapter 14
/// of *Core Data* by Florian Kugler and Daniel Eggert (objc.io).
public protocol ModelVersion: Equatable {
  /// All versions, the latest first.
  static var all: [Self] { get }
  /// The version that the program uses.
  static var current: Self { get }
  /// The name of the version.
  var name: String { get }
  /// The next version, or `nil` for the latest one.
  var successor: Self? { get }

  /// Creates an instance of the version's model.
  func managedObjectModel() -> NSManagedObjectModel

  /// Returns the mapping models to the next version, each of which migrates a part of the data.
  ///
  /// - Throws: An error if a mapping can't be inferred.
  func mappingModelsToSuccessor() throws -> [NSMappingModel]
}

extension ModelVersion {
  /// Determines the version of a store, or returns `nil` if the store has none of the versions.
  ///
  /// **Cost**: reads the store's metadata.
  ///
  /// - Throws: An error if there's no store, or if it can't be read.
  public init?(storeURL: URL) throws {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: storeURL)
    let version = Self.all.first {
      $0.managedObjectModel().isConfiguration(
        withName: nil, compatibleWithStoreMetadata: metadata)
    }
    guard let version else { return nil }
    self = version
  }

  /// Returns the steps from this version to a later one; none if it's the same version.
  ///
  /// - Throws: `LaterModelVersion` if the other version is an earlier one; an error if a mapping
  ///   can't be inferred.
  public func migrationSteps(to version: Self) throws -> [MigrationStep] {
    guard self != version else { return [] }
    guard let successor else { throw LaterModelVersion(target: version.name) }
    let step = MigrationStep(
      source: managedObjectModel(), destination: successor.managedObjectModel(),
      mappings: try mappingModelsToSuccessor())
    return try [step] + successor.migrationSteps(to: version)
  }
}

/// The migration of a store from one version to the next.
public struct MigrationStep {
  /// The model of the store.
  public let source: NSManagedObjectModel
  /// The model of the migrated store.
  public let destination: NSManagedObjectModel
  /// The mapping models to run one after the other.
  public let mappings: [NSMappingModel]

  /// Migrates a store into another file.
  fileprivate func migrate(from source: URL, to destination: URL) throws {
    let manager = NSMigrationManager(sourceModel: self.source, destinationModel: self.destination)
    for mapping in mappings {
      try manager.migrateStore(
        from: source, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
    }
  }
}

/// Migrates a store to a later version, step by step.
///
/// The store isn't changed until all steps have succeeded, so that a failed migration can be
/// repeated, even by a later release of the program. Each step writes a temporary store next to the
/// target.
///
/// **Cost**: for each step, all rows of its source and destination, in batches.
///
/// - Parameters:
///   - sourceURL: The store to migrate, which must not be open.
///   - targetURL: The location of the migrated store, which can be the same.
///   - version: The version to migrate to.
///   - deleteSource: Whether to delete the source if its location isn't the target's.
///   - progress: A progress that gets one unit for each step.
/// - Throws: `UnknownModelVersion` if the store has none of the versions, `LaterModelVersion` if it
///   has a later one; the errors of `NSMigrationManager`.
public func migrateStore<Version: ModelVersion>(
  from sourceURL: URL, to targetURL: URL, targetVersion version: Version,
  deleteSource: Bool = false, progress: Progress? = nil
) throws {
  guard let sourceVersion = try Version(storeURL: sourceURL) else {
    throw UnknownModelVersion(path: sourceURL.path, versions: Version.all.map(\.name))
  }
  let steps = try sourceVersion.migrationSteps(to: version)
  progress?.totalUnitCount = Int64(steps.count)
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
  var current = sourceURL
  defer {
    if current != sourceURL { try? coordinator.destroyPersistentStore(at: current, type: .sqlite) }
  }
  for step in steps {
    let next = targetURL.deletingLastPathComponent()
      .appendingPathComponent("Migration-\(UUID().uuidString).sqlite")
    do {
      try step.migrate(from: current, to: next)
    } catch {
      try? coordinator.destroyPersistentStore(at: next, type: .sqlite)
      throw error
    }
    if current != sourceURL { try coordinator.destroyPersistentStore(at: current, type: .sqlite) }
    current = next
    progress?.completedUnitCount += 1
  }
  if current != targetURL {
    try coordinator.replacePersistentStore(
      at: targetURL, withPersistentStoreFrom: current, type: .sqlite)
  }
  if deleteSource, sourceURL != targetURL {
    try coordinator.destroyPersistentStore(at: sourceURL, type: .sqlite)
  }
}

/// An error: a store has none of the versions of a model.
public struct UnknownModelVersion: Error, CustomStringConvertible {
  /// The path of the store.
  public let path: String
  /// The names of the versions, the latest first.
  public let versions: [String]

  /// What's wrong, and what to do.
  public var description: String {
    "the store \(path) has none of the versions \(versions.joined(separator: ", ")); open it with "
      + "the release of the program that created it, or a later one"
  }
}

/// An error: a store has a later version of a model than the one to migrate it to.
public struct LaterModelVersion: Error, CustomStringConvertible {
  /// The name of the version to migrate to.
  public let target: String

  /// What's wrong, and what to do.
  public var description: String {
    "the store has a later version than \(target), and stores are migrated to later versions only; "
      + "open it with a later release of the program"
  }
}
