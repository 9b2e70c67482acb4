import ManagedModel
import ProfileEvents
import Synchronization

/// A store of rows, with the row cache that the coordinator's contexts share.
///
/// Any context of its coordinator uses it, each on its own queue. What is shared is behind `withShared`.
/// `SQLiteStore` and `MemoryStore` say where the rows are.
class RowStore: NSPersistentStore, @unchecked Sendable {
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

  // MARK: Where the rows are

  /// Begins to read: everything that comes from one reader is of one snapshot.
  func beginReading() throws -> any StoreReader {
    preconditionFailure("\(Swift.type(of: self)) does not say how it is read")
  }

  /// Makes a query generation of the present state, while no save is writing.
  func openGeneration() throws -> StoreGeneration {
    preconditionFailure("\(Swift.type(of: self)) does not say how a state of it is kept")
  }

  /// Reserves primary keys for new objects and gives them to the objects.
  func reserveKeys(for objects: [NSManagedObject], in scope: ProfileScope) throws {
    preconditionFailure("\(Swift.type(of: self)) does not say how keys are reserved")
  }

  /// Writes a save, all of it or nothing, and brings the row cache up to date.
  ///
  /// Each row is written only if it still has the version that its object was read at.
  /// - Parameter beforeCommit: What has to succeed before this store keeps anything: what the other
  ///   stores of the save write.
  /// - Throws: `SaveConflicts` when a row has another version, `ConstraintViolations` when a stored row
  ///   has values that must be unique; nothing is written then.
  /// - Returns: The new row of each written object, with a count for the caller.
  func write(
    _ plan: SavePlan, in scope: ProfileScope, beforeCommit: () throws -> Void = {}
  ) throws -> [Row] {
    preconditionFailure("\(Swift.type(of: self)) does not say how it is written")
  }

  /// The bytes of a value that is kept in a file beside the store.
  func externalData(_ file: ExternalFile) throws -> Data {
    preconditionFailure("\(Swift.type(of: self)) keeps no files beside it")
  }

  /// Writes metadata that was set and not saved yet.
  func saveMetadata() throws {
    hasUnsavedMetadata = false
  }

  /// Whether the store was taken away from its coordinator.
  final var isRemoved: Bool { removed.load(ordering: .relaxed) }

  /// Lets go of the file; reading fails from now on.
  func close() {
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
