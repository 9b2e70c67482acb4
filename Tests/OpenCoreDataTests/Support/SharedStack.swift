import OpenCoreData
import ProfileEvents

/// One coordinator over an empty store of any kind, with any number of contexts.
final class SharedStack {
  let kind: StoreKind
  let coordinator: NSPersistentStoreCoordinator
  let events = EventList()
  private let files: TestStack

  init(
    _ kind: StoreKind, _ model: NSManagedObjectModel, options: [AnyHashable: Any]? = nil
  ) throws {
    self.kind = kind
    files = try TestStack(model: model)
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    coordinator.eventHub.add(events)
    try coordinator.addPersistentStore(
      ofType: kind.type.rawValue, configurationName: nil,
      at: kind.url(files.storeURL), options: kind == .memory ? nil : options)
  }

  /// The file of a SQLite store.
  var storeURL: URL { files.storeURL }

  func context(
    _ policy: NSMergePolicy = .error, _ name: String? = nil
  ) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = policy
    context.name = name
    return context
  }

  /// A context of another coordinator over the same file.
  func foreignContext(
    _ policy: NSMergePolicy = .error, options: [AnyHashable: Any]? = nil
  ) throws -> NSManagedObjectContext {
    let context = try files.coldContext(options: options)
    context.mergePolicy = policy
    return context
  }
}

extension NSManagedObjectContext {
  /// All objects of an entity, in the order of their IDs.
  func everyObject(of entity: String) throws -> [NSManagedObject] {
    try fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
      .sorted { $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path }
  }

  /// This context's object with the same ID.
  func twin(of object: NSManagedObject) -> NSManagedObject {
    self.object(with: object.objectID)
  }
}

/// The error that a body throws, or `nil`.
func thrownError(_ body: () throws -> Void) -> NSError? {
  do { try body() } catch let error as NSError { return error }
  return nil
}
