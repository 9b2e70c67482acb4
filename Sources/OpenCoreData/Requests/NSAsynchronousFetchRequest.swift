import Dispatch
import ManagedModel
import ProfileEvents
import SQLiteDriver
import Synchronization

extension NSManagedObjectContext {
  /// Begins a fetch and returns before it has run.
  ///
  /// For objects, the SELECT runs on another thread, in its own snapshot, while the context's queue
  /// is free; the objects are created on the queue. Other results, and fetches with a batch size,
  /// without property values, of a child, of a pinned context, over several stores, sorted by
  /// objects, or of an incremental store, run on the queue later. **Cost:** that of `fetch`,
  /// counted as one fetch and one SELECT after it has ended.
  /// - Throws: An error of the request itself; those of the fetch are the result's
  ///   `operationError`.
  final func fetchAsynchronously<T>(
    _ request: NSAsynchronousFetchRequest<T>
  ) throws -> NSAsynchronousFetchResult<T> {
    let fetch = request.fetchRequest
    var plan = try FetchPlan(fetch, model: requiredCoordinator.managedObjectModel)
    let result = NSAsynchronousFetchResult(request, context: self)
    let ending = AsynchronousEnding(result)
    guard parent == nil, reads.pin == nil, plan.batchSize == 0, plan.includesPropertyValues,
      fetch.resultType == .managedObjectResultType, let store = try onlyStore(of: plan),
      !plan.isSortedByObjects(of: store), !store.isIncremental
    else {
      // The caller must not use the request until its block has run.
      nonisolated(unsafe) let fetch = fetch
      perform { [self] in ending.end { try self.fetch(fetch) } }
      return result
    }
    let requested = plan
    if let widened = widened(plan) { plan = widened }
    let progress = result.progress
    plan.rowsRead = { progress?.completedUnitCount = Int64($0) }
    let work = BackgroundFetch(
      requested: requested, plan: plan.at(store), store: store, scope: scope)
    // The work updates the progress, and is retained until it has ended.
    progress?.cancellationHandler = { [weak work] in work?.interrupt() }
    DispatchQueue.global().async { [self] in
      let read = Result { try work.run() }
      perform { [self] in
        scope.counters = scope.counters + work.counters
        ending.end {
          // After a cancellation, the rows are released with the work.
          let reading = try read.get()
          let objects = try finish(reading, work)
          guard let objects = objects as? [T] else {
            throw NSError.fetch(
              "The request is for \(T.self), which isn't the class of its objects.")
          }
          return objects
        }
      }
    }
    return result
  }

  /// Creates the objects of rows that were read on another thread.
  private func finish(
    _ reading: BackgroundFetch.Reading, _ work: BackgroundFetch
  ) throws -> [NSManagedObject] {
    let plan = work.plan
    // Of the rows within the limit, changes made in the meantime may have removed some.
    if let widened = widened(work.requested), !plan.readsRows(of: widened) {
      return try fetchObjects(widened)
    }
    sweepBeforeLoad()
    var objects = makeObjects(work.takeRows(), from: reading.reader, plan)
    objects = try overlay(plan, on: objects)
    try prefetch(plan.prefetchPaths, from: objects, of: plan.entity, in: work.store)
    return objects
  }
}

/// Ends an asynchronous request on the context's queue, once.
private struct AsynchronousEnding<T>: @unchecked Sendable {  // used only on the context's queue
  private let result: NSAsynchronousFetchResult<T>

  init(_ result: NSAsynchronousFetchResult<T>) {
    self.result = result
  }

  func end(_ body: () throws -> [T]) {
    do {
      if result.progress?.isCancelled == true { throw CocoaError(.userCancelled) }
      let found = try body()
      result.finalResult = found
      result.progress?.totalUnitCount = Int64(found.count)
      result.progress?.completedUnitCount = Int64(found.count)
    } catch {
      let isCancelled = result.progress?.isCancelled == true
      result.operationError =
        isCancelled
        ? NSError.coreData(
          CocoaError.Code.userCancelled.rawValue, "The asynchronous fetch was cancelled.")
        : NSError.from(error, store: result.managedObjectContext.firstStore)
    }
    result.fetchRequest.completionBlock?(result)
  }
}

