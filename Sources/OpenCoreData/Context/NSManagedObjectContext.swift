import Dispatch
import ManagedModel
package import ProfileEvents
import Synchronization

/// A scratch pad of objects over a coordinator's stores.
///
/// Objects are uniqued: one instance for each row. Nothing reaches a store before `save`. All calls but
/// `perform`, `performAndWait` and `init` belong on the context's queue. Apple counterpart:
/// `NSManagedObjectContext`.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
  // everything mutable is used on `queue` alone
  /// Where a context's work runs.
  public enum ConcurrencyType: UInt, Sendable {
    /// A serial queue of its own.
    case privateQueueConcurrencyType = 1
    /// The main queue; a command-line program has to run it (`dispatchMain()`).
    case mainQueueConcurrencyType = 2

    /// The shorter name of `privateQueueConcurrencyType`.
    public static let privateQueue = ConcurrencyType.privateQueueConcurrencyType
    /// The shorter name of `mainQueueConcurrencyType`.
    public static let mainQueue = ConcurrencyType.mainQueueConcurrencyType
  }

  /// Which queue the context was made for.
  public let concurrencyType: ConcurrencyType
  let queue: DispatchQueue
  /// Perform blocks around the present call.
  var depth = 0
  /// Whether the main queue will process pending changes, and whether the main run loop will look.
  final var (isProcessingScheduled, isInRunLoop) = (false, false)
  /// Reads around the present call; they share a snapshot.
  var readDepth = 0
  /// The thread that runs a block of this context; 0 between blocks.
  let runner = Atomic<UInt64>(0)
  /// The last error of a fault that could not be read, which has no caller to throw to.
  ///
  /// Such a fault becomes deleted with nil values, a to-many reads as empty; set to nil to look for
  /// the next one. On the context's queue.
  package final var faultError: NSError?
  /// Faults whose SELECT was stopped, which read as empty; see `forgetStoppedFaults()`.
  final var stoppedFaults: [NSManagedObject] = []
  @exclusivity(unchecked) var registry = ObjectRegistry()
  /// The model's, to tell objects of another model.
  private(set) var family: LayoutFamily?
  /// The store at the first place; set at first need.
  @exclusivity(unchecked) final var knownStore: RowStore?
  /// How many stores' objects the registry has room for.
  @exclusivity(unchecked) final var placeCount = 1
  /// The store whose row cache this context reads as it is, known from the first fault on; nil for a
  /// child, while the context is pinned to a query generation, and once objects of several stores may
  /// be registered.
  @exclusivity(unchecked) final var directStore: RowStore?
  /// The class that an object was last made of, and its entity.
  @exclusivity(unchecked) final var lastInserted:
    (type: NSManagedObject.Type, entity: NSEntityDescription)?
  /// Where this context reads and saves instead of the coordinator's stores.
  private var parentContext: NSManagedObjectContext?
  /// Whether a context was made a child of this one.
  let hasChildren = Atomic<Bool>(false)
  /// The permanent keys of objects that children may know by their temporary ones.
  var promotedKeys: [Int64: Int64] = [:]
  /// What the context is pinned to; nil when it reads whatever is newest.
  var pinnedToken: NSQueryGenerationToken?
  /// The undo manager, when there is one.
  var undoing: UndoRegistration?
  /// What has changed since the last `processPendingChanges`, while there is an undo manager.
  final var recorder: UndoRecorder?
  /// Whether a block of this context has asked the parent for something.
  var hasAskedParent = false
  /// The child contexts that merge by themselves.
  let followers = ContextFollowers()
  var mergesAutomatically = false
  let scope: ProfileScope
  /// What a new fault of this context is: watched when queues are guarded.
  final let faultState: ObjectState = QueueGuard.isOn ? .watched : .fault
  /// What a burst of faults reads from: the store that was read last.
  var burst: (any StoreReader)?
  /// What it has read other stores from.
  var otherBursts: [any StoreReader] = []
  /// What has changed since the last save, and since the last notification.
  var changes = PendingChanges()
  /// Counted up by each change, so that a round of `willSave` can tell whether it changed anything.
  @exclusivity(unchecked) final var changeCount = 0
  var coordinator: NSPersistentStoreCoordinator?

  /// How old a row of the row cache may be, in seconds: below 0, as by default, of any age; 0,
  /// never used; above 0, at most so old.
  ///
  /// An override is asked when a block of the context begins: where it gave a number below 0 then, a
  /// fault whose row was fetched does not ask again.
  /// Deviation: the book calls 0 "never stale".
  open var stalenessInterval: Double = -1 {
    didSet { askStaleness() }
  }
  /// Whether rows of the row cache are used however old they are.
  @exclusivity(unchecked) private(set) final var acceptsAnyAge = true

  /// Asks `stalenessInterval`, which may be overridden, whether faults have to ask it.
  final func askStaleness() {
    acceptsAnyAge = stalenessInterval < 0
  }

  /// Whether an object whose row is gone becomes deleted with nil values when its fault fires; with
  /// false, that traps.
  open var shouldDeleteInaccessibleFaults = true

  /// Whether deletions are carried through relationships at each `processPendingChanges` or only at
  /// save.
  open var propagatesDeletesAtEndOfEvent = true

  /// Whether registered objects stay although nobody else holds them.
  open var retainsRegisteredObjects = false

  /// The `NSMergePolicy` that settles the conflicts of a save.
  ///
  /// `NSMergePolicy.error` by default, with which the save throws. Traps for anything that is no policy.
  open var mergePolicy: Any = NSMergePolicy.error {
    didSet {
      precondition(mergePolicy is NSMergePolicy, "a merge policy is an NSMergePolicy")
    }
  }
  /// Whether batch sizes and prefetches of this child's fetches hold for its parent's.
  ///
  /// Apple's framework ignores both in a child, as this does by default. No Apple counterpart.
  open var prefetchesThroughParent = false

  /// Values of the application's own.
  open var userInfo: [AnyHashable: Any] = [:]

  /// Who saves through this context, for the persistent history.
  open var transactionAuthor: String? {
    get { scope.author }
    set { scope.author = newValue }
  }

  /// A name for events, reports and debugging.
  open var name: String? {
    get { scope.contextName }
    set { scope.contextName = newValue }
  }

  /// Makes a context without a coordinator; set `persistentStoreCoordinator` before using it.
  ///
  /// No statement.
  public init(concurrencyType: ConcurrencyType) {
    self.concurrencyType = concurrencyType
    switch concurrencyType {
    case .mainQueueConcurrencyType: queue = .main
    case .privateQueueConcurrencyType: queue = DispatchQueue(label: "NSManagedObjectContext")
    }
    scope = ProfileScope(hub: EventHub())
    super.init()
  }

  /// The shorter spelling of `init(concurrencyType:)`.
  public convenience init(_ type: ConcurrencyType) {
    self.init(concurrencyType: type)
  }

  /// Makes a context over a coordinator.
  convenience init(concurrencyType: ConcurrencyType, coordinator: NSPersistentStoreCoordinator) {
    self.init(concurrencyType: concurrencyType)
    attach(coordinator)
  }

  deinit {
    burst?.end()
    for burst in otherBursts { burst.end() }
    let (keys, survivors) = registry.removeAll()
    disown(keys)
    for object in survivors { object.keepStore(store(for: object)) }
  }

  /// Whether an object whose row is gone becomes deleted with nil values; asked when its fault fires.
  ///
  /// Gives `shouldDeleteInaccessibleFaults` unless it is overridden. With false the program ends there.
  /// - Parameters:
  ///   - fault: The object.
  ///   - oid: Its ID.
  ///   - property: Nil: which property was read is not kept.
  open func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID,
    triggeredByProperty property: NSPropertyDescription?
  ) -> Bool {
    shouldDeleteInaccessibleFaults
  }

  /// The coordinator whose stores the context reads and writes; set once, before first use.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { coordinator }
    set {
      precondition(coordinator == nil, "a context keeps the coordinator it was given first")
      if let newValue { attach(newValue) }
    }
  }

  /// The context that this one reads from and saves to, instead of the stores; set once, before first
  /// use.
  ///
  /// Fetches and faults ask the parent, whose unsaved changes they see, and wait for its queue; a save
  /// makes the changes the parent's and writes nothing. The parent is held. It needs its coordinator
  /// before it is set here. The book's chapter 10.
  open var parent: NSManagedObjectContext? {
    get { parentContext }
    set {
      precondition(
        coordinator == nil, "a context keeps the parent or coordinator it was given first")
      guard let newValue else { return }
      parentContext = newValue
      newValue.hasChildren.store(true, ordering: .relaxed)
      attach(newValue.requiredCoordinator)
    }
  }

  /// The counts of what this context caused since it was made.
  ///
  /// On its queue.
  package var counters: Counters {
    sweep()
    return scope.counters
  }

  /// The call site of the events from now on; nil lets each call name its own.
  package var callSite: CallSite? {
    get { scope.callSite }
    set { scope.callSite = newValue }
  }

  private func attach(_ coordinator: NSPersistentStoreCoordinator) {
    self.coordinator = coordinator
    askStaleness()
    scope.hub = coordinator.eventHub
    family = coordinator.managedObjectModel.entities.first.map { EntityLayout.of($0).family }
    registry.prepare(
      entityCount: coordinator.managedObjectModel.entities.count,
      rootCount: coordinator.managedObjectModel.entities.count { $0.superentity == nil })
  }

  /// The coordinator, which every request needs; traps when none was set.
  var requiredCoordinator: NSPersistentStoreCoordinator {
    guard let coordinator else {
      preconditionFailure(
        "this context has no persistent store coordinator, so it has no model and no store: set one "
          + "before using it")
    }
    return coordinator
  }
}

/// Where a context's work runs, by its older name.
public typealias NSManagedObjectContextConcurrencyType = NSManagedObjectContext.ConcurrencyType
