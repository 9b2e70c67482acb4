import ManagedModel
import ProfileEvents
import SQLiteDriver
import Synchronization

/// The SELECT of an asynchronous fetch: read on one thread, then taken over on the context's queue.
final class BackgroundFetch: @unchecked Sendable {
  // `rows` and `scope` are handed on, by one queue to the next; the rest is behind locks
  let plan: FetchPlan
  let store: RowStore
  /// Counts and tells for the context, whose own scope belongs to its queue.
  private let scope: ProfileScope
  /// Stops the SELECT while it runs.
  private let stop = Mutex<(@Sendable () -> Void)?>(nil)
  private let isStopped = Mutex(false)
  private var rows: [FetchedRow] = []

  /// That the rows were read, and by what, which has ended.
  struct Reading: @unchecked Sendable {  // handed on from the thread that read to the queue
    let reader: any StoreReader
  }

  init(plan: FetchPlan, store: RowStore, scope context: ProfileScope) {
    self.plan = plan
    self.store = store
    scope = ProfileScope(hub: context.hub)
    scope.contextName = context.contextName
    scope.callSite = context.callSite
  }

  deinit {
    for fetched in rows { fetched.row.release() }
  }

  /// What the work has cost; read after it has ended.
  var counters: Counters { scope.counters }

  /// Reads the rows, on the calling thread.
  func run() throws -> Reading {
    if isStopped.withLock({ $0 }) { throw CocoaError(.userCancelled) }
    let found = try store.beginReading()
    // Interrupting is what another thread may do with a connection.
    let connection = (found as? SQLiteReader)?.connection
    stop.withLock { $0 = { connection?.interrupt() } }
    defer {
      stop.withLock { $0 = nil }
      found.end()
    }
    let event = scope.begin(.fetch)
    do {
      rows = try found.rows(plan, in: scope)
      scope.counters.fetches += 1
      scope.end(event) { event in
        event.entity = plan.entityName
        event.rows = rows.count
      }
      return Reading(reader: found)
    } catch {
      scope.abandon(event)
      throw error
    }
  }

  /// Gives the rows away, with their counts.
  func takeRows() -> [FetchedRow] {
    defer { rows = [] }
    return rows
  }

  /// Stops the SELECT if it is running, and keeps it from beginning.
  func interrupt() {
    isStopped.withLock { $0 = true }
    stop.withLock { $0?() }
  }
}
