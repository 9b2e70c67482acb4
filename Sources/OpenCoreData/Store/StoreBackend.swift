import ManagedModel

/// The part of a store that reads and writes its rows.
///
/// `SQLiteStore` stores them in a database, `MemoryStore` in memory and, for an XML or binary
/// store, in a document. `NSAtomicStore` and `NSIncrementalStore` leave it to a subclass of the
/// program.
protocol StoreBackend: AnyObject {
  /// Begins a read: everything that one reader returns is of one snapshot.
  func beginReading() throws -> any StoreReader

  /// Begins a read for a context.
  func beginReading(for context: NSManagedObjectContext) throws -> any StoreReader

  /// Creates a query generation of the current state, while no save is writing.
  func openGeneration() throws -> StoreGeneration

  /// Returns whether nothing was committed since a generation was created: neither through this
  /// store, nor by another coordinator or process.
  func isNewest(_ generation: StoreGeneration) throws -> Bool

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

extension StoreBackend {
  /// Begins a read that doesn't depend on the context.
  func beginReading(for context: NSManagedObjectContext) throws -> any StoreReader {
    try beginReading()
  }
}

/// A store of rows: the shared row cache and its backend.
typealias RowStore = any CachingStore & StoreBackend

extension StoreBackend where Self: CachingStore {
  /// Returns whether nothing was committed since a generation was created, which only this store
  /// can do.
  func isNewest(_ generation: StoreGeneration) throws -> Bool { generation.commit == commitNumber }

  /// Returns the query generation of the current state: the last one if nothing was saved since,
  /// here or by another coordinator or process, or a new one.
  func currentGeneration() throws -> StoreGeneration {
    let last = withShared { $0.generations.last?.generation }
    if let last, try isNewest(last) { return last }
    let generation = try openGeneration()
    let retained = withShared { shared in
      let retained = shared.retainedGenerations
      shared.generations = (retained + [generation]).map { WeakGeneration(generation: $0) }
      return retained
    }
    withExtendedLifetime(retained) {}
    return generation
  }

  /// Returns the store, if it can be written.
  ///
  /// - Throws: 134030 if it's read-only, 134070 if it was removed or is being migrated.
  func writable() throws -> Self {
    guard !isRemoved else { throw NSError.removedStore(self) }
    try checkIsNotMoving()
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

/// Reads from a store for a context, everything in one snapshot.
///
/// `SQLiteReader` runs statements in a read transaction, `MemoryReader` reads a copy of the tables.
/// Used by one context, on its queue. Errors are of the store's own type; the context converts them
/// to an `NSError`.
protocol StoreReader: AnyObject {
  /// The store that is read.
  var store: CachingStore { get }
  /// The store's commit number when the snapshot was taken, or a lower one.
  var commit: UInt64 { get }
  /// The query generation that is read; `nil` for the newest state.
  var generation: StoreGeneration? { get }
  /// Whether another read may use the same snapshot.
  var isFresh: Bool { get }
  /// Releases the snapshot; a second call does nothing.
  func end()

  /// Returns the rows that match a fetch, in its order; each is retained for the caller.
  func rows(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedRow]
  /// Returns the entities and keys of the rows that match a fetch, in its order.
  func identities(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedIdentity]
  /// Returns the dictionaries of a fetch, in its order.
  func dictionaries(
    _ plan: FetchPlan, _ dictionary: DictionaryPlan, in scope: ProfileScope
  ) throws -> [[String: Any]]
  /// Returns the number of rows that match a fetch, or of its dictionaries.
  func count(_ plan: FetchPlan, in scope: ProfileScope) throws -> Int

  /// Returns a row by its key, of any entity of the hierarchy; `nil` if it doesn't exist.
  func row(_ layout: EntityLayout, _ key: Int64, in scope: ProfileScope) throws -> FetchedRow?
  /// Returns the rows of an entity and its subentities with the given keys, in the order of the
  /// keys' values.
  ///
  /// - Parameter batchSize: The batch size if the keys are a batch of a fetch; `nil` for a
  ///   prefetch.
  func rows(
    _ keys: ContiguousArray<Int64>, of layout: EntityLayout, batchSize: Int?, in scope: ProfileScope
  ) throws -> [FetchedRow]

  /// Returns the destinations of one object's to-many, in order if it's ordered.
  func destinations(
    of relationship: NSRelationshipDescription, _ owner: FetchedIdentity, in scope: ProfileScope
  ) throws -> [FetchedIdentity]
  /// Returns the destinations of several objects' to-many: `links` by the owner's key, and the
  /// rows.
  func linkedRows(
    of relationship: NSRelationshipDescription, _ owners: [FetchedIdentity],
    in scope: ProfileScope, links: inout [Int64: [FetchedIdentity]]
  ) throws -> [FetchedRow]
}

// Caches what was read for the contexts that read the same state: in the row cache, or with the
// query generation if the row cache is newer.

extension StoreReader {
  /// Caches rows, with a new owner if `owning` is true; returns the rows to use, each retained.
  func install(_ rows: [FetchedRow], owning: [Bool]) -> [Row] {
    guard let generation else { return store.install(rows, owning: owning, commit: commit) }
    return store.install(rows, owning: owning, for: generation)
  }

  /// Caches a row that has owners; returns the row to use, retained.
  func install(_ fetched: FetchedRow) -> Row {
    guard let generation else { return store.install(fetched, commit: commit) }
    return store.install([fetched], owning: [false], for: generation)[0]
  }

  /// Caches rows with a new owner each.
  func cache(_ rows: [FetchedRow]) {
    for row in install(rows, owning: [Bool](repeating: true, count: rows.count)) { row.release() }
  }

  /// Caches the destinations of each owner's to-many.
  func remember(
    _ links: [Int64: [FetchedIdentity]], of relationship: String, owners: [FetchedIdentity]
  ) {
    guard let generation else {
      return store.remember(links, of: relationship, owners: owners, commit: commit)
    }
    for owner in owners {
      let key = ToManyKey(
        rootIndex: owner.layout.rootIndex, primaryKey: owner.primaryKey,
        relationship: relationship)
      store.remember(links[owner.primaryKey] ?? [], for: key, of: generation)
    }
  }

  /// Caches the destinations of one owner's to-many.
  func remember(_ found: [FetchedIdentity], for key: ToManyKey) {
    guard let generation else { return store.remember(found, for: key, commit: commit) }
    store.remember(found, for: key, of: generation)
  }

  /// Returns the distinct destination keys of a to-one of the sources.
  func destinationKeys(
    of name: String, from sources: [FetchedIdentity]
  ) -> ContiguousArray<Int64> {
    store.destinationKeys(of: name, from: sources, generation: generation)
  }
}
