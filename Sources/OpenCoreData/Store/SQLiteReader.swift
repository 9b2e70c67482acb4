import ManagedModel
import ProfileEvents
import SQLiteDriver

/// A reading connection on loan to one context, with a read transaction open: a burst of reads.
///
/// A lookup inside a transaction costs a fifth of one that opens and closes its own, so the faults of a
/// block share one. It ends when a commit has made its snapshot old, at fetch, save and refresh, at the
/// end of the block, and after 50 ms, so that it never holds up a checkpoint for long. Neither an event
/// nor a transaction in the counts.
final class SQLiteReader: StoreReader {
  let sqlite: SQLiteStore
  let connection: Connection
  let commit: UInt64
  let faultPlans: FaultPlans
  private let begun: UInt64
  /// Whether the reads share a read transaction.
  ///
  /// Not in memory: there, an open read transaction would block every save.
  private let isTransaction: Bool
  /// Whether the connection is this reader's own, and not the pool's.
  private let isPrivate: Bool
  private var isOpen = true

  private static let longest: UInt64 = 50_000_000

  var store: RowStore { sqlite }
  var generation: StoreGeneration? { nil }

  /// Leases a connection and begins a read transaction.
  init(store: SQLiteStore) throws {
    sqlite = store
    // Somebody else may have written to a store that is looked at: what was read is old then.
    if store.opensReadOnly, try store.pool.refreshLooking() { _ = store.countCommit() }
    commit = store.commitNumber
    begun = MonotonicClock.now()
    isPrivate = false
    isTransaction = !store.pool.isInMemory
    connection = try store.pool.lease()
    do {
      if isTransaction { try connection.execute("BEGIN") }
    } catch {
      store.pool.giveBack(connection)
      throw error
    }
    faultPlans = store.leaseFaultPlans()
  }

  /// Reads a copy of the store that doesn't change.
  ///
  /// - Parameter copy: Is closed at the end.
  init(store: SQLiteStore, copy: Connection) {
    sqlite = store
    commit = store.commitNumber
    begun = MonotonicClock.now()
    connection = copy
    isTransaction = false
    isPrivate = true
    faultPlans = store.leaseFaultPlans()
  }

  var isFresh: Bool {
    sqlite.commitNumber == commit && !sqlite.pool.isWriter(connection)
      && MonotonicClock.now() &- begun < SQLiteReader.longest
  }

  func end() {
    guard isOpen else { return }
    isOpen = false
    sqlite.giveBack(faultPlans)
    // A read transaction has nothing to lose: if COMMIT fails the connection is still given back.
    if isTransaction { try? connection.execute("COMMIT") }
    if isPrivate { connection.close() } else { sqlite.pool.giveBack(connection) }
  }

  deinit {
    end()
  }
}
