public import Dispatch
import Moody
public import OpenCoreData
import Synchronization

/// The synchronizing of moods with a server.
///
/// Create one coordinator for a container, and keep it. The user interface changes and saves
/// objects in the view context, and observes them; it needs no other interface. All synchronizing
/// is done on the queue of a second context, in single-threaded code: the network limits how fast
/// it is, not the processor. See chapter 9 of *Core Data* by Florian Kugler and Daniel Eggert
/// (objc.io).
///
/// What's to be done is stored with the objects, never only in memory, so that it's found again
/// after a crash, when the network returns, or when the program starts.
public final class SyncCoordinator: ContextOwner, ChangeProcessorContext {
  /// The context of the user interface.
  public let viewContext: NSManagedObjectContext
  /// The context on whose queue all synchronizing is done.
  public let syncContext: NSManagedObjectContext
  /// The group of all work on the sync context's queue.
  public let syncGroup = DispatchGroup()
  /// The server.
  public let remote: any MoodyRemote

  /// The queue that waits for the group before a delayed save.
  let saveQueue = DispatchQueue(label: "SyncCoordinator.saves")

  private let state: QueueConfined<SyncState>
  private let schedule: Schedule
  private let observations = Mutex<[Observation]>([])

  /// A function that runs a block after a number of seconds.
  public typealias Schedule = @Sendable (TimeInterval, @escaping @Sendable () -> Void) -> Void

  /// Starts synchronizing the moods of a container, whose view context must be used on its queue.
  ///
  /// Local changes are processed from now on. Call `applicationDidBecomeActive()` to process those
  /// that were left over, and to fetch the server's.
  public convenience init(container: NSPersistentContainer, remote: any MoodyRemote) {
    self.init(
      viewContext: container.viewContext, syncContext: container.newBackgroundContext(),
      remote: remote, changeProcessors: [MoodUploader(), MoodDownloader(), MoodRemover()])
  }

  /// Starts synchronizing with other contexts and change processors.
  ///
  /// - Parameters:
  ///   - viewContext: The context in which the user's changes are made.
  ///   - syncContext: A private-queue context of the same coordinator, which nothing else uses.
  ///   - remote: The server.
  ///   - changeProcessors: The processors in the order in which they're called.
  ///   - schedule: A function that runs a block after a number of seconds.
  public init(
    viewContext: NSManagedObjectContext, syncContext: NSManagedObjectContext,
    remote: any MoodyRemote, changeProcessors: sending [any ChangeProcessor],
    schedule: @escaping Schedule = { delay, block in
      DispatchQueue.global().asyncAfter(deadline: .now() + delay, execute: block)
    }
  ) {
    self.viewContext = viewContext
    self.syncContext = syncContext
    self.remote = remote
    self.schedule = schedule
    state = QueueConfined(SyncState(changeProcessors), to: syncContext)
    syncContext.performAndWait {
      syncContext.name = "SyncCoordinator"
      syncContext.mergePolicy = MoodyMergePolicy(mode: .remote)
    }
    viewContext.performAndWait { viewContext.mergePolicy = MoodyMergePolicy(mode: .local) }
    setupContexts()
    perform { [self] in
      state.withValue { state in for processor in state.processors { processor.setup(for: self) } }
    }
  }

  /// Keeps an observation active as long as the coordinator exists.
  public func addObservation(_ observation: Observation) {
    observations.withLock { $0.append(observation) }
  }

  // MARK: Starting and stopping

  /// Processes what was left over when the program quit, and fetches the server's changes.
  ///
  /// Call this method when the program starts, when it becomes active, and when the network
  /// returns.
  public func applicationDidBecomeActive() {
    perform { [self] in
      state.withValue { ($0.failedFetches, $0.failedWork) = (0, 0) }
      processTrackedObjects()
      fetchRemoteData()
    }
  }

  /// Deletes the objects that were marked for deletion some time ago, and releases memory.
  public func applicationDidEnterBackground() {
    perform { [self] in syncContext.refreshAllObjects() }
    viewContext.perform { [viewContext] in
      // If it fails, the next time deletes them.
      try? Mood.deleteMarked(in: viewContext)
      try? Country.deleteMarked(in: viewContext)
      try? Continent.deleteMarked(in: viewContext)
      viewContext.refreshAllObjects()
    }
  }

  // MARK: Local changes

  /// Passes objects to all change processors.
  public func processChangedLocalObjects(_ objects: [NSManagedObject]) {
    state.withValue { state in
      for processor in state.processors {
        processor.processChangedLocalObjects(objects, in: self)
      }
    }
  }

  /// Fetches the objects that the processors track, and passes them to all processors.
  ///
  /// **Cost**: one SELECT for each processor that tracks objects.
  private func processTrackedObjects() {
    let tracked = state.withValue { state in
      state.processors.compactMap { $0.entityAndPredicateForLocallyTrackedObjects(in: self) }
    }
    do {
      var objects: Set<NSManagedObject> = []
      for item in tracked { objects.formUnion(try syncContext.fetch(item.fetchRequest)) }
      if objects.isEmpty { didProcessObjects() } else { processChangedLocalObjects(Array(objects)) }
    } catch {
      retryLater()
    }
  }

  // MARK: Remote changes

  /// Fetches new changes from the server.
  public func remoteDidChange() {
    perform { [self] in fetchNewRemoteData() }
  }

