public import OpenCoreData

/// Creates the sample's Core Data stack: registers its classes, and opens or creates its store.
public enum MoodyContainer {
  /// Opens the store at a URL with a model.
  ///
  /// **Cost**: see `addPersistentStore`.
  ///
  /// - Parameters:
  ///   - model: The model in `Scenarios/Models/Moody.xcdatamodel`.
  ///   - storeURL: The location of the store.
  /// - Throws: The error of `loadPersistentStores(completionHandler:)`.
  public static func make(
    model: NSManagedObjectModel, storeURL: URL
  ) throws -> NSPersistentContainer {
    try make(model, NSPersistentStoreDescription(url: storeURL))
  }

  /// Opens the store at a URL with the sample's complete model.
  ///
  /// A store of an earlier version is migrated first. Call this method on a queue other than the
  /// main queue if the store may be large; the migration takes time in proportion to its rows.
  ///
  /// The store is opened first, and migrated if that fails because of its version. Reading the
  /// version first would fail for a file in which another process is creating a store, or was
  /// killed while it did.
  ///
  /// **Cost**: `addPersistentStore`; if the version differs, twice, and
  /// `migrateStore(from:to:targetVersion:)`.
  ///
  /// - Parameters:
  ///   - storeURL: The location of the store, which is created if there is none.
  ///   - progress: A progress that gets one unit for each step of a migration.
  /// - Throws: `UnknownModelVersion`, or the error of the migration or of
  ///   `loadPersistentStores(completionHandler:)`.
  public static func make(
    storeURL: URL, progress: Progress? = nil
  ) throws -> NSPersistentContainer {
    let description = NSPersistentStoreDescription(url: storeURL)
    description.shouldMigrateStoreAutomatically = false
    do {
      return try make(MoodyModel.make(), description)
    } catch let error as NSError where error.code == NSPersistentStoreIncompatibleVersionHashError {
      try migrateStore(
        from: storeURL, to: storeURL, targetVersion: MoodyVersion.current, progress: progress)
      return try make(MoodyModel.make(), description)
    }
  }

  private static func make(
    _ model: NSManagedObjectModel, _ description: NSPersistentStoreDescription
  ) throws -> NSPersistentContainer {
    registerClasses()
    let container = NSPersistentContainer(name: "Moody", managedObjectModel: model)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error ?? failure }
    if let failure { throw failure }
    return container
  }

  /// Registers the classes of the model's entities, and the value transformer of earlier versions.
  ///
  /// It's safe to call this method more than once.
  public static func registerClasses() {
    Region.registerClass()
    Continent.registerClass()
    Country.registerClass()
    Mood.registerClass()
    // The colors are stored as their bytes.
    ValueTransformer.setValueTransformer(
      ValueTransformer(), forName: NSValueTransformerName("ColorsTransformer"))
  }
}
