public import OpenCoreData
import ProfileEvents

/// What a piece of work cost, in the words of the metric catalog.
///
/// For a program's own tests: `#expect(costs.selects == 2)`. Every number is exact and repeats.
public struct Costs: Sendable, Equatable {
  /// Fetch requests executed.
  public let fetches: Int
  /// Saves that wrote.
  public let saves: Int
  /// Rounds of validation and `willSave` that the saves took.
  ///
  /// One a save where no `willSave` sets anything, two where it sets something once. More say that it sets
  /// again what it has set: compare first.
  public let saveRounds: Int
  /// SELECTs that read rows of entities.
  public let selects: Int
  /// INSERTs, one a row.
  public let inserts: Int
  /// UPDATEs, one a row.
  public let updates: Int
  /// DELETEs, one a row.
  public let deletes: Int
  /// Write transactions committed.
  public let transactions: Int
  /// Rows that the SELECTs returned.
  public let rows: Int
  /// Object and relationship faults, whatever filled them.
  public let faults: Int
  /// Faults filled from the row cache.
  public let hits: Int
  /// Faults filled from the database.
  public let misses: Int
  /// Relationships loaded ahead, one for each step of a prefetched key path.
  public let prefetches: Int

  /// SELECTs, INSERTs, UPDATEs and DELETEs together.
  public var statements: Int { selects + inserts + updates + deletes }

  init(_ counters: Counters) {
    fetches = counters.fetches
    saves = counters.saves
    saveRounds = counters.saveRounds
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
  }
}

/// Runs a block on a context's queue and counts what it costs there.
///
/// Reading the counters costs no statement. Work of other contexts does not count.
public func costs(
  of context: NSManagedObjectContext, _ block: () throws -> Void
) rethrows -> Costs {
  try context.performAndWait {
    let before = context.counters
    try block()
    return Costs(context.counters - before)
  }
}

/// Runs a block and counts what all contexts of a container do meanwhile.
///
/// Contexts that are made inside the block count too, and so does work on other threads: wait for it
/// before the block ends. Counting costs an event for each thing that happens, and no statement.
/// - Throws: what the block throws.
public func costs(
  of container: NSPersistentContainer, _ block: () throws -> Void
) rethrows -> Costs {
  try costs(of: container.persistentStoreCoordinator, block)
}

/// Runs a block and counts what all contexts of a coordinator do meanwhile.
///
/// As `costs(of:_:)` of a container.
/// - Throws: what the block throws.
public func costs(
  of coordinator: NSPersistentStoreCoordinator, _ block: () throws -> Void
) rethrows -> Costs {
  let counter = CostCounter()
  coordinator.eventHub.add(counter)
  defer { coordinator.eventHub.remove(counter) }
  try block()
  return Costs(counter.counters)
}

/// Runs an asynchronous block and counts what all contexts of a container do meanwhile.
///
/// As `costs(of:_:)` of a container; the block runs where it was written.
/// - Throws: what the block throws.
public func costs(
  of container: NSPersistentContainer, isolation: isolated (any Actor)? = #isolation,
  _ block: () async throws -> Void
) async rethrows -> Costs {
  let counter = CostCounter()
  container.persistentStoreCoordinator.eventHub.add(counter)
  defer { container.persistentStoreCoordinator.eventHub.remove(counter) }
  try await block()
  return Costs(counter.counters)
}
