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
  /// The thread that runs a block of this context; 0 between blocks.
  let runner = Atomic<UInt64>(0)
  @exclusivity(unchecked) var registry = ObjectRegistry()
  /// The model's, to tell objects of another model.
  private(set) var family: LayoutFamily?
  /// The class that an object was last made of, and its entity.
  @exclusivity(unchecked) final var lastInserted:
    (type: NSManagedObject.Type, entity: NSEntityDescription)?
  /// Where this context reads and saves instead of the coordinator's stores.
  private var parentContext: NSManagedObjectContext?
  /// Whether a context was made a child of this one.
  let hasChildren = Atomic<Bool>(false)
  /// What children may ask for.
  final var children = ChildLink()
  /// The `perform` blocks that are running.
  @exclusivity(unchecked) final var blocks = BlockState()
  /// The read transaction and the query generation.
  @exclusivity(unchecked) final var reads = ReadSession()
  /// The undo manager.
  @exclusivity(unchecked) final var undoState = UndoState()
  /// The faults that could not be read.
  final var faultFailures = FaultFailures()
  /// The child contexts that merge by themselves.
  let mergeObservers = AutomaticMergeObservers<NSManagedObjectContext>()
  var mergesAutomatically = false
  let scope: ProfileScope
  /// What a new fault of this context is: watched when queues are guarded.
  final let faultState: ObjectState = QueueGuard.isOn ? .watched : .fault
  /// What has changed since the last save, and since the last notification.
  @exclusivity(unchecked) final var changes = PendingChanges()
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
  /// `NSMergePolicy.error` by default, with which the save throws. Traps for anything that isn't a policy.
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
    reads.end()
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
