import Dispatch
import Glibc
import ManagedModel
import ProfileEvents
import Synchronization

extension NSManagedObjectContext {
  /// Runs a block on the context's queue and waits for it; if called on that queue, runs it
  /// immediately.
  ///
  /// When the outermost block ends, pending changes are processed, the read transaction that its
  /// reads share ends, and unchanged objects that aren't retained are deregistered.
  @discardableResult
  public final func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
    if isOnQueue { return try run(block) }
    return try withoutActuallyEscaping(block) { block in
      try queue.sync { try run(block) }
    }
  }

  /// Schedules a block on the context's queue and returns immediately.
  public final func perform(_ block: @escaping @Sendable () -> Void) {
    queue.async { [self] in run(block) }
  }

  /// When an asynchronous `perform` runs its block.
  public enum ScheduledTaskType: Sendable {
    /// Immediately if the caller is already on the queue.
    case immediate
    /// Always after the work that is already scheduled on the queue.
    case enqueued
  }

  /// Runs a block on the context's queue and returns its result.
  ///
  /// Rethrows the block's error. The block has the task-local values of the caller.
  public final func perform<T: Sendable, Failure: Error>(
    schedule: ScheduledTaskType = .immediate,
    _ block: @escaping @Sendable () throws(Failure) -> T
  ) async throws(Failure) -> T {
    if schedule == .immediate, isOnQueue { return try run { Result(catching: block) }.get() }
    return try await withTaskExecutorPreference(QueueExecutor(queue)) {
      run { Result(catching: block) }
    }
    .get()
  }

  /// Whether the caller is on the context's queue, including through `performAndWait` of other
  /// contexts.
  final var isOnQueue: Bool {
    if runner.load(ordering: .relaxed) == MonotonicClock.threadID() { return true }
    return concurrencyType == .mainQueueConcurrencyType && MainQueue.isCurrent
  }

  /// Runs a child context's request on this context's queue and waits for it.
  ///
  /// Pending changes aren't processed, and the objects that the child requests stay registered
  /// until the next block of this context ends, which the child schedules.
  final func serve<T>(_ request: () throws -> T) rethrows -> T {
    if isOnQueue { return try run(request, atEnd: endReadTransaction) }
    return try withoutActuallyEscaping(request) { request in
      try queue.sync { try run(request, atEnd: endReadTransaction) }
    }
  }

  private func run<T>(_ block: () throws -> T) rethrows -> T {
    let outer = RunningContext.enter(self)
    defer { RunningContext.leave(to: outer) }
    return try run(block, atEnd: endBlock)
  }

  private func run<T>(_ block: () throws -> T, atEnd: () -> Void) rethrows -> T {
    if !blocks.isRunning {
      runner.store(MonotonicClock.threadID(), ordering: .relaxed)
      askStaleness()
    }
    blocks.enter()
    defer {
      if blocks.isOutermost { atEnd() }
      blocks.leave()
      if !blocks.isRunning { runner.store(0, ordering: .relaxed) }
    }
    return try block()
  }

  /// Schedules the processing of pending changes for the next turn of the main queue or the main
  /// run loop, if no block of the context will do so.
  @inline(__always)
  final func scheduleProcessing() {
    if !blocks.isRunning, concurrencyType == .mainQueueConcurrencyType { scheduleOnMainQueue() }
  }

  private func scheduleOnMainQueue() {
    // Off the main queue, this would run concurrently with the caller.
    guard MainQueue.isCurrent, blocks.schedule() else { return }
    queue.async { [weak self] in self?.processAsScheduled() }
    // A run loop inside of a main-queue block doesn't serve the queue.
    guard Thread.isMainThread, blocks.enterRunLoop() else { return }
    RunLoop.main.perform { [weak self] in
      self?.blocks.leaveRunLoop()
      self?.processAsScheduled()
    }
  }

  private func processAsScheduled() {
    if blocks.takeSchedule() { run {} }
  }

  private func endBlock() {
    if blocks.takeFailure() { scope.emit(.failure) { $0.failure = .blockEnd } }
    processPendingChanges()
    endReadTransaction()
    sweep()
    if blocks.takeParentRequest() { sweepParent() }
    // An observer of did-change may have changed objects.
    if changes.hasEvents, concurrencyType == .mainQueueConcurrencyType { scheduleOnMainQueue() }
  }

  /// Makes the parent release the objects that this context's requests have registered there.
  private func sweepParent() {
    guard let parent else { return }
    let work: @Sendable () -> Void = { parent.run({}, atEnd: parent.endServing) }
    if parent.isOnQueue { work() } else { parent.queue.async(execute: work) }
  }

  private func endServing() {
    endReadTransaction()
    sweep()
    if blocks.takeParentRequest() { sweepParent() }
  }

}