/// The SELECT of an asynchronous fetch: read on one thread, then transferred to the context's
/// queue.
final class BackgroundFetch: @unchecked Sendable {
  // `rows` and `scope` are passed from one queue to the next; locks guard all other properties
  /// The plan before it was widened.
  let requested: FetchPlan
  let plan: FetchPlan
  let store: RowStore
  /// Counts and reports for the context, whose own scope belongs to its queue.
  private let scope: ProfileScope
  /// Interrupts the SELECT while it runs.
  private let stop = Mutex<(@Sendable () -> Void)?>(nil)
  private let isStopped = Mutex(false)
  private var rows: [FetchedRow] = []

  /// A completed read of rows, and the reader it used, which has ended.
  struct Reading: @unchecked Sendable {  // handed on from the thread that read to the queue
    let reader: any StoreReader
  }

  init(
    requested: FetchPlan, plan: FetchPlan, store: RowStore, scope context: ProfileScope
  ) {
    self.requested = requested
    self.plan = plan
    self.store = store
    scope = ProfileScope(hub: context.hub)
    scope.contextName = context.contextName
    scope.callSite = context.callSite
  }

  deinit {
    for fetched in rows { fetched.row.release() }
  }

  /// The counters of the work; read after it has ended.
  var counters: Counters { scope.counters }

  /// Reads the rows, on the calling thread.
  func run() throws -> Reading {
    if isStopped.withLock({ $0 }) { throw CocoaError(.userCancelled) }
    let found = try store.beginReading()
    // Interrupting is the only thing that another thread may do with a connection.
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
      scope.fail(event, error) { $0.entity = plan.entityName }
      throw error
    }
  }

  /// Returns the rows and transfers their reference counts to the caller.
  func takeRows() -> [FetchedRow] {
    defer { rows = [] }
    return rows
  }

  /// Interrupts the SELECT if it's running, and prevents it from starting.
  func interrupt() {
    isStopped.withLock { $0 = true }
    stop.withLock { $0?() }
  }
}

/// A fetch whose SELECT runs off the context's queue.
///
/// Execute it with `context.execute(_:)`, which returns immediately. Apple counterpart: the same
/// name; the book's chapter 6.
public final class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
  /// The fetch request, which is read when this request is executed.
  public let fetchRequest: NSFetchRequest<ResultType>
  /// Called once on the context's queue, with a result or an error, or with neither after a
  /// cancellation.
  public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
  /// The estimated number of rows, which is the total of the progress; 0 if unknown.
  public var estimatedResultCount = 0

  /// Creates an asynchronous fetch with a completion block.
  public init(
    fetchRequest: NSFetchRequest<ResultType>,
    completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
  ) {
    self.fetchRequest = fetchRequest
    self.completionBlock = completionBlock
  }

  /// Returns a copy of the request, with a copy of its fetch request and the same block.
  public override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSAsynchronousFetchRequest(
      fetchRequest: NSFetchRequest<ResultType>(copying: fetchRequest),
      completionBlock: completionBlock)
    copy.affectedStores = affectedStores
    copy.estimatedResultCount = estimatedResultCount
    return copy
  }

  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    try context.fetchAsynchronously(self)
  }
}

/// The result of an asynchronous fetch.
///
/// Apple counterpart: the same name.
public final class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult,
  @unchecked Sendable
{  // changed only on the context's queue
  /// The request that was executed.
  public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
  /// The fetched items; `nil` before the end, after an error, and after a cancellation.
  public internal(set) var finalResult: [ResultType]?

  init(_ request: NSAsynchronousFetchRequest<ResultType>, context: NSManagedObjectContext) {
    fetchRequest = request
    super.init(context: context, estimate: request.estimatedResultCount)
  }
}

/// The handle of an asynchronous request: its progress, and later its outcome.
///
/// Read it on the context's queue; `progress` and `cancel()` can be used on any thread. Apple
/// counterpart: the same name.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
  // changed only on the context's queue
  /// The context that executes the request.
  public let managedObjectContext: NSManagedObjectContext
  /// The reason why there's no result: an error of the fetch, or 3072 after a cancellation; `nil`
  /// before the end and if there's a result.
  ///
  /// It's an `NSError`.
  public internal(set) var operationError: (any Error)?
  /// The progress in rows; a child of the thread's current progress when the request was executed.
  ///
  /// Its total is the request's estimate, and indeterminate without one.
  public let progress: Progress?

  init(context: NSManagedObjectContext, estimate: Int) {
    managedObjectContext = context
    progress = Progress(totalUnitCount: estimate > 0 ? Int64(estimate) : -1)
  }

  /// Cancels the request; rows that were already read are discarded.
  public func cancel() {
    progress?.cancel()
  }
}
