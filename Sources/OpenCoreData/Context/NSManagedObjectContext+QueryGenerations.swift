import ManagedModel

extension NSManagedObjectContext {
  /// The state of the store that this context reads from; nil when it reads whatever is newest.
  ///
  /// After pinning to `.current` it is that token until the first read. A child reads what its parent
  /// reads and has none.
  public final var queryGenerationToken: NSQueryGenerationToken? {
    pinnedToken
  }

  /// Pins this context to a state of the store: the newest at the next read (`.current`), or the one
  /// that a token of another context names; nil or `.unpinned` lets it go.
  ///
  /// What others save is not seen until the context merges it, saves, or is reset or told to refresh
  /// all its objects, which all move it to the newest state. The log of the store grows as long as a
  /// state is kept. On the context's queue.
  /// Cost: none; a new state costs a connection at the next read, which waits for a save that is
  /// writing.
  /// - Throws: when the context has a parent, or the token is of another store.
  public final func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
    guard parent == nil else {
      throw NSError.coreData(
        NSCoreDataError,
        "A child reads what its parent reads: pin the context below the coordinator.")
    }
    let token = generation === NSQueryGenerationToken.unpinned ? nil : generation
    let stores = coordinator?.rowStores ?? []
    if token?.generations.contains(where: { state in !stores.contains { $0 === state.store } })
      == true
    {
      throw NSError.coreData(
        NSCoreDataError, "The query generation is of another store than this context's.")
    }
    endBurst()
    pinnedToken = token
    directStore = nil
  }

  /// Moves a pinned context to the newest state at its next read.
  final func advanceGeneration() {
    guard pinnedToken != nil else { return }
    endBurst()
    pinnedToken = .current
  }

  /// A reader of the store, or of the generation that this context is pinned to.
  final func beginReading(_ store: RowStore) throws -> any StoreReader {
    guard let generation = try generation(of: store) else { return try store.beginReading() }
    return GenerationReader(generation)
  }

  /// The generation this context is pinned to, made at its first read; nil when it is not pinned.
  final func generation(of store: RowStore) throws -> StoreGeneration? {
    guard let pinnedToken else { return nil }
    let known = pinnedToken.generations
    if let generation = known.first(where: { $0.store === store }) { return generation }
    // All stores at once, so that what is read of one is not newer than what is read of another; one
    // that was added since is pinned now.
    let stores = known.isEmpty ? requiredCoordinator.rowStores : [store]
    let generations = try known + stores.map { try $0.currentGeneration() }
    self.pinnedToken = NSQueryGenerationToken(generations)
    return generations.first { $0.store === store }
  }

  /// The row that a pinned context has at hand, with a count for the caller.
  final func pinnedRow(of object: NSManagedObject, in store: RowStore) throws -> Row? {
    guard let generation = try generation(of: store) else { return nil }
    return store.withShared { shared in
      let row = shared.row(
        rootIndex: object.layout.rootIndex, key: object.primaryKey, of: generation)
      guard let row, row.layoutIndex == object.layout.index else { return nil }
      row.retain()
      return row
    }
  }
}
