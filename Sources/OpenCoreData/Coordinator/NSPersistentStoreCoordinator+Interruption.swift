import SQLiteDriver

extension NSPersistentStoreCoordinator {
  /// Stops the statements that run now, on all its stores; whoever runs one gets 134180.
  ///
  /// From any thread. Only for work whose errors are thrown: a fault whose SELECT fails traps.
  package func interruptStatements() {
    for case let store as SQLiteStore in persistentStores { store.pool.interrupt() }
  }
}
