import OpenCoreData

/// A coordinator over the store in one file.
final class Stack {
  let coordinator: NSPersistentStoreCoordinator

  /// Opens the store, or creates it.
  init(url: URL, model: NSManagedObjectModel) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: url)
  }

  /// A context on a queue of its own, with nothing registered.
  func context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }
}
