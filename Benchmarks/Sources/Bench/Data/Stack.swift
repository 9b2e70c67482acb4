import OpenCoreData

/// A coordinator with the store in a file.
final class Stack {
  let coordinator: NSPersistentStoreCoordinator

  /// Opens or creates the store.
  init(url: URL, model: NSManagedObjectModel) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: url)
  }

  /// Returns a new private-queue context.
  func context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }
}