  /// Passes changes of the server to all change processors.
  ///
  /// Call this method on the sync context's queue.
  ///
  /// - Parameter completion: A closure that is called on the same queue, after all processors have
  ///   processed the changes. Its argument is `false` if the changes must be fetched again.
  func processRemoteChanges<Record: RemoteRecord>(
    _ changes: [RemoteRecordChange<Record>], completion: @escaping (Bool) -> Void
  ) {
    forEachProcessor(
      { $0.processRemoteChanges(changes, in: self, completion: $1) }, completion: completion)
  }

  /// Calls a closure for each processor; the completion after all have called theirs.
  private func forEachProcessor(
    _ body: (any ChangeProcessor, _ done: @escaping (Bool) -> Void) -> Void,
    completion: @escaping (Bool) -> Void
  ) {
    let processors = state.withValue { $0.processors }
    guard !processors.isEmpty else { return completion(true) }
    var (waiting, allSucceeded) = (Set(processors.indices), true)
    for (index, processor) in processors.enumerated() {
      body(processor) { succeeded in
        guard waiting.remove(index) != nil else { return }
        allSucceeded = allSucceeded && succeeded
        if waiting.isEmpty { completion(allSucceeded) }
      }
    }
  }

  private func fetchRemoteData() {
    do {
      if try Mood.count(in: syncContext) == 0 {
        fetchLatestRemoteData()
      } else {
        fetchNewRemoteData()
      }
    } catch {
      retryLater(\.failedFetches)
    }
  }

  private func fetchLatestRemoteData() {
    guard beginFetch() else { return }
    forEachProcessor(
      { $0.fetchLatestRemoteRecords(in: self, completion: $1) },
      completion: { [self] succeeded in
        // What has changed since then follows.
        state.withValue { $0.fetchesAgain = $0.fetchesAgain || succeeded }
        endFetch(succeeded)
      })
  }

  /// Fetches and saves new changes, one fetch at a time: an older answer that arrived after a newer
  /// one would insert what was deleted in between.
  private func fetchNewRemoteData() {
    guard beginFetch() else { return }
    remote.fetchNewMoods(
      completion: perform {
        [self]
        (
          changes: [RemoteRecordChange<RemoteMood>], error: RemoteError?,
          saved: @escaping @Sendable (Bool) -> Void
        ) in
        guard error == nil else {
          saved(false)
          return endFetch(false)
        }
        processRemoteChanges(changes) { [self] processed in
          delayedSaveOrRollback { [self] isSaved in
            saved(processed && isSaved)
            endFetch(processed && isSaved)
          }
        }
      })
  }

  private func beginFetch() -> Bool {
    state.withValue { state in
      if state.isFetching { state.fetchesAgain = true }
      defer { state.isFetching = true }
      return !state.isFetching
    }
  }

  private func endFetch(_ succeeded: Bool) {
    let again = state.withValue { state in
      state.isFetching = false
      if succeeded { state.failedFetches = 0 }
      defer { state.fetchesAgain = false }
      return state.fetchesAgain
    }
    if !succeeded { retryLater(\.failedFetches) } else if again { fetchNewRemoteData() }
  }

  // MARK: What processors use

  /// The sync context.
  public var context: NSManagedObjectContext { syncContext }

  /// Schedules a block on the sync context's queue, in the group of all such work.
  public func perform(_ block: @escaping @Sendable () -> Void) {
    syncContext.perform(group: syncGroup, block: block)
  }

  /// Saves when the group's work is done.
  public func delayedSaveOrRollback(completion: @escaping (Bool) -> Void) {
    let rollbacks = state.withValue { $0.rollbacks }
    let completion = QueueConfined(completion, to: syncContext)
    syncContext.delayedSaveOrRollback(group: syncGroup, queue: saveQueue) { [self] succeeded in
      let isSaved = state.withValue { state in
        if !succeeded { state.rollbacks += 1 }
        return state.rollbacks == rollbacks
      }
      completion.withValue { $0(isSaved) }
      if !isSaved { retryLater() }
    }
  }

  /// Processes all tracked objects again after a delay, which doubles up to a minute until both a
  /// fetch and the processing of objects have succeeded.
  public func retryLater() { retryLater(\.failedWork) }

  /// Ends the doubling of delays, unless fetches fail.
  public func didProcessObjects() {
    state.withValue { $0.failedWork = 0 }
  }

  private func retryLater(_ failures: ReferenceWritableKeyPath<SyncState, Int>) {
    let delay: TimeInterval? = state.withValue { state in
      guard !state.isRetryScheduled else { return nil }
      state.isRetryScheduled = true
      defer { state[keyPath: failures] += 1 }
      return min(60, TimeInterval(1 << min(max(state.failedFetches, state.failedWork), 6)))
    }
    guard let delay else { return }
    schedule(delay) { [weak self] in
      self?.perform { [weak self] in
        guard let self else { return }
        state.withValue { $0.isRetryScheduled = false }
        processTrackedObjects()
        fetchRemoteData()
      }
    }
  }
}

/// The state of a sync coordinator, which belongs to the sync context's queue.
private final class SyncState {
  let processors: [any ChangeProcessor]
  /// Whether a fetch from the server is in progress.
  var isFetching = false
  /// Whether the server has changed while a fetch was in progress.
  var fetchesAgain = false
  /// Whether a retry is scheduled.
  var isRetryScheduled = false
  /// The number of retries for failed fetches since one has succeeded.
  var failedFetches = 0
  /// The number of retries for anything else since objects were processed successfully.
  var failedWork = 0
  /// The number of failed saves.
  var rollbacks = 0

  init(_ processors: [any ChangeProcessor]) {
    self.processors = processors
  }
}
