import Dispatch
import Moody
import MoodySync
import OpenCoreData
import Synchronization
import Testing

/// A store in a temporary folder, which several stacks can open one after the other.
final class StoreFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("MoodySyncTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }
}

/// A coordinator of a store, with a view context, a sync context, and a remote that the test
/// controls.
final class SyncStack: Sendable {
  let folder: StoreFolder
  let store: NSPersistentStoreCoordinator
  let view: NSManagedObjectContext
  let sync: NSManagedObjectContext
  let remote = TestRemote()
  let retries = Retries()

  init(
    _ folder: StoreFolder? = nil, model: NSManagedObjectModel = MoodyModel.make(),
    pragmas: [String: String] = [:]
  ) throws {
    MoodyContainer.registerClasses()
    self.folder = try folder ?? StoreFolder()
    store = NSPersistentStoreCoordinator(managedObjectModel: model)
    try store.addPersistentStore(
      type: .sqlite, at: self.folder.url.appendingPathComponent("Moody.sqlite"),
      options: [NSSQLitePragmasOption: pragmas])
    view = NSManagedObjectContext(.privateQueue)
    view.persistentStoreCoordinator = store
    sync = NSManagedObjectContext(.privateQueue)
    sync.persistentStoreCoordinator = store
  }

  /// Starts synchronizing.
  func coordinator(
    _ processors: sending [any ChangeProcessor] = [MoodUploader(), MoodDownloader(), MoodRemover()]
  ) -> SyncCoordinator {
    SyncCoordinator(
      viewContext: view, syncContext: sync, remote: remote, changeProcessors: processors,
      schedule: { [retries] delay, block in retries.add(delay, block) })
  }

  /// Inserts and saves moods in the view context.
  @discardableResult
  func insertMoods(
    _ count: Int = 1, configure: @Sendable (Mood) -> Void = { _ in }
  ) throws -> [NSManagedObjectID] {
    try view.performAndWait {
      let moods = (1...count).map { view.mood($0) }
      moods.forEach(configure)
      try view.save()
      return moods.map(\.objectID)
    }
  }

  /// Reads a mood in a new context.
  func read<Value>(_ id: NSManagedObjectID, _ body: (Mood) throws -> Value) throws -> Value {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = store
    return try context.performAndWait {
      try body(try #require(try context.existingObject(with: id) as? Mood))
    }
  }

  /// Returns the number of visible moods in a new context.
  func visibleMoods() throws -> Int {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = store
    return try context.performAndWait { try context.count(for: Mood.visibleFetchRequest) }
  }

  /// Waits for what is scheduled on the sync context's queue.
  func drain() { sync.performAndWait {} }
}

/// Waits until a condition is met; fails after ten seconds.
func eventually(
  _ what: Comment, at place: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
) rethrows {
  for _ in 0..<10_000 {
    if try condition() { return }
    Thread.sleep(forTimeInterval: 0.001)
  }
  Issue.record(what, sourceLocation: place)
}

extension NSManagedObjectContext {
  @discardableResult
  func mood(_ minute: Int) -> Mood {
    let mood: Mood = insertObject()
    mood.date = Date(timeIntervalSinceReferenceDate: Double(minute) * 60)
    mood.colors = Data([1, 2, 3])
    return mood
  }
}

/// A remote that keeps its requests until the test answers them.
final class TestRemote: MoodyRemote {
  struct Upload: Sendable {
    let moods: [RemoteMood]
    let answer: @Sendable ([RemoteMood], RemoteError?) -> Void
  }

  struct Removal: Sendable {
    let ids: [RemoteRecordID]
    let answer: @Sendable ([RemoteRecordID], RemoteError?) -> Void
  }

  typealias Latest = @Sendable ([RemoteMood], RemoteError?) -> Void
  typealias New =
    @Sendable (
      [RemoteRecordChange<RemoteMood>], RemoteError?, @escaping @Sendable (Bool) -> Void
    ) -> Void

