import ManagedModel
import Synchronization

/// A model, a coordinator, and a main-queue context, set up together.
///
/// See the book's chapter 3.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
  // set up by one thread; the parts are thread-safe
  /// The given name, after which the default store's file is named.
  open var name: String { parts.name }
  /// The model.
  open var managedObjectModel: NSManagedObjectModel { parts.model }
  /// The coordinator, which has its stores after they are loaded.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator { parts.coordinator }
  /// A context on the main queue.
  open var viewContext: NSManagedObjectContext { parts.viewContext }
  private let parts: Parts
  /// The stores to load; by default `NAME.sqlite` in the default directory.
  open var persistentStoreDescriptions: [NSPersistentStoreDescription]
  /// The store that was opened last for each description.
  private let loaded = Mutex<[LoadedStore]>([])

  /// What the container was created with.
  private struct Parts {
    let name: String
    let model: NSManagedObjectModel
    let coordinator: NSPersistentStoreCoordinator
    let viewContext: NSManagedObjectContext
  }

  private struct LoadedStore {
    let description: NSPersistentStoreDescription
    let store: NSPersistentStore
  }

  /// Returns the default directory for a container's store: `Data` in the working directory.
  open class func defaultDirectoryURL() -> URL {
    URL(fileURLWithPath: FileManager.default.currentDirectoryPath).appendingPathComponent("Data")
  }

  /// Creates a container with the model of that name, without opening a store.
  ///
  /// Searches for `NAME.momd`, `NAME.mom`, `NAME.xcdatamodeld`, and `NAME.xcdatamodel`, in this
  /// order, in the main bundle's resources, next to the program, and in the working directory.
  /// Stops with a fatal error that lists the paths if there's none or it can't be read.
  public convenience init(name: String) {
    self.init(name: name, managedObjectModel: NSPersistentContainer.model(named: name))
  }

  /// Creates a container without opening a store.
  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    parts = Parts(
      name: name, model: model, coordinator: coordinator,
      viewContext: NSManagedObjectContext(
        concurrencyType: .mainQueueConcurrencyType, coordinator: coordinator))
    let file = Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
    persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
    super.init()
  }

  /// Opens each described store that this container hasn't opened yet, and calls the block with the
  /// result, once for each.
  ///
  /// Call it again to open the stores that failed, or were removed from the coordinator since.
  ///
  /// A store whose description specifies it is opened on another queue, where its block is called;
  /// the others are open when this method returns. **Cost:** as `addPersistentStore`.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions where !isLoaded(description) {
      persistentStoreCoordinator.add(description) { [self] result in
        switch result {
        case .success(let store):
          loaded.withLock { loaded in
            loaded.removeAll { $0.description === description }
            loaded.append(LoadedStore(description: description, store: store))
          }
          block(description, nil)
        case .failure(let error): block(description, error)
        }
      }
    }
  }

  /// Returns whether the store of a description is open.
  private func isLoaded(_ description: NSPersistentStoreDescription) -> Bool {
    let stores = persistentStoreCoordinator.persistentStores
    return loaded.withLock { loaded in
      loaded.contains { $0.description === description && stores.contains($0.store) }
    }
  }

  /// Returns a new context with its own queue and the same coordinator, which merges the saves of
  /// others automatically.
  ///
  /// It has no undo manager, and the merge policy `NSMergePolicy.error`.
  open func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(
      concurrencyType: .privateQueueConcurrencyType, coordinator: persistentStoreCoordinator)
    context.automaticallyMergesChangesFromParent = true
    return context
  }

  /// Schedules a block with a new background context on its queue, and returns immediately.
  open func performBackgroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  /// Runs a block with a new background context, on its queue, and returns its result.
  ///
  /// Rethrows the block's error.
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
          fatalError("the model \(file.path) can't be read; cdprof model shows why")
        }
        return model
      }
    }
    fatalError(
      "there's no model '\(name)' (\(extensions.joined(separator: ", "))) in "
        + folders.map(\.path).joined(separator: ", "))
  }
}
