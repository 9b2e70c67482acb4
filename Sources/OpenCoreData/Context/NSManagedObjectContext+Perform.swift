import Dispatch
import ManagedModel

extension NSManagedObjectContext {
  /// Runs a block on the context's queue and waits for it; on that queue already, runs it in place.
  ///
  /// Pending changes are processed when the outermost block ends; then the burst of reads ends and
  /// clean objects that nobody holds are let go.
  @discardableResult
  public final func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
    if isOnQueue { return try run(block) }
    return try withoutActuallyEscaping(block) { block in
      try queue.sync { try run(block) }
    }
  }

  /// Runs a block on the context's queue later.
  public final func perform(_ block: @escaping @Sendable () -> Void) {
    queue.async { [self] in run(block) }
  }

  /// When an asynchronous `perform` runs its block.
  public enum ScheduledTaskType: Sendable {
    /// In place when the caller is on the queue already.
    case immediate
    /// Always behind what the queue has to do.
    case enqueued
  }

  /// Runs a block on the context's queue and gives its result.
  public final func perform<T: Sendable>(
    schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () throws -> T
  ) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      let work: @Sendable () -> Void = { [self] in
        continuation.resume(with: Result { try run(block) })
      }
      if schedule == .immediate, isOnQueue { work() } else { queue.async(execute: work) }
    }
  }

  /// Whether the caller is on the context's queue.
  final var isOnQueue: Bool {
    switch concurrencyType {
    case .mainQueueConcurrencyType: Thread.isMainThread
    case .privateQueueConcurrencyType:
      DispatchQueue.getSpecific(key: NSManagedObjectContext.queueKey) == ObjectIdentifier(self)
    }
  }

  private func run<T>(_ block: () throws -> T) rethrows -> T {
    depth += 1
    defer {
      depth -= 1
      if depth == 0 { endBlock() }
    }
    return try block()
  }

  private func endBlock() {
    processPendingChanges()
    endBurst()
    sweep()
  }

  /// Ends the burst of reads: its snapshot is given up and its connection given back.
  final func endBurst() {
    burst?.end()
    burst = nil
  }
}
