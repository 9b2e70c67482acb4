/// Rows that a fetch loaded ahead; they stay in the row cache until the last object of that fetch is
/// released or refaulted.
final class PrefetchedRows {
  private let store: RowStore
  private let paths: Set<String>
  /// What an earlier fetch loaded along other paths for the same object.
  private let earlier: [PrefetchedRows]
  private var keys: [Int: [Int64]] = [:]

  init(store: RowStore, paths: Set<String>, earlier: [PrefetchedRows] = []) {
    self.store = store
    self.paths = paths
    self.earlier = earlier
  }

  /// Notes rows whose owners have been added already.
  func add(_ primaryKeys: some Sequence<Int64>, rootIndex: Int) {
    keys[rootIndex, default: []].append(contentsOf: primaryKeys)
  }

  /// What an object holds after a later fetch: the later rows, and these unless the later fetch
  /// loaded the same paths.
  func joined(with later: PrefetchedRows) -> PrefetchedRows {
    if paths.isSubset(of: later.paths) { return later }
    let kept = earlier.isEmpty ? [self] : earlier.filter { !$0.paths.isSubset(of: later.paths) }
    return PrefetchedRows(
      store: store, paths: kept.reduce(into: later.paths) { $0.formUnion($1.paths) },
      earlier: kept + [later])
  }

  deinit {
    for (rootIndex, keys) in keys { store.disown(rootIndex: rootIndex, keys: keys) }
  }
}
