@testable import OpenCoreData

extension NSPersistentStoreCoordinator {
  /// The store at the first place, when it has been added.
  var firstStore: RowStore? { store(at: 0) }
}
