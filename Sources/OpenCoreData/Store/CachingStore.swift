import ManagedModel
import ProfileEvents
import Synchronization

/// The row cache of a store, which the coordinator's contexts share.
///
/// The superclass of all stores, without public members. Each context uses it on its own queue.
/// `withShared` guards the shared state. The subclass stores the rows: see `StoreBackend`.
open class CachingStore: NSPersistentStore, @unchecked Sendable {
  final let layouts: StoreLayouts
  /// Whether rows are read individually, and the store is notified of the objects that contexts
  /// have registered: `NSIncrementalStore`.
  final let isIncremental: Bool
  /// The store's index in its coordinator, from 0; reusable after the store is removed.
  final var storeIndex: Int { layouts.storeIndex }
  private final let shared: Mutex<SharedRows>
  #if CHECKED_ROWS
    /// The thread sanitizer supports Foundation's locks but not `Mutex`: it would report races
    /// inside.
    private let visibleLock = NSLock()
  #endif
  private final let commits = Atomic<UInt64>(1)
  private final let removed = Atomic<Bool>(false)
  private final let moving = Atomic<Bool>(false)

  /// The rows and keys that the coordinator's contexts share.
  struct SharedRows: ~Copyable {
    var rows: RowCache
    var toMany = ToManyCache()
    /// The query generations, the newest last.
    var generations: [WeakGeneration] = []

    /// Returns the `Z_OPT` of a cached row; `nil` if there's none.
    func rowVersion(rootIndex: Int, key: Int64) -> Int64? {
      rows.peek(rootIndex: rootIndex, key: key) { $0.version }
    }
  }

  init(
    layouts: StoreLayouts, type: String, url: URL?, identifier: String, configuration: String?,
    isReadOnly: Bool, options: [AnyHashable: Any]?, metadata: [String: Any],
    references: ObjectReferences? = nil, handle: StoreHandle? = nil, isIncremental: Bool = false
  ) {
    self.layouts = layouts
    self.isIncremental = isIncremental
    shared = Mutex(SharedRows(rows: RowCache(rootCount: layouts.rootCount)))
    super.init(
      type: type, url: url, identifier: identifier, configuration: configuration,
      isReadOnly: isReadOnly, options: options, metadata: metadata, references: references,
      handle: handle)
  }

  /// Whether the store was removed from its coordinator.
  final var isRemoved: Bool { removed.load(ordering: .relaxed) }

  /// Marks the store as removed from its coordinator.
  final func markRemoved() {
    removed.store(true, ordering: .relaxed)
    persistentStoreCoordinator = nil
  }

  /// Whether a copy of the store is to replace it, which wouldn't have what is saved now.
  final var isMoving: Bool {
    get { moving.load(ordering: .acquiring) }
    set { moving.store(newValue, ordering: .releasing) }
  }

  /// Sets `isMoving`, once a save that is being written is complete.
  func beginMoving() throws { withoutSaves { isMoving = true } }

  /// Runs a body while no save is written, once one that is being written is complete.
  ///
  /// A SQLite store, whose writer isn't recursive, waits in `beginMoving()` and `close()` instead.
  func withoutSaves<R>(_ body: () throws -> R) rethrows -> R { try body() }

  /// Checks that the store can be changed.
  ///
  /// - Throws: 134070 if a copy of the store is to replace it.
  final func checkIsNotMoving() throws {
    guard isMoving else { return }
    throw NSError.store(
      "The store \(url?.path ?? "in memory") is being migrated to another file or type. Save again "
        + "once its copy is open.")
  }

  /// Returns the error by which the store reported that it doesn't have an object; `nil` if it only
  /// returned no row.
  func missingObjectError(_ objectID: NSManagedObjectID) -> NSError? { nil }

  // MARK: What contexts share

  /// The number of commits made through this store; a snapshot taken at a lower number is older.
  final var commitNumber: UInt64 {
    commits.load(ordering: .acquiring)
  }

  /// Counts a commit and returns its number.
  final func countCommit() -> UInt64 {
    commits.add(1, ordering: .acquiringAndReleasing).newValue
  }

  /// Uses the shared rows and keys under the store's lock.
  ///
  /// The body must not run statements or call custom code of objects.
  final func withShared<R>(_ body: (inout SharedRows) throws -> R) rethrows -> R {
    #if CHECKED_ROWS
      visibleLock.lock()
      defer { visibleLock.unlock() }
    #endif
    // Only retained rows and values leave the lock, which the compiler can't verify.
    nonisolated(unsafe) let body = body
    return try shared.withLock { shared in
      nonisolated(unsafe) let result = try body(&shared)
      return result
    }
  }

  /// Adds an owner to each key.
  final func addOwner(rootIndex: Int, keys: some Sequence<Int64>) {
    withShared { shared in
      shared.rows.reserve(rootIndex: rootIndex, keys.underestimatedCount)
      for key in keys { shared.rows.addOwner(rootIndex: rootIndex, key: key) }
    }
    if isIncremental { didRegister(rootIndex: rootIndex, keys: Array(keys)) }
  }

  /// Removes an owner from each key; rows without an owner are removed from the row cache.
  final func removeOwner(rootIndex: Int, keys: some Sequence<Int64>) {
    removeSpareOwner(rootIndex: rootIndex, keys: keys)
    if isIncremental { didUnregister(rootIndex: rootIndex, keys: Array(keys)) }
  }

