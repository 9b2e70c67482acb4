import ManagedModel

/// Where the rows of a store are: how they are read and written.
///
/// `SQLiteStore` stores them in a database, `MemoryStore` in memory and, for an XML or binary store, in
/// a document.
protocol StoreBackend: AnyObject {
  /// Begins to read: everything that one reader returns is of one snapshot.
  func beginReading() throws -> any StoreReader

  /// Creates a query generation of the current state, while no save is writing.
  func openGeneration() throws -> StoreGeneration

  /// Reserves primary keys for new objects and assigns them to the objects.
  func reserveKeys(for objects: [NSManagedObject], in scope: ProfileScope) throws

  /// Writes a save, all of it or nothing, and updates the row cache.
  ///
  /// Each row is written only if it still has the version that its object was read at.
  /// - Parameter beforeCommit: What has to succeed before this store commits: the writes of the save's
  ///   other stores.
  /// - Throws: `SaveConflicts` when a row has another version, `ConstraintViolations` when a stored row
  ///   has values that must be unique; nothing is written then.
  /// - Returns: The new row of each written object, with a count for the caller.
  func write(
    _ plan: SavePlan, in scope: ProfileScope, beforeCommit: () throws -> Void
  ) throws -> [Row]

  /// The bytes of an externally stored value.
  func externalData(_ file: ExternalFile) throws -> Data

  /// Writes metadata that was set and isn't saved yet.
  func saveMetadata() throws

  /// Marks the store as removed and closes its file; reading fails from now on.
  func close()
}

/// A store of rows: the shared row cache and where the rows are.
typealias RowStore = any CachingStore & StoreBackend

extension StoreBackend where Self: CachingStore {
  /// The generation of the present state: the last one when nothing was saved since, or a new one.
  func currentGeneration() throws -> StoreGeneration {
    let last = withShared { $0.generations.last?.generation }
    if let last, last.commit == commitNumber { return last }
    let generation = try openGeneration()
    withShared { shared in
      shared.generations.removeAll { $0.generation == nil }
      shared.generations.append(WeakGeneration(generation: generation))
    }
    return generation
  }

  /// The store, when it may be written.
  ///
  /// - Throws: 134030 for one that is looked at, 134070 for one that was removed.
  func writable() throws -> Self {
    guard !isRemoved else { throw NSError.removedStore(self) }
    guard !isReadOnly else {
      throw NSError.coreData(
        NSPersistentStoreSaveError,
        "The store is read-only\(opensReadOnly ? " (NSReadOnlyPersistentStoreOption)" : ""); changes "
          + "can't be saved to it.",
        [NSAffectedStoresErrorKey: [self]])
    }
    return self
  }
}
