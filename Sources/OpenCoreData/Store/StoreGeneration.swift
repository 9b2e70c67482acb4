import ManagedModel

/// One state of a store, kept for the contexts that are pinned to it: a query generation.
///
/// A snapshot that stays open, and the rows of then that the row cache has lost since. The row cache
/// serves as well what it has from before. Goes with the last token.
final class StoreGeneration: @unchecked Sendable {
  // `reader` is used under `lock`, `rows` under the store's
  let store: RowStore
  /// The number of a commit that never was: commits below are in the snapshot, those above are not.
  let commit: UInt64
  /// Whether rows of the row cache from before may be used.
  let sharesCache: Bool
  /// What the row cache has lost, or never had; under the store's lock.
  @exclusivity(unchecked) var rows = PinnedRows()
  private let reader: any StoreReader
  private let lock = NSLock()

  init(store: RowStore, commit: UInt64, reader: any StoreReader, sharesCache: Bool) {
    self.store = store
    self.commit = commit
    self.reader = reader
    self.sharesCache = sharesCache
  }

  deinit {
    reader.end()
    rows.removeAll()
  }

  /// Reads from the snapshot, one context at a time.
  func read<R>(_ body: (any StoreReader) throws -> R) rethrows -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(reader)
  }
}