  /// Called after contexts have registered objects of an incremental store.
  func didRegister(rootIndex: Int, keys: [Int64]) {}

  /// Called after contexts have deregistered objects of an incremental store.
  func didUnregister(rootIndex: Int, keys: [Int64]) {}

  /// Removes an owner from each key, as `removeOwner` does, but no object is deregistered: the
  /// owner isn't one, or stays registered.
  final func removeSpareOwner(rootIndex: Int, keys: some Sequence<Int64>) {
    let generations = withShared { shared in
      let generations = shared.generations.isEmpty ? [] : shared.retainedGenerations
      for key in keys {
        shared.rows.removeOwner(rootIndex: rootIndex, key: key)
        if !shared.rows.hasEntry(rootIndex: rootIndex, key: key) {
          shared.toMany.forget(rootIndex: rootIndex, key: key)
          for generation in generations { generation.rows.forget(rootIndex: rootIndex, key: key) }
        }
      }
      return generations
    }
    withExtendedLifetime(generations) {}
  }

  /// Returns a reference to an object for events.
  final func reference(_ layout: EntityLayout, _ primaryKey: Int64) -> ObjectReference {
    ObjectReference(handle.entity(layout), primaryKey: primaryKey)
  }
}

// Adds what was read to the row cache, with the keys of to-many destinations.

extension CachingStore {
  /// Adds a row that was read to the row cache and returns the one to use, retained.
  final func install(_ fetched: FetchedRow, commit: UInt64) -> Row {
    let timestamp = Date.timeIntervalSinceReferenceDate
    return withShared {
      $0.rows.install(
        fetched.row, rootIndex: fetched.layout.rootIndex, key: fetched.primaryKey, commit: commit,
        timestamp: timestamp)
    }
  }

  /// Adds fetched rows of one root entity to the row cache under one lock.
  ///
  /// If `owning` is true for a row, an owner is added first; rows without an owner aren't cached.
  /// - Returns: The rows to use, each retained for the caller.
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
            ? shared.rows.addOwner(
              fetched.row, rootIndex: rootIndex, key: fetched.primaryKey, commit: commit,
              timestamp: timestamp)
            : shared.rows.install(
              fetched.row, rootIndex: rootIndex, key: fetched.primaryKey, commit: commit,
              timestamp: timestamp))
      }
      return current
    }
  }

  /// Returns the distinct destination keys of a to-one in the cached rows of the sources, in order;
  /// or in a generation's rows if given.
  final func destinationKeys(
    of name: String, from sources: [FetchedIdentity], generation: StoreGeneration? = nil
  ) -> ContiguousArray<Int64> {
    withShared { shared in
      var seen: Set<Int64> = []
      var keys: ContiguousArray<Int64> = []
      for source in sources {
        guard case .slot(let index)? = source.layout.position(of: name),
          let row = shared.row(
            rootIndex: source.layout.rootIndex, key: source.primaryKey, of: generation),
          row.layoutIndex == source.layout.index
        else { continue }
        let slot = source.layout.slots[index]
        guard !row.isNull(slot) else { continue }
        let key = row.int64(slot)
        if seen.insert(key).inserted { keys.append(key) }
      }
      return keys
    }
  }

  /// Caches the destinations of each owner, including owners that have none.
  final func remember(
    _ links: [Int64: [FetchedIdentity]], of relationship: String, owners: [FetchedIdentity],
    commit: UInt64
  ) {
    let timestamp = Date.timeIntervalSinceReferenceDate
    withShared { shared in
      // A save since then may have changed any of them: it updates cached keys under this lock,
      // after it has counted its commit.
      guard commitNumber == commit else { return }
      for owner in owners {
        let key = ToManyCache.Key(
          rootIndex: owner.layout.rootIndex, primaryKey: owner.primaryKey,
          relationship: relationship)
        let version = shared.rowVersion(rootIndex: key.rootIndex, key: key.primaryKey)
        let entry = ToManyCache.Entry(
          destinations: LinkedRows(links[owner.primaryKey] ?? []), commit: commit, version: version,
          timestamp: timestamp)
        shared.toMany.install(entry, for: key)
      }
    }
  }

  /// Caches the destinations of one owner, as `remember` for several does.
  final func remember(_ found: [FetchedIdentity], for key: ToManyCache.Key, commit: UInt64) {
    let timestamp = Date.timeIntervalSinceReferenceDate
    withShared { shared in
      guard commitNumber == commit,
        shared.rows.hasEntry(rootIndex: key.rootIndex, key: key.primaryKey)
      else { return }
      let version = shared.rowVersion(rootIndex: key.rootIndex, key: key.primaryKey)
      shared.toMany.install(
        ToManyCache.Entry(
          destinations: LinkedRows(found), commit: commit, version: version, timestamp: timestamp),
        for: key)
    }
  }

  /// Clears the entries of rows that were changed elsewhere, and discards every to-many: any of
  /// them may have changed.
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

  /// Returns whether a key has an owner and its row hasn't been read.
  final func isUnread(rootIndex: Int, key: Int64) -> Bool {
    withShared { shared in
      shared.rows.hasEntry(rootIndex: rootIndex, key: key)
        && shared.rows.peek(rootIndex: rootIndex, key: key) { _ in true } == nil
    }
  }
}
