import ManagedModel

extension NSManagedObjectContext {
  /// The query generation that this context reads from; nil if it isn't pinned.
  ///
  /// After pinning to `.current`, it's that token until the first read. A child has none: it reads
  /// what its parent reads.
  public final var queryGenerationToken: NSQueryGenerationToken? {
    reads.pin
  }

  /// Pins this context to a query generation: the newest at the next read (`.current`), or that of
  /// another context's token; nil or `.unpinned` unpins it.
  ///
  /// Changes saved by others aren't visible until the context merges them, saves, is reset, or
  /// refreshes all objects; each of these advances it to the newest generation. The store's WAL grows
  /// as long as a generation is retained. Call it on the context's queue.
  /// Cost: none; a new generation costs a connection at the next read, which waits for a save that is
  /// writing.
  /// - Throws: An error if the context has a parent, or the token belongs to another store.
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

  /// Advances a pinned context to the newest generation at its next read.
  final func advanceGeneration() {
    reads.advance()
  }

  /// Returns the row that a pinned context has cached, retained for the caller.
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
