import ManagedModel
import ProfileEvents
import SQLiteDriver

/// A reading connection on loan to one context, with a read transaction open.
///
/// A lookup inside a transaction costs a fifth of one that opens and closes its own, so the faults of a
/// block share one. It ends when a commit has made its snapshot old, at fetch, save and refresh, at the
/// end of the block, and after 50 ms, so that it never holds up a checkpoint for long. Neither an event
/// nor a transaction in the counts.
final class ReadBurst {
  let store: SQLiteStore
  let connection: Connection
  /// The store's commit number when the snapshot was taken, or a lower one.
  let commit: UInt64
  private let begun: UInt64
  private var isOpen = true

  private static let longest: UInt64 = 50_000_000

  /// Leases a connection and begins a read transaction.
  init(store: SQLiteStore) throws {
    self.store = store
    // Somebody else may have written to a store that is looked at: what was read is old then.
    if store.isReadOnly, try store.pool.refreshLooking() { _ = store.countCommit() }
    commit = store.commitNumber
    begun = MonotonicClock.now()
    connection = try store.pool.lease()
    do {
      try connection.execute("BEGIN")
    } catch {
      store.pool.giveBack(connection)
      throw error
    }
  }

  /// Whether another statement may read from the same snapshot.
  var isFresh: Bool {
    store.commitNumber == commit
      && MonotonicClock.now() &- begun < ReadBurst.longest
  }

  /// Gives the snapshot up and the connection back; a second call does nothing.
  func end() {
    guard isOpen else { return }
    isOpen = false
    // A read transaction has nothing to lose: if COMMIT fails the connection is still given back.
    try? connection.execute("COMMIT")
    store.pool.giveBack(connection)
  }

  deinit {
    end()
  }
}
