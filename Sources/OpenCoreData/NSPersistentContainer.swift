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

  /// Sets the stack up with the model of that name, without opening a store.
  ///
  /// Looks for `NAME.momd`, `NAME.mom`, `NAME.xcdatamodeld` and `NAME.xcdatamodel`, in this order, among
  /// the resources of the main bundle, beside the program and in the working directory. Traps, naming
  /// the places, when there is none or it cannot be read.
  public convenience init(name: String) {
    self.init(name: name, managedObjectModel: NSPersistentContainer.model(named: name))
  }

  /// Sets the stack up without opening a store.
  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    self.name = name
    managedObjectModel = model
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    persistentStoreCoordinator = coordinator
    viewContext = NSManagedObjectContext(
      concurrencyType: .mainQueueConcurrencyType, coordinator: coordinator)
    let file = Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
    persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
    super.init()
  }

  /// Opens each described store and tells how that went, once for each.
  ///
  /// A store whose description asks for it is opened on another queue, and its block called there;
  /// the others are open when this returns. Cost: as `addPersistentStore`.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
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

  /// Runs a block with a new background context, on its queue, and gives its result.
  ///
  /// Throws what the block throws.
  open func performBackgroundTask<T: Sendable, Failure: Error>(
    _ block: @escaping @Sendable (NSManagedObjectContext) throws(Failure) -> T
  ) async throws(Failure) -> T {
    let context = newBackgroundContext()
    return try await context.perform(schedule: .enqueued) { () throws(Failure) -> T in
      try block(context)
    }
  }

  private static func model(named name: String) -> NSManagedObjectModel {
    let folders = [
      Bundle.main.resourceURL, Bundle.main.executableURL?.deletingLastPathComponent(),
      URL(fileURLWithPath: FileManager.default.currentDirectoryPath),
    ].compactMap { $0 }
    let extensions = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]
    for folder in folders {
      for suffix in extensions {
        let file = folder.appendingPathComponent("\(name).\(suffix)")
        guard FileManager.default.fileExists(atPath: file.path) else { continue }
        guard let model = NSManagedObjectModel(contentsOf: file) else {
          preconditionFailure("the model \(file.path) can't be read; cdprof model shows why")
        }
        return model
      }
    }
    preconditionFailure(
      "there's no model '\(name)' (\(extensions.joined(separator: ", "))) in "
        + folders.map(\.path).joined(separator: ", "))
  }
}
