public import Dispatch
import Moody
public import OpenCoreData

extension NSManagedObjectContext {
  /// The number of changed objects above which a delayed save saves immediately.
  static let delayedSaveLimit = 100

  /// Schedules a block on the context's queue; the group isn't empty until the block has returned.
  public func perform(group: DispatchGroup, block: @escaping @Sendable () -> Void) {
    group.enter()
    perform {
      block()
      group.leave()
    }
  }

  /// Saves once the group is empty, so that several pieces of work share one save.
  ///
  /// If more than 100 objects are inserted, updated, or deleted, saves immediately. If the save
  /// fails, rolls back all unsaved changes. Call this method on the context's queue.
  ///
  /// **Cost**: the cost of a save, or none if another delayed save has already saved the changes.
  ///
  /// - Parameters:
  ///   - group: The group of the work that may change objects.
  ///   - queue: The queue that waits for the group.
  ///   - completion: A closure that is called on the context's queue. Its argument is `true` if the
  ///     save succeeded, or if there was nothing to save.
  public func delayedSaveOrRollback(
    group: DispatchGroup, queue: DispatchQueue = .global(),
    completion: @escaping @Sendable (Bool) -> Void = { _ in }
  ) {
    guard changedObjectsCount <= Self.delayedSaveLimit else { return completion(saveOrRollback()) }
    group.notify(queue: queue) { [self] in
      perform(group: group) { [self] in
        guard hasChanges else { return completion(true) }
        completion(saveOrRollback())
      }
    }
  }

  private var changedObjectsCount: Int {
    insertedObjects.count + updatedObjects.count + deletedObjects.count
  }
}
