import ManagedModel

/// What a context reads from a store: everything in one snapshot of it.
///
/// `SQLiteReader` runs statements in a read transaction, `MemoryReader` looks at a copy of the tables.
/// One context uses it, on its queue. Whatever goes wrong is an error of the store's own kind; the
/// context makes an `NSError` of it.
protocol StoreReader: AnyObject {
  /// The store that is read.
  var store: CachingStore { get }
  /// The store's commit number when the snapshot was taken, or a lower one.
  var commit: UInt64 { get }
  /// The query generation that is read; nil for the newest state.
  var generation: StoreGeneration? { get }
  /// Whether another read may use the same snapshot.
  var isFresh: Bool { get }
  /// Gives the snapshot up; a second call does nothing.
  func end()

  /// The rows that a fetch asks for, in its order; the caller owns one count of each.
  func rows(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedRow]
  /// The entities and keys of the rows that a fetch asks for, in its order.
  func identities(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedIdentity]
  /// The dictionaries that a fetch asks for, in its order.
  func dictionaries(
    _ plan: FetchPlan, _ dictionary: DictionaryPlan, in scope: ProfileScope
  ) throws -> [[String: Any]]
  /// The number of rows that a fetch asks for, or of dictionaries.
  func count(_ plan: FetchPlan, in scope: ProfileScope) throws -> Int

  /// One row by its key, of whatever entity of the hierarchy it is; nil when it does not exist.
  func row(_ layout: EntityLayout, _ key: Int64, in scope: ProfileScope) throws -> FetchedRow?
  /// The rows of that entity and its subentities with these keys, in the order of the keys' values.
  ///
  /// - Parameter pageSize: The batch size when the keys are a page of a fetch, nil for a prefetch.
  func rows(
    _ keys: ContiguousArray<Int64>, of layout: EntityLayout, pageSize: Int?, in scope: ProfileScope
  ) throws -> [FetchedRow]

  /// What one to-many of one object leads to; an ordered one in its order.
  func destinations(
    of relationship: NSRelationshipDescription, _ owner: FetchedIdentity, in scope: ProfileScope
  ) throws -> [FetchedIdentity]
  /// What one to-many of several objects leads to: `links` by the owner's key, and the rows.
  func linkedRows(
    of relationship: NSRelationshipDescription, _ owners: [FetchedIdentity],
    in scope: ProfileScope, links: inout [Int64: [FetchedIdentity]]
  ) throws -> [FetchedRow]
}

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
