import ManagedModel

/// A model, a coordinator and a main-queue context, set up together.
///
/// The book's chapter 3.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
  // set up by one thread; the parts guard themselves
  /// The name given; the default store's file is named after it.
  public let name: String
  /// The model.
  public let managedObjectModel: NSManagedObjectModel
  /// The coordinator; it has its stores once they are loaded.
  public let persistentStoreCoordinator: NSPersistentStoreCoordinator
  /// A context on the main queue.
  public let viewContext: NSManagedObjectContext
  /// The stores to load; `NAME.sqlite` in the default directory unless changed.
  open var persistentStoreDescriptions: [NSPersistentStoreDescription]

  /// Where a container puts its store when nothing else is said: the working directory's `Data`.
  open class func defaultDirectoryURL() -> URL {
    URL(fileURLWithPath: FileManager.default.currentDirectoryPath).appendingPathComponent("Data")
  }

  /// Sets the stack up without opening a store.
  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    self.name = name
    managedObjectModel = model
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    persistentStoreCoordinator = coordinator
    viewContext = NSManagedObjectContext(
      concurrencyType: .mainQueueConcurrencyType, coordinator: coordinator)
    let file = NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
    persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
    super.init()
  }

  /// Opens each described store and tells how that went, before it returns.
  ///
  /// Cost: as `addPersistentStore`.
  open func loadPersistentStores(
    completionHandler block: (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      do {
        if let folder = description.url?.deletingLastPathComponent(), !description.isReadOnly {
          try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        try persistentStoreCoordinator.addPersistentStore(
          ofType: description.type, configurationName: nil, at: description.url,
          options: description.storeOptions)
        block(description, nil)
      } catch {
        block(description, error as NSError)
      }
    }
  }

  /// A new context on a queue of its own over the same coordinator.
  open func newBackgroundContext() -> NSManagedObjectContext {
    NSManagedObjectContext(
      concurrencyType: .privateQueueConcurrencyType, coordinator: persistentStoreCoordinator)
  }

  /// Runs a block with a new background context, on its queue, later.
  open func performBackgroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }
}
