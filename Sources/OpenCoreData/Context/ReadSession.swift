import ManagedModel

/// What a context reads its stores through: the open read transaction, and the query generation
/// that the context is pinned to.
///
/// The reads of a `perform` block share a read transaction, so that they see one snapshot. Used on
/// the context's queue.
struct ReadSession {
  /// The reader of the store that was read last.
  private var current: (any StoreReader)?
  /// The readers of the other stores, whose read transactions are open too.
  private var others: [any StoreReader] = []
  /// How many reads enclose the current call; they share a snapshot.
  private var depth = 0
  /// The query generation that the context is pinned to; `nil` if it reads the current state.
  private(set) var pin: NSQueryGenerationToken?
  /// The store whose row cache the context reads directly, known from the first fault on.
  ///
  /// `nil` for a child, while the context is pinned, and once objects of several stores may be
  /// registered.
  private(set) var direct: RowStore?
  /// The coordinator's first store; looked up when it's first needed.
  private var first: RowStore?
  /// How many stores' objects the registry has room for.
  private(set) var storeCount = 1

  /// Begins a read of a store, in the read transaction that is open unless a save has made it
  /// stale.
  ///
  /// Call `finish(_:isInBlock:)` with the reader once. **Cost:** with a new read transaction, a
  /// connection from the pool and BEGIN.
  mutating func begin(
    _ store: RowStore, for context: NSManagedObjectContext
  ) throws -> any StoreReader {
    let reader = try reader(for: store, context)
    depth += 1
    return reader
  }

  /// Finishes a read.
  ///
  /// - Parameter isInBlock: Whether a `perform` block is running, whose end ends the read
  ///   transaction.
  mutating func finish(_ reader: any StoreReader, isInBlock: Bool) {
    depth -= 1
    guard depth == 0 else { return }
    if reader !== current, !others.contains(where: { $0 === reader }) { reader.end() }
    if !isInBlock { end() }
  }

  /// Ends the read transaction and returns its connection to the pool.
  ///
  /// A read that is running keeps its snapshot until it finishes.
  mutating func end() {
    if depth == 0 {
      current?.end()
      for reader in others { reader.end() }
    }
    current = nil
    if !others.isEmpty { others = [] }
  }

  private mutating func reader(
    for store: RowStore, _ context: NSManagedObjectContext
  ) throws -> any StoreReader {
    if let current, current.store === store, depth > 0 || current.isFresh { return current }
    if storeCount > 1 || store.storeIndex > 0 {
      if let current { others.append(current) }
      current = nil
      if let index = others.firstIndex(where: { $0.store === store }) {
        let found = others.remove(at: index)
        if depth > 0 || found.isFresh {
          current = found
          return found
        }
        found.end()
      }
    } else {
      end()
    }
    let reader = try open(store, for: context)
    current = reader
    return reader
  }

  private mutating func open(
    _ store: RowStore, for context: NSManagedObjectContext
  ) throws -> any StoreReader {
    guard let generation = try generation(of: store, in: context.requiredCoordinator) else {
      return try store.beginReading(for: context)
    }
    return GenerationReader(generation)
  }

  /// Pins all reads to a query generation; `nil` to read the current state.
  mutating func pin(to token: NSQueryGenerationToken?) {
    end()
    pin = token
    direct = nil
  }

  /// Moves a pinned context to the current state at its next read.
  mutating func advance() {
    guard pin != nil else { return }
    end()
    pin = .current
  }

  /// Returns the generation that the context is pinned to, created at its first read; `nil` if it
  /// isn't pinned.
  ///
  /// **Cost:** a new one takes a connection, and waits for a save that's writing.
  mutating func generation(
    of store: RowStore, in coordinator: NSPersistentStoreCoordinator
  ) throws -> StoreGeneration? {
    guard let pin else { return nil }
    let known = pin.generations
    if let generation = known.first(where: { $0.store === store }) { return generation }
    // Pins all stores together, so that none is read in a newer state than another; a store that
    // was added later is pinned now.
    let stores = known.isEmpty ? coordinator.rowStores : [store]
    let generations = try known + stores.map { try $0.currentGeneration() }
    self.pin = NSQueryGenerationToken(generations)
    return generations.first { $0.store === store }
  }

  /// Makes faults read a store's row cache directly, if the context reads one store in its current
  /// state.
  mutating func readDirectly(_ store: RowStore) {
    if pin == nil, storeCount == 1 { direct = store }
  }

  /// Records the number of stores whose objects can be registered.
  mutating func expect(storeCount: Int) {
    self.storeCount = storeCount
    direct = nil
  }

  /// Returns the coordinator's first store, looked up again after it was removed.
  ///
  /// The coordinator isn't retained for a known store: stores refer to it weakly, which makes its
  /// reference count slow.
  mutating func firstStore(
    of coordinator: @autoclosure () -> NSPersistentStoreCoordinator?
  ) -> RowStore? {
    if let first, !first.isRemoved { return first }
    direct = nil
    first = coordinator()?.store(at: 0) ?? first
    return first
  }
}

extension NSManagedObjectContext {
  /// Reads a store; nested reads in the body share its snapshot.
  ///
  /// Outside of a `perform` block, the read transaction ends with the outermost read.
  /// - Throws: Any error, as an `NSError`.
  @discardableResult
  final func read<R>(_ store: RowStore, _ body: (any StoreReader) throws -> R) throws -> R {
    do {
      makeRoom(for: store.storeIndex)
      let reader = try reads.begin(store, for: self)
      defer { reads.finish(reader, isInBlock: blocks.isRunning) }
      return try body(reader)
    } catch {
      throw NSError.from(error, store: store)
    }
  }

  /// Ends the read transaction that the reads of a `perform` block share.
  final func endReadTransaction() {
    reads.end()
  }
}

extension NSManagedObjectContext {
  /// The query generation that this context reads from; `nil` if it isn't pinned.
  ///
  /// After pinning to `.current`, it's that token until the first read. A child has none: it reads
  /// what its parent reads.
  public final var queryGenerationToken: NSQueryGenerationToken? {
    reads.pin
  }

  /// Pins this context to a query generation: the newest at the next read (`.current`), or that of
  /// another context's token; `nil` or `.unpinned` unpins it.
  ///
  /// Changes saved by others aren't visible until the context merges them, saves, is reset, or
  /// refreshes all objects; each of these advances it to the newest generation, as does a conflict
  /// that a policy other than `NSMergePolicy.error` resolves during a save. The store's WAL grows
  /// as long as a generation is retained. Call it on the context's queue. **Cost:** none; a
  /// new generation costs a connection at the next read, which waits for a save that is writing.
  /// - Throws: An error if the context has a parent, the token belongs to another store, or a store
  ///   is incremental: it has no query generations.
  public final func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
    guard parent == nil else {
      throw NSError.coreData(
        NSCoreDataError,
        "A child context reads from its parent. Pin the root context instead.")
    }
    let token = generation === NSQueryGenerationToken.unpinned ? nil : generation
    let stores = coordinator?.rowStores ?? []
    if token != nil, let store = stores.first(where: \.isIncremental) {
      throw NSError.coreData(
        NSPersistentStoreUnsupportedRequestTypeError,
        "The store of the type '\(store.type)' has no query generations: leave the context unpinned."
      )
    }
    if token?.generations.contains(where: { state in !stores.contains { $0 === state.store } })
      == true
    {
      throw NSError.coreData(
        NSCoreDataError, "The query generation belongs to another store than this context's.")
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
