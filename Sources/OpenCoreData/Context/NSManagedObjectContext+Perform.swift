import Dispatch
import ManagedModel
import ProfileEvents
import Synchronization

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
  ///
  /// Throws what the block throws.
  public final func perform<T: Sendable, Failure: Error>(
    schedule: ScheduledTaskType = .immediate,
    _ block: @escaping @Sendable () throws(Failure) -> T
  ) async throws(Failure) -> T {
    let result: Result<T, Failure> = await withCheckedContinuation { continuation in
      let work: @Sendable () -> Void = { [self] in
        continuation.resume(returning: run { Result(catching: block) })
      }
      if schedule == .immediate, isOnQueue { work() } else { queue.async(execute: work) }
    }
    return try result.get()
  }

  /// Whether the caller is on the context's queue, through other contexts' `performAndWait` too.
  final var isOnQueue: Bool {
    if runner.load(ordering: .relaxed) == MonotonicClock.threadID() { return true }
    return concurrencyType == .mainQueueConcurrencyType && MainQueue.isCurrent
  }

  /// Runs a request of a child context on this context's queue and waits for it.
  ///
  /// Pending changes stay as they are, and what the child asks for stays registered until the next
  /// block of this context ends, which the child sees to.
  final func serve<T>(_ request: () throws -> T) rethrows -> T {
    if isOnQueue { return try run(request, atEnd: endBurst) }
    return try withoutActuallyEscaping(request) { request in
      try queue.sync { try run(request, atEnd: endBurst) }
    }
  }

  private func run<T>(_ block: () throws -> T) rethrows -> T {
    let outer = RunningContext.enter(self)
    defer { RunningContext.leave(to: outer) }
    return try run(block, atEnd: endBlock)
  }

  private func run<T>(_ block: () throws -> T, atEnd: () -> Void) rethrows -> T {
    if depth == 0 {
      runner.store(MonotonicClock.threadID(), ordering: .relaxed)
      askStaleness()
    }
    depth += 1
    defer {
      if depth == 1 { atEnd() }
      depth -= 1
      if depth == 0 { runner.store(0, ordering: .relaxed) }
    }
    return try block()
  }

  /// Has pending changes processed when the main queue or the main run loop turns, where no block of
  /// the context will do so.
  @inline(__always)
  final func scheduleProcessing() {
    if depth == 0, concurrencyType == .mainQueueConcurrencyType { scheduleOnMainQueue() }
  }

  private func scheduleOnMainQueue() {
    // Off the main queue this would run beside what the caller does.
    guard !isProcessingScheduled, MainQueue.isCurrent else { return }
    isProcessingScheduled = true
    queue.async { [weak self] in self?.processAsScheduled() }
    // A run loop inside of a block of the main queue doesn't serve the queue.
    guard !isInRunLoop, Thread.isMainThread else { return }
    isInRunLoop = true
    RunLoop.main.perform { [weak self] in
      self?.isInRunLoop = false
      self?.processAsScheduled()
    }
  }

  private func processAsScheduled() {
    guard isProcessingScheduled else { return }
    isProcessingScheduled = false
    run {}
  }

  private func endBlock() {
    processPendingChanges()
    endBurst()
    sweep()
    if hasAskedParent { letParentSweep() }
  }

  /// Lets the parent let go of what this context's requests have registered there.
  private func letParentSweep() {
    hasAskedParent = false
    guard let parent else { return }
    let work: @Sendable () -> Void = { parent.run({}, atEnd: parent.endServing) }
    if parent.isOnQueue { work() } else { parent.queue.async(execute: work) }
  }

  private func endServing() {
    endBurst()
    sweep()
    if hasAskedParent { letParentSweep() }
  }

  /// Ends the burst of reads: its snapshot is given up and its connection given back.
  final func endBurst() {
    // A read that is running keeps its snapshot; it ends it when it is done.
    if readDepth == 0 { burst?.end() }
    burst = nil
    if !otherBursts.isEmpty { endOtherBursts() }
  }
}

/// The main dispatch queue, which the main thread's run loop serves, or, after `dispatchMain()`, any
/// thread.
enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// Whether the caller is on the main queue, or on the main thread.
  static var isCurrent: Bool {
    DispatchQueue.getSpecific(key: key) == true || Thread.isMainThread
  }
}
