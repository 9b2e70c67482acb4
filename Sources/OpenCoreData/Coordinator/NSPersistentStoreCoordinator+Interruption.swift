import SQLiteDriver

extension NSPersistentStoreCoordinator {
  /// Stops the statements that run now, on all its stores; whoever runs one gets 134180.
  ///
  /// From any thread. For work whose errors are thrown, and for reading: a fault whose SELECT is stopped
  /// reads as empty until `NSManagedObjectContext.forgetStoppedFaults()`.
  package func interruptStatements() {
    for case let store as SQLiteStore in persistentStores { store.pool.interrupt() }
  }

  /// Stops the statement of a save or of a batch request that runs now, on all its stores; whoever runs
  /// one gets 134180, and nothing of its transaction is kept.
  ///
  /// From any thread. What is read meanwhile, such as a fault that a save fires, is not stopped.
  package func interruptWriting() {
    for case let store as SQLiteStore in persistentStores { store.pool.interruptWriter() }
  }
}
