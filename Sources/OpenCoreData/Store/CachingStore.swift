import ManagedModel
import ProfileEvents
import Synchronization

/// The row cache of a store, which the coordinator's contexts share.
///
/// Any context of its coordinator uses it, each on its own queue. `withShared` guards what is shared.
/// Where the rows are stored is the subclass's part: see `StoreBackend`.
class CachingStore: NSPersistentStore, @unchecked Sendable {
  final let layouts: StoreLayouts
  /// Which of its coordinator's stores it is, from 0; a place is free again once its store is removed.
  final var place: Int { layouts.place }
  private final let shared: Mutex<SharedRows>
  #if CHECKED_ROWS
    /// The thread sanitizer knows Foundation's locks and not `Mutex`: it would see races inside.
    private let visibleLock = NSLock()
  #endif
  private final let commits = Atomic<UInt64>(1)
  private final let removed = Atomic<Bool>(false)

  /// The rows and keys that the coordinator's contexts share.
  struct SharedRows: ~Copyable {
    var rows: RowCache
    var toMany = ToManyCache()
    /// The query generations, the newest last.
    var generations: [WeakGeneration] = []

    /// `Z_OPT` of a cached row; nil when there is none.
    func rowVersion(rootIndex: Int, key: Int64) -> Int64? {
      rows.peek(rootIndex: rootIndex, key: key) { $0.version }
    }
  }

  init(
    layouts: StoreLayouts, type: String, url: URL?, identifier: String, configuration: String?,
    isReadOnly: Bool, options: [AnyHashable: Any]?, metadata: [String: Any]
  ) {
    self.layouts = layouts
    shared = Mutex(SharedRows(rows: RowCache(rootCount: layouts.rootCount)))
    super.init(
      type: type, url: url, identifier: identifier, configuration: configuration,
      isReadOnly: isReadOnly, options: options, metadata: metadata)
  }

  /// Whether the store was removed from its coordinator.
  final var isRemoved: Bool { removed.load(ordering: .relaxed) }

  /// Marks the store as removed from its coordinator.
  final func markRemoved() {
    removed.store(true, ordering: .relaxed)
    persistentStoreCoordinator = nil
  }

  // MARK: What contexts share

  /// Counts the commits made through this store; a snapshot taken at a lower number is older.
  final var commitNumber: UInt64 {
    commits.load(ordering: .acquiring)
  }

  /// Counts a commit and gives its number.
  final func countCommit() -> UInt64 {
    commits.add(1, ordering: .acquiringAndReleasing).newValue
  }

  /// Uses the shared rows and keys under the store's lock.
  ///
  /// The body runs no statement and calls no object's own code.
  final func withShared<R>(_ body: (inout SharedRows) throws -> R) rethrows -> R {
    #if CHECKED_ROWS
      visibleLock.lock()
      defer { visibleLock.unlock() }
    #endif
    // What leaves the lock are counted rows and values; the compiler cannot see that they are.
    nonisolated(unsafe) let body = body
    return try shared.withLock { shared in
      nonisolated(unsafe) let result = try body(&shared)
      return result
    }
  }

  /// Adds an owner to each key.
  final func own(rootIndex: Int, keys: some Sequence<Int64>) {
    withShared { shared in
      shared.rows.reserve(rootIndex: rootIndex, keys.underestimatedCount)
      for key in keys { shared.rows.own(rootIndex: rootIndex, key: key) }
    }
  }

  /// Takes an owner from each key; rows without one leave the row cache.
  final func disown(rootIndex: Int, keys: some Sequence<Int64>) {
    withShared { shared in
      for key in keys {
        shared.rows.disown(rootIndex: rootIndex, key: key)
        if !shared.rows.hasEntry(rootIndex: rootIndex, key: key) {
          shared.toMany.forget(rootIndex: rootIndex, key: key)
          if !shared.generations.isEmpty { shared.dropPinned(rootIndex: rootIndex, key: key) }
        }
      }
    }
  }

  /// Names an object for events.
  final func reference(_ layout: EntityLayout, _ primaryKey: Int64) -> ObjectReference {
    ObjectReference(
      store: identifier, entity: layout.entity.name ?? "", primaryKey: primaryKey)
  }
}

// What was read goes into the row cache, and the keys of to-many destinations beside it.

