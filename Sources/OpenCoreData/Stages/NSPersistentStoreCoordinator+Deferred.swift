import ManagedModel

// The work that deferred lightweight migrations put off.

extension NSPersistentStoreCoordinator {
  /// Finishes the deferred lightweight migrations of all stores.
  ///
  /// Contexts can be used before, during, and after: objects and object IDs stay, and writers wait for one
  /// unit at a time. Does nothing if there's no work, which
  /// `NSPersistentStoreDeferredLightweightMigrationOptionKey` in a store's metadata tells. Cost: for each
  /// table with columns that the model doesn't have, the copy of its rows; each unit is one transaction.
  /// - Throws: 134110 if a store is open read-only, or SQLite can't complete a unit, such as with a full disk;
  ///   the units before it are complete, and the next call continues.
  public func finishDeferredLightweightMigration() throws {
    for store in deferringStores {
      while try store.finishDeferredTask(eventHub, migrationLog) {}
    }
  }

  /// Does one unit of the work that deferred lightweight migrations put off, such as in a background task.
  ///
  /// A unit drops a table, or copies a table without the columns and indexes that the model doesn't have. It's
  /// one transaction. Does nothing if there's no work.
  /// - Throws: The errors of `finishDeferredLightweightMigration()`; the store is unchanged then.
  public func finishDeferredLightweightMigrationTask() throws {
    for store in deferringStores where try store.finishDeferredTask(eventHub, migrationLog) {
      return
    }
  }

  private var deferringStores: [SQLiteStore] { rowStores.compactMap { $0 as? SQLiteStore } }
}
