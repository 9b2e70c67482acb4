public import OpenCoreData
import ProfileEvents

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
