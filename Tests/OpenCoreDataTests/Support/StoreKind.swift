import OpenCoreData

/// The stores that behaviour is tested on: what holds for one holds for the other.
enum StoreKind: CaseIterable, Sendable {
  case sqlite, memory
}

/// A store of either kind with contexts over it.
///
/// On SQLite each context has a coordinator of its own, so that nothing is cached. A store in memory
/// has one coordinator; what its contexts hold leaves the row cache with them.
final class GraphStack {
  let kind: StoreKind
  private let stack: TestStack
  private let coordinator: NSPersistentStoreCoordinator?

  /// An empty store of a model.
  init(_ kind: StoreKind, model: NSManagedObjectModel) throws {
    self.kind = kind
    stack = try TestStack(model: model)
    guard kind == .memory else {
      coordinator = nil
      return
    }
    let made = NSPersistentStoreCoordinator(managedObjectModel: model)
    try made.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    coordinator = made
  }

  /// The file, for tests that look at its tables.
  var storeURL: URL { stack.storeURL }

  /// A context that has nothing registered.
  func context() throws -> NSManagedObjectContext {
    guard let coordinator else { return try stack.coldContext() }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// A statement costs nothing in memory.
  func statements(_ count: Int) -> Int {
    kind == .sqlite ? count : 0
  }
}

extension NSManagedObjectContext {
  /// All objects of an entity, by a key that tells them apart.
  func all(_ entity: String, by key: String = "name") throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
    return try fetch(request)
  }

  /// The error of a save; nil when it succeeds.
  func saveError() -> NSError? {
    do {
      try save()
      return nil
    } catch {
      return error as NSError
    }
  }
}

extension NSError {
  /// The code, or the codes of the errors it sums up, in ascending order.
  var codes: [Int] {
    guard let details = userInfo[NSDetailedErrorsKey] as? [NSError] else { return [code] }
    return details.map(\.code).sorted()
  }
}