/// Runs the block of an awaited `perform` on a queue, as a part of the caller's task.
///
/// So the block has the task-local values of the caller, such as the span of a request.
private final class QueueExecutor: TaskExecutor {
  private let queue: DispatchQueue

  init(_ queue: DispatchQueue) {
    self.queue = queue
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

/// The `perform` blocks of a context, and the work scheduled for the end of the outermost one.
///
/// Used on the context's queue.
struct BlockState {
  private var depth = 0
  /// Whether the main queue will process pending changes.
  private var isScheduled = false
  /// Whether the main run loop will process them.
  private var isInRunLoop = false
  /// Whether a block has sent a request to the parent context.
  private var hasAskedParent = false
  /// Whether a failed read must be reported to a sink.
  private var hasFailed = false

  /// Whether a block is running.
  var isRunning: Bool { depth > 0 }
  /// Whether the running block is the outermost.
  var isOutermost: Bool { depth == 1 }

  mutating func enter() { depth += 1 }
  mutating func leave() { depth -= 1 }

  /// Schedules processing; returns whether it wasn't scheduled before.
  mutating func schedule() -> Bool {
    defer { isScheduled = true }
    return !isScheduled
  }

  /// Unschedules processing; returns whether it was scheduled.
  mutating func takeSchedule() -> Bool {
    defer { isScheduled = false }
    return isScheduled
  }

  /// Records that the run loop will process changes; returns whether that's new.
  mutating func enterRunLoop() -> Bool {
    defer { isInRunLoop = true }
    return !isInRunLoop
  }

  mutating func leaveRunLoop() { isInRunLoop = false }

  /// Records that a read of the running block has failed.
  mutating func noteFailure() { hasFailed = isRunning }

  /// Returns whether a read has failed since the last call.
  mutating func takeFailure() -> Bool {
    guard hasFailed else { return false }
    hasFailed = false
    return true
  }

  /// Records that the parent registers objects for this context.
  mutating func noteParentRequest() { hasAskedParent = true }

  /// Returns whether the parent has registered objects for this context since the last call.
  mutating func takeParentRequest() -> Bool {
    defer { hasAskedParent = false }
    return hasAskedParent
  }
}

/// The main dispatch queue, which the main thread's run loop serves, or, after `dispatchMain()`,
/// any thread.
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

/// Detects the use of contexts and objects off their queues, which stops the program.
///
/// Enabled by Apple's argument `-com.apple.CoreData.ConcurrencyDebug 1`, or by
/// `CDPROF_CONCURRENCY_DEBUG=1` in the environment; read once, before the first context is created.
/// Free of cost when disabled: the bit that marks an object as watched is tested together with the
/// fault bit.
enum QueueGuard {
  static let isOn: Bool = {
    let isOn = isRequested(
      CommandLine.arguments, ProcessInfo.processInfo.environment["CDPROF_CONCURRENCY_DEBUG"])
    if isOn { SQLDebugLog.writeToStandardError(announcement) }
    return isOn
  }()

  /// Core Data's line, printed once per process.
  static let announcement =
    "CoreData: annotation: Core Data multi-threading assertions enabled."

  /// Returns whether the arguments or the environment variable enable it.
  static func isRequested(_ arguments: [String], _ variable: String?) -> Bool {
    if let flag = arguments.firstIndex(of: "-com.apple.CoreData.ConcurrencyDebug"),
      arguments.indices.contains(flag + 1), Int(arguments[flag + 1]) ?? 0 > 0
    {
      return true
    }
    return Int(variable ?? "") ?? 0 > 0
  }
}

extension NSManagedObjectContext {
  /// Stops with a fatal error if the queue is guarded and the caller isn't on it.
  ///
  /// - Parameter object: The object that was used, for the message.
  @inline(__always)
  final func checkQueue(of object: NSManagedObject? = nil) {
    if faultState.contains(.guarded), !isOnQueue { trapOffQueue(object) }
  }

  private func trapOffQueue(_ object: NSManagedObject?) -> Never {
    let used = object.map { "\($0.objectID) of \(guardedName)" } ?? guardedName
    let thread =
      Thread.isMainThread ? "the main thread" : "thread \(MonotonicClock.threadID())"
    let queue = RunningContext.current.map { "the queue of \($0.guardedName)" } ?? thread
    fatalError(
      "\(used) was used on \(queue), not on \(ownQueue): wrap the access in its perform or "
        + "performAndWait")
  }

  private var guardedName: String {
    name.map { "the context '\($0)'" } ?? "a context without a name"
  }

  private var ownQueue: String {
    concurrencyType == .mainQueueConcurrencyType ? "the main queue" : "its own queue"
  }
}

/// The context whose innermost block the calling thread is running.
enum RunningContext {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    guard pthread_key_create(&key, nil) == 0 else {
      fatalError("the process has no thread keys left")
    }
    return key
  }()

  /// `nil` outside of all blocks.
  static var current: NSManagedObjectContext? {
    pthread_getspecific(key).map {
      Unmanaged<NSManagedObjectContext>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Begins a block of a context, which the caller retains.
  ///
  /// - Returns: The value to pass to `leave` when the block has ended.
  static func enter(_ context: NSManagedObjectContext) -> UnsafeMutableRawPointer? {
    let outer = pthread_getspecific(key)
    pthread_setspecific(key, Unmanaged.passUnretained(context).toOpaque())
    return outer
  }

  /// Ends a block.
  static func leave(to outer: UnsafeMutableRawPointer?) {
    pthread_setspecific(key, outer)
  }
}

// A coordinator can be used on any thread. Its queue is for programs that need several calls to run
// in sequence.

extension NSPersistentStoreCoordinator {
  /// Schedules a block on the coordinator's queue and returns immediately.
  public func perform(_ block: @escaping @Sendable () -> Void) {
    blocks.queue.async(execute: block)
  }

  /// Runs a block on the coordinator's queue and waits for it; if called on that queue, runs it
  /// immediately.
  @discardableResult
  public func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
    blocks.isCurrent ? try block() : try blocks.queue.sync(execute: block)
  }

  /// Runs a block on the coordinator's queue and returns its result.
  ///
  /// The block has the task-local values of the caller.
  public func perform<T: Sendable, Failure: Error>(
    _ block: @escaping @Sendable () throws(Failure) -> T
  ) async throws(Failure) -> T {
    try await withTaskExecutorPreference(QueueExecutor(blocks.queue)) { Result(catching: block) }
      .get()
  }

  /// Executes a request for a context, on the context's queue.
  ///
  /// **Cost:** that of the context's `fetch` or `execute`.
  /// - Returns: The fetched items as an array, or the result of any other request.
  /// - Throws: The errors of `fetch` or `execute`.
  public func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext
  ) throws -> Any {
    guard context.coordinator === self else {
      fatalError("the context belongs to another coordinator")
    }
    return try context.performAndWait { try request.answer(in: context) }
  }
}
