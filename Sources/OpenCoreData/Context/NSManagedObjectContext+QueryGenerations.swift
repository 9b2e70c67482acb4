import ManagedModel

extension NSManagedObjectContext {
  /// The state of the store that this context reads from; nil when it reads whatever is newest.
  ///
  /// After pinning to `.current` it is that token until the first read. A child reads what its parent
  /// reads and has none.
  public final var queryGenerationToken: NSQueryGenerationToken? {
    reads.pin
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
    reads.pin(to: token)
  }

  /// Moves a pinned context to the newest state at its next read.
  final func advanceGeneration() {
    reads.advance()
  }

  /// The row that a pinned context has at hand, with a count for the caller.
  final func pinnedRow(of object: NSManagedObject, in store: RowStore) throws -> Row? {
    guard let generation = try reads.generation(of: store, in: requiredCoordinator) else {
      return nil
    }
    return store.withShared { shared in
      let row = shared.row(
        rootIndex: object.layout.rootIndex, key: object.primaryKey, of: generation)
      guard let row, row.layoutIndex == object.layout.index else { return nil }
      row.retain()
      return row
    }
  }
}
