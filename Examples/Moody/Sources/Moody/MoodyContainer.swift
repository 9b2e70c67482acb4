public import OpenCoreData

/// Creates the sample's Core Data stack: registers its classes, and opens or creates its store.
public enum MoodyContainer {
  /// Opens the store at a URL with the sample's model.
  ///
  /// **Cost**: see `addPersistentStore`.
  ///
  /// - Parameters:
  ///   - model: The model in `Scenarios/Models/Moody.xcdatamodel`.
  ///   - storeURL: The location of the store.
  public static func make(
    model: NSManagedObjectModel, storeURL: URL
  ) throws -> NSPersistentContainer {
    registerClasses()
    let container = NSPersistentContainer(name: "Moody", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: storeURL)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error ?? failure }
    if let failure { throw failure }
    return container
  }

  /// Registers the classes of the model's entities.
  ///
  /// It's safe to call this method more than once.
  public static func registerClasses() {
    Region.registerClass()
    Continent.registerClass()
    Country.registerClass()
    Mood.registerClass()
  }
}
