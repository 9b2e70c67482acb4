import ManagedModel

/// A state of a store, kept for the contexts that are pinned to it: a query generation.
///
/// An open snapshot, and the rows of that state that the row cache has since lost. Older entries of
/// the row cache are used too. Released with the last token.
final class StoreGeneration: @unchecked Sendable {
  // `reader` is used under `lock`, `rows` under the store's
  let store: CachingStore
  /// A number between commits: lower commits are in the snapshot, higher ones aren't.
  let commit: UInt64
  /// Whether older rows of the row cache may be used.
  let sharesCache: Bool
  /// The `data_version` of the store's writing connection before the snapshot; `nil` if no other
  /// coordinator can commit, or the connection can't tell.
  let dataVersion: Int64?
  /// Rows that the row cache has lost, or never had; under the store's lock.
  @exclusivity(unchecked) var rows = PinnedRows()
  private let reader: any StoreReader
  private let lock = NSLock()

  init(
    store: CachingStore, commit: UInt64, reader: any StoreReader, sharesCache: Bool,
    dataVersion: Int64? = nil
  ) {
    self.store = store
    self.dataVersion = dataVersion
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

/// Reads a query generation for one context.
///
/// Other contexts may read the same generation at the same time: each call waits for its turn.
final class GenerationReader: StoreReader {
  private let pinned: StoreGeneration

  init(_ generation: StoreGeneration) {
    pinned = generation
  }

  var store: CachingStore { pinned.store }
  var commit: UInt64 { pinned.commit - 1 }
  var generation: StoreGeneration? { pinned }
  var isFresh: Bool { true }

  func end() {}

  func rows(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedRow] {
    try pinned.read { try $0.rows(plan, in: scope) }
  }

  func identities(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedIdentity] {
    try pinned.read { try $0.identities(plan, in: scope) }
  }

  func dictionaries(
    _ plan: FetchPlan, _ dictionary: DictionaryPlan, in scope: ProfileScope
  ) throws -> [[String: Any]] {
    try pinned.read { try $0.dictionaries(plan, dictionary, in: scope) }
  }

  func count(_ plan: FetchPlan, in scope: ProfileScope) throws -> Int {
    try pinned.read { try $0.count(plan, in: scope) }
  }

  func row(_ layout: EntityLayout, _ key: Int64, in scope: ProfileScope) throws -> FetchedRow? {
    try pinned.read { try $0.row(layout, key, in: scope) }
  }

  func rows(
    _ keys: ContiguousArray<Int64>, of layout: EntityLayout, batchSize: Int?, in scope: ProfileScope
  ) throws -> [FetchedRow] {
    try pinned.read { try $0.rows(keys, of: layout, batchSize: batchSize, in: scope) }
  }

  func destinations(
    of relationship: NSRelationshipDescription, _ owner: FetchedIdentity, in scope: ProfileScope
  ) throws -> [FetchedIdentity] {
    try pinned.read { try $0.destinations(of: relationship, owner, in: scope) }
  }

  func linkedRows(
    of relationship: NSRelationshipDescription, _ owners: [FetchedIdentity],
    in scope: ProfileScope, links: inout [Int64: [FetchedIdentity]]
  ) throws -> [FetchedRow] {
    try pinned.read {
      try $0.linkedRows(of: relationship, owners, in: scope, links: &links)
    }
  }
}

/// Rows and to-many keys of one query generation that the row cache doesn't have.
struct PinnedRows {
  /// Each retained once.
  private(set) var rows: [RowKey: Row] = [:]
  private(set) var links: [RowKey: [String: [FetchedIdentity]]] = [:]

  /// Returns the row of a key, not retained.
  func row(rootIndex: Int, key: Int64) -> Row? {
    rows[RowKey(rootIndex: rootIndex, primaryKey: key)]
  }

  /// Returns the destinations of a to-many; `nil` if they aren't known.
  func destinations(_ key: ToManyKey) -> [FetchedIdentity]? {
    links[RowKey(rootIndex: key.rootIndex, primaryKey: key.primaryKey)]?[key.relationship]
  }

  /// Adds a row and retains it, unless there is one.
  mutating func keep(_ row: Row, rootIndex: Int, key: Int64) {
    let key = RowKey(rootIndex: rootIndex, primaryKey: key)
    guard rows[key] == nil else { return }
    row.retain()
    rows[key] = row
  }

  /// Retains a row that was read from the snapshot, instead of one that was cached before.
  mutating func replace(by row: Row, rootIndex: Int, key: Int64) {
    row.retain()
    rows.updateValue(row, forKey: RowKey(rootIndex: rootIndex, primaryKey: key))?.release()
  }

  mutating func keep(_ destinations: [FetchedIdentity], for key: ToManyKey) {
    links[RowKey(rootIndex: key.rootIndex, primaryKey: key.primaryKey), default: [:]][
      key.relationship] = destinations
  }

  /// Discards the row and the to-many keys of an object without owners.
  mutating func forget(rootIndex: Int, key: Int64) {
    let key = RowKey(rootIndex: rootIndex, primaryKey: key)
    rows.removeValue(forKey: key)?.release()
    links[key] = nil
  }

  mutating func removeAll() {
    for row in rows.values { row.release() }
    rows = [:]
    links = [:]
  }
}

/// Identifies a state of the stores that contexts can continue to read while others save.
///
/// The state, and with it the store's WAL, is kept as long as one of its tokens lives. Each of
/// several stores has its own state, created by the first read after pinning. Any thread may use
/// it. Apple counterpart: `NSQueryGenerationToken`; the book's chapter 11.
public final class NSQueryGenerationToken: NSObject, @unchecked Sendable {
  // immutable
  /// A state of each store; empty for the two tokens without a particular state.
  let generations: [StoreGeneration]

  /// The newest state at the time of the next read.
  public static let current = NSQueryGenerationToken([])
  /// The newest state at the time of each read.
  public static let unpinned = NSQueryGenerationToken([])

  init(_ generations: [StoreGeneration]) {
    self.generations = generations
  }

  /// Returns whether both identify the same state.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSQueryGenerationToken else { return false }
    if self === other { return true }
    return !generations.isEmpty && generations.count == other.generations.count
      && zip(generations, other.generations).allSatisfy { $0 === $1 }
  }

  /// A hash consistent with `isEqual`.
  public override var hash: Int {
    generations.first.map { ObjectIdentifier($0).hashValue } ?? ObjectIdentifier(self).hashValue
  }
}

extension NSQueryGenerationToken: NSCopying {
  /// Returns itself: a token is immutable.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}

extension CachingStore {

