import Dispatch
import ManagedModel
import ProfileEvents
import SQLiteDriver
import Synchronization

extension NSManagedObjectContext {
  /// Begins a fetch and returns before it has run.
  ///
  /// Objects: the SELECT runs on another thread, in a snapshot of its own, and the context's queue is
  /// free meanwhile; the objects are made on the queue. Other results, and fetches of a child, of a
  /// pinned context, over several stores or sorted by objects, run on the queue later. Cost: as
  /// `fetch`, with one fetch and one SELECT in the counters once it has ended.
  /// - Throws: an error of the request itself; those of the fetch are the result's `operationError`.
  final func fetchAsynchronously<T>(
    _ request: NSAsynchronousFetchRequest<T>
  ) throws -> NSAsynchronousFetchResult<T> {
    let fetch = request.fetchRequest
    var plan = try FetchPlan(fetch, model: requiredCoordinator.managedObjectModel)
    let result = NSAsynchronousFetchResult(request, context: self)
    let ending = AsynchronousEnding(result)
    guard parent == nil, reads.pin == nil, plan.batchSize == 0, plan.includesPropertyValues,
      fetch.resultType == .managedObjectResultType, let store = try onlyStore(of: plan),
      !plan.isSortedByObjects(of: store)
    else {
      // The request is the caller's no more until its block has run.
      nonisolated(unsafe) let fetch = fetch
      perform { [self] in ending.end { try self.fetch(fetch) } }
      return result
    }
    let progress = result.progress
    plan.rowsRead = { progress?.completedUnitCount = Int64($0) }
    let work = BackgroundFetch(plan: plan.at(store), store: store, scope: scope)
    // The work tells the progress how far it is, and is held until it has ended.
    progress?.cancellationHandler = { [weak work] in work?.interrupt() }
    DispatchQueue.global().async { [self] in
      let read = Result { try work.run() }
      perform { [self] in
        scope.counters = scope.counters + work.counters
        ending.end {
          // After a cancel the rows are let go with the work.
          let reading = try read.get()
          let objects = try finish(reading, work)
          guard let objects = objects as? [T] else {
            throw NSError.fetch("The request was made for \(T.self), which its objects are not.")
          }
          return objects
        }
      }
    }
    return result
  }

  /// Makes the objects of rows that were read on another thread.
  private func finish(
    _ reading: BackgroundFetch.Reading, _ work: BackgroundFetch
  ) throws -> [NSManagedObject] {
    let plan = work.plan
    sweepBeforeLoad()
    var objects = materialise(work.takeRows(), from: reading.reader, plan)
    objects = try overlay(plan, on: objects)
    try prefetch(plan.prefetchPaths, from: objects, of: plan.entity, in: work.store)
    return objects
  }
}

/// Ends an asynchronous request on the context's queue, once.
private struct AsynchronousEnding<T>: @unchecked Sendable {  // used on the context's queue alone
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

/// A fetch whose SELECT runs beside the context's queue.
///
/// Execute it with `context.execute(_:)`, which returns at once. Apple counterpart: the same name; the
/// book's chapter 6.
public final class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
  /// What to fetch, as it is when the request is executed.
  public let fetchRequest: NSFetchRequest<ResultType>
  /// Called once on the context's queue, when there is a result, an error, or nothing because it was
  /// cancelled.
  public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
  /// How many rows are expected: the total of the progress; 0 when nobody knows.
  public var estimatedResultCount = 0

  /// A fetch with what is done at its end.
  public init(
    fetchRequest: NSFetchRequest<ResultType>,
    completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
  ) {
    self.fetchRequest = fetchRequest
    self.completionBlock = completionBlock
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
{  // changed on the context's queue alone
  /// The request that was executed.
  public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
  /// What was fetched; nil before the end, after an error and after it was cancelled.
  public internal(set) var finalResult: [ResultType]?

  init(_ request: NSAsynchronousFetchRequest<ResultType>, context: NSManagedObjectContext) {
    fetchRequest = request
    super.init(context: context, estimate: request.estimatedResultCount)
  }
}

/// What an asynchronous request gives at once: how far it is, and later its outcome.
///
/// Read it on the context's queue; `progress` and `cancel()` may be used anywhere. Apple counterpart: the
/// same name.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
  // changed on the context's queue alone
  /// The context that executes the request.
  public let managedObjectContext: NSManagedObjectContext
  /// Why there's no result: an error of the fetch, 3072 after it was cancelled; nil before the end and
  /// when there is a result.
  public internal(set) var operationError: NSError?
  /// Counts rows; a child of the thread's current progress when the request was executed.
  ///
  /// Its total is the request's estimate, and is not known without one.
  public let progress: Progress?

  init(context: NSManagedObjectContext, estimate: Int) {
    managedObjectContext = context
    progress = Progress(totalUnitCount: estimate > 0 ? Int64(estimate) : -1)
  }

  /// Stops the request; what its SELECT has read is dropped.
  public func cancel() {
    progress?.cancel()
  }
}
