import ManagedModel

/// The part of a store that reads and writes its rows.
///
/// `SQLiteStore` stores them in a database, `MemoryStore` in memory and, for an XML or binary store,
/// in a document.
protocol StoreBackend: AnyObject {
  /// Begins a read: everything that one reader returns is of one snapshot.
  func beginReading() throws -> any StoreReader

  /// Creates a query generation of the current state, while no save is writing.
  func openGeneration() throws -> StoreGeneration

  /// Reserves primary keys for new objects and assigns them to the objects.
  func reserveKeys(for objects: [NSManagedObject], in scope: ProfileScope) throws

  /// Writes a save, all of it or nothing, and updates the row cache.
  ///
  /// Each row is written only if it still has the version that its object was read with.
  /// - Parameter beforeCommit: The work that must succeed before this store commits: the writes of
  ///   the save's other stores.
  /// - Throws: `SaveConflicts` if a row has another version, `ConstraintViolations` if a stored row
  ///   has the same constrained values; nothing is written then.
  /// - Returns: The new row of each written object, retained for the caller.
  func write(
    _ plan: SavePlan, in scope: ProfileScope, beforeCommit: () throws -> Void
  ) throws -> [Row]

  /// Returns the bytes of an externally stored value.
  func externalData(_ file: ExternalFile) throws -> Data

  /// Writes metadata that was set and isn't saved yet.
  func saveMetadata() throws

  /// Marks the store as removed and closes its file; reading fails from now on.
  func close()
}

/// A store of rows: the shared row cache and its backend.
typealias RowStore = any CachingStore & StoreBackend

extension StoreBackend where Self: CachingStore {
  /// Returns the query generation of the current state: the last one if nothing was saved since, or a new
  /// one.
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

  /// Returns the store, if it can be written.
  ///
  /// - Throws: 134030 if it's read-only, 134070 if it was removed.
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
