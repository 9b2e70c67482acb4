/// Rows that a fetch loaded ahead; they stay in the row cache until the last object of that fetch is
/// released or refaulted.
final class PrefetchedRows {
  private let store: SQLiteStore
  private var keys: [Int: [Int64]] = [:]

  init(store: SQLiteStore) {
    self.store = store
  }

  /// Notes rows whose owners have been added already.
  func add(_ primaryKeys: some Sequence<Int64>, rootIndex: Int) {
    keys[rootIndex, default: []].append(contentsOf: primaryKeys)
  }

  deinit {
    for (rootIndex, keys) in keys { store.disown(rootIndex: rootIndex, keys: keys) }
  }
}