  private struct Requests {
    var uploads: [Upload] = []
    var removals: [Removal] = []
    var latest: [Latest] = []
    var new: [New] = []
    var changed: (@Sendable () -> Void)?
  }

  private let requests = Mutex(Requests())

  var uploads: [Upload] { requests.withLock { $0.uploads } }
  var removals: [Removal] { requests.withLock { $0.removals } }
  var latest: [Latest] { requests.withLock { $0.latest } }
  var new: [New] { requests.withLock { $0.new } }
  var changed: (@Sendable () -> Void)? { requests.withLock { $0.changed } }

  func setupMoodSubscription(_ changed: @escaping @Sendable () -> Void) {
    requests.withLock { $0.changed = changed }
  }

  func fetchLatestMoods(completion: @escaping Latest) {
    requests.withLock { $0.latest.append(completion) }
  }

  func fetchNewMoods(completion: @escaping New) {
    requests.withLock { $0.new.append(completion) }
  }

  func upload(
    _ moods: [RemoteMood], completion: @escaping @Sendable ([RemoteMood], RemoteError?) -> Void
  ) {
    requests.withLock { $0.uploads.append(Upload(moods: moods, answer: completion)) }
  }

  func removeMoods(
    _ ids: [RemoteRecordID],
    completion: @escaping @Sendable ([RemoteRecordID], RemoteError?) -> Void
  ) {
    requests.withLock { $0.removals.append(Removal(ids: ids, answer: completion)) }
  }
}

/// The scheduled retries, which run when the test lets them.
final class Retries: Sendable {
  private let scheduled = Mutex<[(delay: TimeInterval, block: @Sendable () -> Void)]>([])
  private let all = Mutex<[TimeInterval]>([])

  /// The delays of all retries, including those that have run.
  var delays: [TimeInterval] { all.withLock { $0 } }

  func add(_ delay: TimeInterval, _ block: @escaping @Sendable () -> Void) {
    all.withLock { $0.append(delay) }
    scheduled.withLock { $0.append((delay, block)) }
  }

  /// Runs the scheduled retries, and returns the longest delay; `nil` if there are none.
  @discardableResult
  func run() -> TimeInterval? {
    let retries = scheduled.withLock { scheduled in
      defer { scheduled = [] }
      return scheduled
    }
    for retry in retries { retry.block() }
    return retries.map(\.delay).max()
  }
}

/// Values that the queues of contexts record.
final class Log<Value: Sendable>: Sendable {
  private let recorded = Mutex<[Value]>([])

  var values: [Value] { recorded.withLock { $0 } }

  func add(_ value: Value) { recorded.withLock { $0.append(value) } }
}

/// A change processor that passes objects and changes to closures.
final class Probe: ChangeProcessor {
  typealias Completion = (Bool) -> Void
  private let local: @Sendable ([NSManagedObject], any ChangeProcessorContext) -> Void
  private let remote: (@escaping Completion) -> Void

  init(
    local: @escaping @Sendable ([NSManagedObject], any ChangeProcessorContext) -> Void = { _, _ in
    },
    remote: @escaping @Sendable (@escaping Completion) -> Void = { $0(true) }
  ) {
    self.local = local
    self.remote = remote
  }

  func setup(for context: any ChangeProcessorContext) {}

  func processChangedLocalObjects(
    _ objects: [NSManagedObject], in context: any ChangeProcessorContext
  ) {
    local(objects, context)
  }

  func processRemoteChanges<Record: RemoteRecord>(
    _ changes: [RemoteRecordChange<Record>], in context: any ChangeProcessorContext,
    completion: @escaping Completion
  ) {
    remote(completion)
  }

  func entityAndPredicateForLocallyTrackedObjects(
    in context: any ChangeProcessorContext
  ) -> EntityAndPredicate? {
    nil
  }

  func fetchLatestRemoteRecords(
    in context: any ChangeProcessorContext, completion: @escaping Completion
  ) {
    completion(true)
  }
}
