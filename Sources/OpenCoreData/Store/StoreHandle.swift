import Synchronization

/// What object IDs hold of their store: one for all of them, so that an ID needs no weak reference of
/// its own.
///
/// Outlives the store, whose IDs go on being equal to each other. It finds the store through the
/// coordinator: an object with a weak reference to it is slower to count, and every fault counts the
/// store.
final class StoreHandle: @unchecked Sendable {  // `coordinator` is set before there is an ID
  private let name: Mutex<String>
  private weak var coordinator: NSPersistentStoreCoordinator?

  init(identifier: String) {
    name = Mutex(identifier)
  }

  /// `Z_UUID`.
  var identifier: String { name.withLock { $0 } }

  /// Sets another identifier.
  func rename(_ identifier: String) {
    name.withLock { $0 = identifier }
  }

  /// Says where the store is found from now on.
  func join(_ coordinator: NSPersistentStoreCoordinator) {
    self.coordinator = coordinator
  }

  /// Nil after the store was removed.
  var store: NSPersistentStore? {
    coordinator?.persistentStores.first { $0.handle === self }
  }
}
