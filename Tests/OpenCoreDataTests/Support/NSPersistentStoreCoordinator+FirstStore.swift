@testable import OpenCoreData

extension NSPersistentStoreCoordinator {
  /// The first store, or `nil` if none was added.
  var firstStore: RowStore? { store(at: 0) }
}
