import ManagedModel

/// Takes the place of a store that was removed and released, for the objects that contexts still
/// have.
///
/// It has the store's handle, so their IDs stay the same. Reading it and saving to it throw the
/// errors of a removed store.
final class RemovedStore: CachingStore, StoreBackend, @unchecked Sendable {
  /// Creates a store in the place of another one.
  init(_ former: FormerStore) {
    super.init(
      layouts: former.layouts, type: "", url: former.url, identifier: former.handle.identifier,
      configuration: former.configuration, isReadOnly: false, options: nil, metadata: [:],
      handle: former.handle)
    markRemoved()
  }

  func beginReading() throws -> any StoreReader { throw NSError.removedStore(self) }

  func openGeneration() throws -> StoreGeneration { throw NSError.removedStore(self) }

  func reserveKeys(for objects: [NSManagedObject], in scope: ProfileScope) throws {
    throw NSError.removedStore(self)
  }

  func write(
    _ plan: SavePlan, in scope: ProfileScope, beforeCommit: () throws -> Void
  ) throws -> [Row] {
    throw NSError.removedStore(self)
  }

  func externalData(_ file: ExternalFile) throws -> Data { throw NSError.removedStore(self) }

  func saveMetadata() throws { throw NSError.removedStore(self) }

  func close() {}
}

/// What a coordinator keeps of a store that was removed: its index and its identifier.
///
/// The store itself is released when nothing uses it: its row cache, its mapping, and what a
/// program's own store has.
struct FormerStore {
  private weak var store: RowStore?
  let handle: StoreHandle
  let layouts: StoreLayouts
  let url: URL?
  let configuration: String?

  init(_ store: RowStore) {
    self.store = store
    handle = store.handle
    layouts = store.layouts
    url = store.url
    configuration = store.configuration
  }

  var identifier: String { handle.identifier }

  /// Returns the store if something still uses it, or else one in its place.
  ///
  /// **Cost:** an empty row cache, if it was released.
  func found() -> RowStore { store ?? RemovedStore(self) }
}
