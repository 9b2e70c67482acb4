import ManagedModel

/// A step of a staged migration.
///
/// Use `NSLightweightMigrationStage` or `NSCustomMigrationStage`. Apple counterpart:
/// `NSMigrationStage`.
open class NSMigrationStage: NSObject {
  /// A name for the developer.
  open var label: String! = ""

  fileprivate override init() {
    super.init()
  }

  /// The checksums of the versions of the stage, in order.
  var checksums: [String] { [] }
}

/// Versions that lightweight migration connects.
///
/// Apple counterpart: `NSLightweightMigrationStage`.
open class NSLightweightMigrationStage: NSMigrationStage {
  /// The checksums of the versions, in the order in which they were released.
  public final let versionChecksums: [String]

  /// Creates a stage.
  public init(_ versionChecksums: [String]) {
    self.versionChecksums = versionChecksums
    super.init()
  }

  override var checksums: [String] { versionChecksums }
}

/// A lightweight migration from one version to the next with the app's own code before or after it.
///
/// Apple counterpart: `NSCustomMigrationStage`.
open class NSCustomMigrationStage: NSMigrationStage {
  /// The model that the stage begins with.
  public final let currentModel: NSManagedObjectModelReference
  /// The model that the stage ends with.
  public final let nextModel: NSManagedObjectModelReference

  /// Changes the store while it has the current model.
  ///
  /// The manager's `container` has the store; save its contexts. If the process ends before the
  /// stage is complete, the handler is called again at the next attempt. Two processes that open
  /// the store at the same time don't both call it: one waits, as for a lock of SQLite.
  open var willMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?
  /// Changes the store when it has the next model.
  ///
  /// The manager's `container` has the store; save its contexts. If the process ends before the
  /// handler returns, it isn't called again.
  open var didMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

  /// Creates a stage without handlers.
  public init(
    migratingFrom currentModel: NSManagedObjectModelReference,
    to nextModel: NSManagedObjectModelReference
  ) {
    self.currentModel = currentModel
    self.nextModel = nextModel
    super.init()
  }

  override var checksums: [String] { [currentModel.versionChecksum, nextModel.versionChecksum] }
}

/// The stages by which stores of all released versions become stores of the current one.
///
/// Set it as the option `NSPersistentStoreStagedMigrationManagerOptionKey` of a store, with both
/// options of automatic migration. Apple counterpart: `NSStagedMigrationManager`.
open class NSStagedMigrationManager: NSObject {
  /// The stages, in the order in which the versions were released.
  public final let stages: [NSMigrationStage]

  /// The container with the store, while a handler of a stage runs; otherwise `nil`.
  ///
  /// Its model is that of the store at that time, with plain `NSManagedObject`s.
  open internal(set) var container: NSPersistentContainer?

  /// Creates a manager.
  public init(_ stages: [NSMigrationStage]) {
    self.stages = stages
  }
}