  /// Adds rows of a generation to the row cache if it has nothing newer, and otherwise to the
  /// generation's own rows.
  ///
  /// The cached rows may differ from the snapshot: another coordinator or process, or a batch
  /// request, may have changed them before it, or after it.
  /// - Returns: The rows themselves, or cached rows that are equal, each retained for the caller.
  final func install(
    _ rows: [FetchedRow], owning: [Bool], for generation: StoreGeneration
  ) -> [Row] {
    let timestamp = Date.timeIntervalSinceReferenceDate
    return withShared { shared in
      zip(rows, owning).map { fetched, owning in
        let (rootIndex, key) = (fetched.layout.rootIndex, fetched.primaryKey)
        if owning { shared.rows.addOwner(rootIndex: rootIndex, key: key) }
        if let known = shared.row(rootIndex: rootIndex, key: key, of: generation) {
          if known.isEqual(to: fetched.row) {
            known.retain()
            fetched.row.release()
            return known
          }
          // Its relationships may have changed, too.
          shared.toMany.forget(rootIndex: rootIndex, key: key)
        }
        if generation.sharesCache,
          shared.isNewest(rootIndex: rootIndex, key: key, generation, lastCommit: commitNumber)
        {
          return shared.rows.install(
            fetched.row, rootIndex: rootIndex, key: key, commit: generation.commit - 1,
            timestamp: timestamp)
        }
        if shared.rows.hasEntry(rootIndex: rootIndex, key: key) {
          generation.rows.replace(by: fetched.row, rootIndex: rootIndex, key: key)
        }
        return fetched.row
      }
    }
  }
}

extension CachingStore {
  /// Caches the destinations of a to-many in a generation, as long as its object has an owner.
  final func remember(
    _ found: [FetchedIdentity], for key: ToManyKey, of generation: StoreGeneration
  ) {
    withShared { shared in
      guard shared.rows.hasEntry(rootIndex: key.rootIndex, key: key.primaryKey) else { return }
      generation.rows.keep(found, for: key)
    }
  }
}

/// A weak reference to a generation.
struct WeakGeneration {
  weak var generation: StoreGeneration?
}

extension CachingStore.SharedRows {
  /// Returns the row of a key in a generation, or in the newest state, not retained; `nil` if it
  /// must be read.
  func row(rootIndex: Int, key: Int64, of generation: StoreGeneration?) -> Row? {
    guard let generation else { return rows.peek(rootIndex: rootIndex, key: key) { $0 } }
    if let row = generation.rows.row(rootIndex: rootIndex, key: key) { return row }
    guard generation.sharesCache else { return nil }
    return rows.row(rootIndex: rootIndex, key: key, before: generation.commit)
  }

  /// Returns whether a generation's row of a key is at least as new as anything known: the cached
  /// row is older, or there's none and nothing was saved since.
  func isNewest(
    rootIndex: Int, key: Int64, _ generation: StoreGeneration, lastCommit: UInt64
  ) -> Bool {
    if rows.row(rootIndex: rootIndex, key: key, before: generation.commit) != nil { return true }
    return lastCommit == generation.commit
      && rows.peek(rootIndex: rootIndex, key: key) { _ in true } == nil
  }

  /// Returns the destinations of a to-many in a generation; `nil` if they must be read.
  func destinations(_ key: ToManyKey, of generation: StoreGeneration) -> [FetchedIdentity]? {
    if let known = generation.rows.destinations(key) { return known }
    guard generation.sharesCache else { return nil }
    return toMany.destinations(key, before: generation.commit)
  }

  /// The query generations that a token still retains.
  ///
  /// The caller keeps them until the lock is released: the last release of one ends a read
  /// transaction.
  var retainedGenerations: [StoreGeneration] { generations.compactMap(\.generation) }

  /// Preserves a row that is about to be replaced or removed for the generations that still need
  /// it.
  func preserve(rootIndex: Int, key: Int64, for generations: [StoreGeneration]) {
    for generation in generations where generation.sharesCache {
      if let row = rows.row(rootIndex: rootIndex, key: key, before: generation.commit) {
        generation.rows.keep(row, rootIndex: rootIndex, key: key)
      }
    }
  }
}

extension Row {
  /// Returns whether another row has the same version and the same bytes.
  fileprivate func isEqual(to other: Row) -> Bool {
    if base == other.base { return true }
    return version == other.version && size == other.size && layoutIndex == other.layoutIndex
      && memcmp(base + Row.headerSize, other.base + Row.headerSize, size - Row.headerSize) == 0
  }
}
