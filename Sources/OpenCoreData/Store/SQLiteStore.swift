import ManagedModel
import ProfileEvents
import SQLiteDriver
import Synchronization

/// A store in a SQLite file of Apple's format: connections, row cache, mapping.
///
/// Any context of its coordinator uses it, each on its own queue. What is shared is behind `shared`.
final class SQLiteStore: NSPersistentStore, @unchecked Sendable {
  let pool: ConnectionPool
  let mapping: SQLModel
  let layouts: StoreLayouts
  let translator: SQLTranslator
  let statements: WriteStatements
  private let shared: Mutex<SharedRows>
  #if CHECKED_ROWS
    /// The thread sanitizer knows Foundation's locks and not `Mutex`: it would see races inside.
    private let visibleLock = NSLock()
  #endif
  private let commits = Atomic<UInt64>(1)

  /// The rows and keys that the coordinator's contexts share.
  struct SharedRows: ~Copyable {
    var rows: RowCache
    var toMany = ToManyCache()

    /// `Z_OPT` of a cached row; nil when there is none.
    func rowVersion(rootIndex: Int, key: Int64) -> Int64? {
      rows.peek(rootIndex: rootIndex, key: key) { $0.version }
    }
  }

  init(
    pool: ConnectionPool, mapping: SQLModel, url: URL, identifier: String, isReadOnly: Bool,
    options: [AnyHashable: Any]?, metadata: [String: Any]
  ) {
    self.pool = pool
    self.mapping = mapping
    self.layouts = StoreLayouts(mapping)
    self.translator = SQLTranslator(model: mapping, objectKey: ObjectKey.init(of:))
    self.statements = WriteStatements(translator: translator)
    self.shared = Mutex(SharedRows(rows: RowCache(rootCount: layouts.rootCount)))
    super.init(
      type: NSSQLiteStoreType, url: url, identifier: identifier, isReadOnly: isReadOnly,
      options: options, metadata: metadata)
  }

  deinit {
    pool.close()
  }

  /// Counts the commits made through this store; a snapshot taken at a lower number is older.
  var commitNumber: UInt64 {
    commits.load(ordering: .acquiring)
  }

  /// Counts a commit and gives its number.
  func countCommit() -> UInt64 {
    commits.add(1, ordering: .acquiringAndReleasing).newValue
  }

  /// Uses the shared rows and keys under the store's lock.
  ///
  /// The body runs no statement and calls no object's own code.
  func withShared<R>(_ body: (inout SharedRows) throws -> R) rethrows -> R {
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

  /// The table mapping of a layout's entity.
  func entity(_ layout: EntityLayout) -> SQLEntity {
    layouts.entity(layout)
  }

  /// Adds an owner to each key.
  func own(rootIndex: Int, keys: some Sequence<Int64>) {
    withShared { shared in
      shared.rows.reserve(rootIndex: rootIndex, keys.underestimatedCount)
      for key in keys { shared.rows.own(rootIndex: rootIndex, key: key) }
    }
  }

  /// Takes an owner from each key; rows without one leave the row cache.
  func disown(rootIndex: Int, keys: some Sequence<Int64>) {
    withShared { shared in
      for key in keys {
        shared.rows.disown(rootIndex: rootIndex, key: key)
        if !shared.rows.hasEntry(rootIndex: rootIndex, key: key) {
          shared.toMany.forget(rootIndex: rootIndex, key: key)
        }
      }
    }
  }

  /// Entries of the row cache that hold a row, for tests and statistics.
  var cachedRowCount: Int {
    withShared { $0.rows.rowCount }
  }

  /// A place in the file that names an object for events.
  func reference(_ layout: EntityLayout, _ primaryKey: Int64) -> ObjectReference {
    ObjectReference(
      store: identifier, entity: layout.entity.name ?? "", primaryKey: primaryKey)
  }
}