extension CachingStore {
  /// Puts a row that was read into the row cache and returns the one to use, with a count.
  final func install(_ fetched: FetchedRow, commit: UInt64) -> Row {
    let timestamp = Date.timeIntervalSinceReferenceDate
    return withShared {
      $0.rows.install(
        fetched.row, rootIndex: fetched.layout.rootIndex, key: fetched.primaryKey, commit: commit,
        timestamp: timestamp)
    }
  }

  /// Puts fetched rows of one root entity into the row cache under one lock.
  ///
  /// Where `owning` says so, an owner is added first, without which a row is not kept.
  /// - Returns: The rows to use, each with a count for the caller.
  final func install(_ rows: [FetchedRow], owning: [Bool], commit: UInt64) -> [Row] {
    guard let rootIndex = rows.first?.layout.rootIndex else { return [] }
    let timestamp = Date.timeIntervalSinceReferenceDate
    return withShared { shared in
      var current: [Row] = []
      current.reserveCapacity(rows.count)
      shared.rows.reserve(rootIndex: rootIndex, rows.count)
      for (index, fetched) in rows.enumerated() {
        current.append(
          owning[index]
            ? shared.rows.own(
              fetched.row, rootIndex: rootIndex, key: fetched.primaryKey, commit: commit,
              timestamp: timestamp)
            : shared.rows.install(
              fetched.row, rootIndex: rootIndex, key: fetched.primaryKey, commit: commit,
              timestamp: timestamp))
      }
      return current
    }
  }

  /// The distinct keys that a to-one leads to, as the cached rows of the sources say, in the order
  /// of the sources; of a generation's rows when one is named.
  final func destinationKeys(
    of name: String, from sources: [FetchedIdentity], generation: StoreGeneration? = nil
  ) -> ContiguousArray<Int64> {
    withShared { shared in
      var seen: Set<Int64> = []
      var keys: ContiguousArray<Int64> = []
      for source in sources {
        guard case .slot(let index)? = source.layout.place(of: name),
          let row = shared.row(
            rootIndex: source.layout.rootIndex, key: source.primaryKey, of: generation)
        else { continue }
        let slot = source.layout.slots[index]
        guard !row.isNull(slot) else { continue }
        let key = row.int64(slot)
        if seen.insert(key).inserted { keys.append(key) }
      }
      return keys
    }
  }

  /// Keeps the destinations of each owner beside the rows; owners without any are known to have none.
  final func remember(
    _ links: [Int64: [FetchedIdentity]], of relationship: String, owners: [FetchedIdentity],
    commit: UInt64
  ) {
    let timestamp = Date.timeIntervalSinceReferenceDate
    withShared { shared in
      // A save since then may have changed any of them: it edits what is known under this lock,
      // after it has counted its commit.
      guard commitNumber == commit else { return }
      for owner in owners {
        let key = ToManyCache.Key(
          rootIndex: owner.layout.rootIndex, primaryKey: owner.primaryKey,
          relationship: relationship)
        let version = shared.rowVersion(rootIndex: key.rootIndex, key: key.primaryKey)
        let entry = ToManyCache.Entry(
          destinations: links[owner.primaryKey] ?? [], commit: commit, version: version,
          timestamp: timestamp)
        shared.toMany.install(entry, for: key)
      }
    }
  }

  /// Keeps the destinations of one owner beside the rows, as `remember` of several does.
  final func remember(_ found: [FetchedIdentity], for key: ToManyCache.Key, commit: UInt64) {
    let timestamp = Date.timeIntervalSinceReferenceDate
    withShared { shared in
      guard commitNumber == commit,
        shared.rows.hasEntry(rootIndex: key.rootIndex, key: key.primaryKey)
      else { return }
      let version = shared.rowVersion(rootIndex: key.rootIndex, key: key.primaryKey)
      shared.toMany.install(
        ToManyCache.Entry(
          destinations: found, commit: commit, version: version, timestamp: timestamp), for: key)
    }
  }

  /// Empties the entries of rows that somebody else has written, and drops every to-many: any of them
  /// may have changed.
  final func forget(_ changes: MergedChanges) {
    let commit = countCommit()
    withShared { shared in
      for identity in changes.all {
        shared.rows.forget(
          rootIndex: identity.layout.rootIndex, key: identity.primaryKey, commit: commit)
      }
      shared.toMany.removeAll()
    }
  }

  /// Whether a key is owned and its row has not been read.
  final func isUnread(rootIndex: Int, key: Int64) -> Bool {
    withShared { shared in
      shared.rows.hasEntry(rootIndex: rootIndex, key: key)
        && shared.rows.peek(rootIndex: rootIndex, key: key) { _ in true } == nil
    }
  }
}
