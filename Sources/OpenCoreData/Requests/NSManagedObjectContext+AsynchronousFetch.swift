import Dispatch
import ManagedModel
import ProfileEvents

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
    guard parent == nil, pinnedToken == nil, plan.batchSize == 0, plan.includesPropertyValues,
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
