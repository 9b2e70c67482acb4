import ManagedModel

// What was read goes where the contexts that read the same state find it: into the row cache, or
// beside it for a query generation that the row cache has left behind.

extension StoreReader {
  /// Keeps rows, with a new owner where `owning` says so; gives the rows to use, each with a count.
  func install(_ rows: [FetchedRow], owning: [Bool]) -> [Row] {
    guard let generation else { return store.install(rows, owning: owning, commit: commit) }
    return store.install(rows, owning: owning, for: generation)
  }

  /// Keeps one row that has its owners; gives the row to use, with a count.
  func install(_ fetched: FetchedRow) -> Row {
    guard let generation else { return store.install(fetched, commit: commit) }
    return store.install([fetched], owning: [false], for: generation)[0]
  }

  /// Keeps rows for a new owner each.
  func cache(_ rows: [FetchedRow]) {
    for row in install(rows, owning: [Bool](repeating: true, count: rows.count)) { row.release() }
  }

  /// Keeps where a to-many of each owner leads.
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

  /// Keeps where a to-many of one owner leads.
  func remember(_ found: [FetchedIdentity], for key: ToManyKey) {
    guard let generation else { return store.remember(found, for: key, commit: commit) }
    store.remember(found, for: key, of: generation)
  }

  /// The distinct keys that a to-one of the sources leads to.
  func destinationKeys(
    of name: String, from sources: [FetchedIdentity]
  ) -> ContiguousArray<Int64> {
    store.destinationKeys(of: name, from: sources, generation: generation)
  }
}
