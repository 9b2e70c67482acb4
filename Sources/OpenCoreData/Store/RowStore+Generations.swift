import ManagedModel

extension RowStore {
  /// The generation of the present state: the last one when nothing was saved since, or a new one.
  final func currentGeneration() throws -> StoreGeneration {
    let last = withShared { $0.generations.last?.generation }
    if let last, last.commit == commitNumber { return last }
    let generation = try openGeneration()
    withShared { shared in
      shared.generations.removeAll { $0.generation == nil }
      shared.generations.append(WeakGeneration(generation: generation))
    }
    return generation
  }

  /// Puts rows of a generation where its contexts find them: into the row cache where that has
  /// nothing newer, else beside it.
  ///
  /// - Returns: The rows themselves, each with a count for the caller.
  final func install(
    _ rows: [FetchedRow], owning: [Bool], for generation: StoreGeneration
  ) -> [Row] {
    let timestamp = Date.timeIntervalSinceReferenceDate
    return withShared { shared in
      zip(rows, owning).map { fetched, owning in
        let (rootIndex, key) = (fetched.layout.rootIndex, fetched.primaryKey)
        if owning { shared.rows.own(rootIndex: rootIndex, key: key) }
        if let known = shared.row(rootIndex: rootIndex, key: key, of: generation) {
          known.retain()
          fetched.row.release()
          return known
        }
        // Nothing was saved since: the row is the newest that is known.
        if generation.sharesCache, commitNumber == generation.commit {
          return shared.rows.install(
            fetched.row, rootIndex: rootIndex, key: key, commit: generation.commit - 1,
            timestamp: timestamp)
        }
        if shared.rows.hasEntry(rootIndex: rootIndex, key: key) {
          generation.rows.keep(fetched.row, rootIndex: rootIndex, key: key)
        }
        return fetched.row
      }
    }
  }
}

extension RowStore {
  /// Keeps where a to-many leads in a generation, as long as somebody owns its object.
  final func remember(
    _ found: [FetchedIdentity], for key: ToManyKey, of generation: StoreGeneration
  ) {
    withShared { shared in
      guard shared.rows.hasEntry(rootIndex: key.rootIndex, key: key.primaryKey) else { return }
      generation.rows.keep(found, for: key)
    }
  }
}

/// A generation that is not held.
struct WeakGeneration {
  weak var generation: StoreGeneration?
}

extension RowStore.SharedRows {
  /// The row of a key in a generation, or in the newest state, without a count; nil when it has to be
  /// read.
  func row(rootIndex: Int, key: Int64, of generation: StoreGeneration?) -> Row? {
    guard let generation else { return rows.peek(rootIndex: rootIndex, key: key) { $0 } }
    if let row = generation.rows.row(rootIndex: rootIndex, key: key) { return row }
    guard generation.sharesCache else { return nil }
    return rows.row(rootIndex: rootIndex, key: key, before: generation.commit)
  }

  /// The destinations of a to-many in a generation; nil when they have to be read.
  func destinations(_ key: ToManyKey, of generation: StoreGeneration) -> [FetchedIdentity]? {
    if let known = generation.rows.destinations(key) { return known }
    guard generation.sharesCache else { return nil }
    return toMany.destinations(key, before: generation.commit)
  }

  /// Keeps a row that is about to be replaced or forgotten for the generations that still need it.
  func preserve(rootIndex: Int, key: Int64) {
    for generation in generations.lazy.compactMap(\.generation) where generation.sharesCache {
      if let row = rows.row(rootIndex: rootIndex, key: key, before: generation.commit) {
        generation.rows.keep(row, rootIndex: rootIndex, key: key)
      }
    }
  }

  /// Drops what generations have of a key that nobody owns any more.
  func dropPinned(rootIndex: Int, key: Int64) {
    for generation in generations.lazy.compactMap(\.generation) {
      generation.rows.forget(rootIndex: rootIndex, key: key)
    }
  }
}
