public import OpenCoreData

/// Makes the sample's stack: its classes registered, its store opened or created.
public enum MoodyContainer {
  /// Opens the store in a file with the sample's model.
  ///
  /// Cost: as `addPersistentStore`.
  ///
  /// - Parameter model: The model in `Scenarios/Models/Moody.xcdatamodel`.
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

  /// Lets the model's entities find their classes; safe to call again.
  public static func registerClasses() {
    Region.registerClass()
    Continent.registerClass()
    Country.registerClass()
    Mood.registerClass()
  }
}
