public import OpenCoreData
import ProfileEvents
import Synchronization

/// The costs of a block of code, as counts of the metric catalog.
///
/// Use the counts in tests, such as `#expect(costs.selects == 2)`. They're exact and reproducible.
public struct Costs: Sendable, Equatable {
  /// The number of executed fetch requests.
  public let fetches: Int
  /// The number of saves that wrote changes.
  public let saves: Int
  /// The number of passes of validation and `willSave` in all saves.
  ///
  /// A save takes one pass if no `willSave` sets a property, and two if `willSave` sets properties
  /// once. More passes mean that `willSave` sets properties again in each pass; compare the old and
  /// the new value before setting a property.
  public let savePasses: Int
  /// The number of SELECTs that read rows of entities.
  public let selects: Int
  /// The number of INSERTs, one per row.
  public let inserts: Int
  /// The number of UPDATEs, one per row.
  public let updates: Int
  /// The number of DELETEs, one per row.
  public let deletes: Int
  /// The number of committed write transactions.
  public let transactions: Int
  /// The number of rows that the SELECTs returned.
  public let rows: Int
  /// The number of object and relationship faults that fired, regardless of how they were
  /// fulfilled.
  public let faults: Int
  /// The number of faults that were fulfilled from the row cache.
  public let hits: Int
  /// The number of faults that were fulfilled from the store.
  public let misses: Int
  /// The number of prefetched relationships, one for each relationship of a prefetched key path.
  public let prefetches: Int
  /// The number of exchanges of a program's own store with its server; 0 for other stores.
  ///
  /// A store that doesn't report them has one for each call to it.
  public let roundTrips: Int

  /// The total number of SELECTs, INSERTs, UPDATEs, and DELETEs.
  public var statements: Int { selects + inserts + updates + deletes }

  init(_ counters: Counters) {
    fetches = counters.fetches
    saves = counters.saves
    savePasses = counters.savePasses
    selects = counters.selects
    inserts = counters.inserts
    updates = counters.updates
    deletes = counters.deletes
    transactions = counters.transactions
    rows = counters.rows
    faults = counters.faults
    hits = counters.hits
    misses = counters.misses
    prefetches = counters.prefetches
    roundTrips = counters.roundTrips
  }
}

/// Runs a block on a context's queue and returns the block's costs in that context.
///
/// The work of other contexts isn't counted. Counting runs no statements.
///
/// - Parameters:
///   - context: The context whose work to count.
///   - block: The block, which runs synchronously on the context's queue.
/// - Returns: The costs of the block.
/// - Throws: The error that the block throws.
public func costs(
  of context: NSManagedObjectContext, _ block: () throws -> Void
) rethrows -> Costs {
  try context.performAndWait {
    let before = context.counters
    try block()
    return Costs(context.counters - before)
  }
}

/// Runs a block and returns the costs of all contexts of a container while it runs.
///
/// The work of contexts that are created in the block and work on other threads is counted, too;
/// wait for such work before the block returns. Counting emits events but runs no statements.
///
/// - Parameters:
///   - container: The container whose contexts to count.
///   - block: The block to run.
/// - Returns: The costs while the block ran.
/// - Throws: The error that the block throws.
public func costs(
  of container: NSPersistentContainer, _ block: () throws -> Void
) rethrows -> Costs {
  try costs(of: container.persistentStoreCoordinator, block)
}

/// Runs a block and returns the costs of all contexts of a coordinator while it runs.
///
/// The same work is counted as in `costs(of:_:)` for a container.
///
/// - Parameters:
///   - coordinator: The coordinator whose contexts to count.
///   - block: The block to run.
/// - Returns: The costs while the block ran.
/// - Throws: The error that the block throws.
public func costs(
  of coordinator: NSPersistentStoreCoordinator, _ block: () throws -> Void
) rethrows -> Costs {
  let counter = CostCounter()
  coordinator.eventHub.add(counter)
  defer { coordinator.eventHub.remove(counter) }
  try block()
  return Costs(counter.counters)
}

/// Runs an asynchronous block and returns the costs of all contexts of a container while it runs.
///
/// The same work is counted as in `costs(of:_:)` for a container.
///
/// - Parameters:
///   - container: The container whose contexts to count.
///   - isolation: The actor on which the block runs; by default, the caller's.
///   - block: The block to run.
/// - Returns: The costs while the block ran.
/// - Throws: The error that the block throws.
public func costs(
  of container: NSPersistentContainer, isolation: isolated (any Actor)? = #isolation,
  _ block: () async throws -> Void
) async rethrows -> Costs {
  try await costs(of: container.persistentStoreCoordinator, isolation: isolation, block)
}

/// Runs an asynchronous block and returns the costs of all contexts of a coordinator while it runs.
///
/// The same work is counted as in `costs(of:_:)` for a container.
///
/// - Parameters:
///   - coordinator: The coordinator whose contexts to count.
///   - isolation: The actor on which the block runs; by default, the caller's.
///   - block: The block to run.
/// - Returns: The costs while the block ran.
/// - Throws: The error that the block throws.
public func costs(
  of coordinator: NSPersistentStoreCoordinator, isolation: isolated (any Actor)? = #isolation,
  _ block: () async throws -> Void
) async rethrows -> Costs {
  let counter = CostCounter()
  coordinator.eventHub.add(counter)
  defer { coordinator.eventHub.remove(counter) }
  try await block()
  return Costs(counter.counters)
}

/// Counts the events of all contexts of a coordinator.
final class CostCounter: EventSink {
  let detail: EventDetail = []
  private let counted = Mutex(Counters())

  var counters: Counters { counted.withLock { $0 } }

  func record(_ event: Event) {
    counted.withLock { $0.count(event) }
  }
}
