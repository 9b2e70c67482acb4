import Dispatch
import ManagedModel
package import ProfileEvents
import Synchronization

/// A space to create, fetch, and change objects of a coordinator's stores.
///
/// Objects are uniqued: one instance for each row. Changes reach a store only with `save`. All
/// calls except `perform`, `performAndWait`, and `init` must be made on the context's queue. Apple
/// counterpart: `NSManagedObjectContext`.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
  // all mutable state is used only on `queue`
  /// Where a context's work runs.
  public enum ConcurrencyType: UInt, Sendable {
    /// The context's own serial queue.
    case privateQueueConcurrencyType = 1
    /// The main queue, which a command-line program must run (`dispatchMain()`).
    case mainQueueConcurrencyType = 2

    /// The shorter name of `privateQueueConcurrencyType`.
    public static let privateQueue = ConcurrencyType.privateQueueConcurrencyType
    /// The shorter name of `mainQueueConcurrencyType`.
    public static let mainQueue = ConcurrencyType.mainQueueConcurrencyType
  }

  /// The type of queue that the context was created with.
  public let concurrencyType: ConcurrencyType
  let queue: DispatchQueue
  /// The thread that is running a block of this context; 0 between blocks.
  let runner = Atomic<UInt64>(0)
  @exclusivity(unchecked) var registry = ObjectRegistry()
  /// The layouts of the model, to detect objects of another model.
  @exclusivity(unchecked) private(set) final var family: LayoutFamily?
  /// The class of the object that was created last, and its entity.
  @exclusivity(unchecked) final var lastInserted:
    (type: NSManagedObject.Type, entity: NSEntityDescription)?
  /// The parent context that this one reads from and saves to, instead of the stores.
  private var parentContext: NSManagedObjectContext?
  /// Whether this context is or was the parent of another.
  let hasChildren = Atomic<Bool>(false)
  /// What this context stores for its children.
  final let children = ChildLink()
  /// The `perform` blocks that are running.
  @exclusivity(unchecked) final var blocks = BlockState()
  /// The read transaction and the query generation.
  @exclusivity(unchecked) final var reads = ReadSession()
  /// Whether an object of another class than its entity's was inserted, so that fetches must check
  /// the class of each object.
  final var hasObjectsOfOtherClasses = false
  /// The undo manager.
  @exclusivity(unchecked) final var undoState = UndoState()
  /// The faults that couldn't be fulfilled.
  final var faultFailures = FaultFailures()
  /// The child contexts that merge changes automatically.
  let mergeObservers = AutomaticMergeObservers<NSManagedObjectContext>()
  var mergesAutomatically = false
  /// The objects that list rows whose objects may not be registered, such as fetched results.
  final var followers: [WeakRowFollower] = []
  let scope: ProfileScope
  /// The state of a new fault of this context, which is watched if queues are guarded.
  final let faultState: ObjectState = QueueGuard.isOn ? .watched : .fault
  /// What has changed since the last save, and since the last notification.
  @exclusivity(unchecked) final var changes = PendingChanges()
  /// The history transactions of the last save, by the identifiers of the stores.
  @exclusivity(unchecked) final var savedTransactions: [String: Int64] = [:]
  @exclusivity(unchecked) final var coordinator: NSPersistentStoreCoordinator?

  /// The maximum age of a row-cache entry in seconds: negative, the default, for any age; 0 to
  /// never use entries; positive for at most that age.
  ///
  /// An override is read when a block of the context begins: if it was negative then, a fault whose
  /// row was fetched doesn't read it again.
  /// Deviation: the book calls 0 "never stale".
  open var stalenessInterval: Double = -1 {
    didSet { askStaleness() }
  }
  /// Whether rows of the row cache are used regardless of age.
  @exclusivity(unchecked) private(set) final var acceptsAnyAge = true

  /// Reads `stalenessInterval`, which may be overridden, to determine whether faults must check it.
  final func askStaleness() {
    acceptsAnyAge = stalenessInterval < 0
  }

  /// Whether firing a fault whose row doesn't exist deletes the object and sets its values to
  /// `nil`; if `false`, it stops the program.
  open var shouldDeleteInaccessibleFaults = true

  /// Whether deletions propagate through relationships at each `processPendingChanges` or only at
  /// save.
  open var propagatesDeletesAtEndOfEvent = true

  /// Whether the context keeps strong references to all registered objects.
  open var retainsRegisteredObjects = false

  /// The `NSMergePolicy` that resolves the conflicts of a save.
  ///
  /// `NSMergePolicy.error` by default, with which the save throws. It's a programmer error to set
  /// anything else.
  open var mergePolicy: Any = NSMergePolicy.error {
    didSet {
      guard mergePolicy is NSMergePolicy else { fatalError("a merge policy is an NSMergePolicy") }
    }
  }
  /// Whether a save validates the changes; a migration validates them at its end.
  final var validatesOnSave = true

  /// Whether batch sizes and prefetches of this child's fetches also apply in its parent.
  ///
  /// By default a child ignores both, like Core Data. No Apple counterpart.
  open var prefetchesThroughParent = false

  /// Values that the application stores with the context.
  open var userInfo: [AnyHashable: Any] = [:]

  /// The author of this context's transactions in the persistent history.
  open var transactionAuthor: String? {
    get { scope.author }
    set { scope.author = newValue }
  }

  /// A name for events, reports and debugging.
  open var name: String? {
    get { scope.contextName }
    set { scope.contextName = newValue }
  }

  /// Creates a context without a coordinator; set `persistentStoreCoordinator` before you use it.
  ///
  /// No statements.
  public init(concurrencyType: ConcurrencyType) {
    self.concurrencyType = concurrencyType
    switch concurrencyType {
    case .mainQueueConcurrencyType: queue = .main
    case .privateQueueConcurrencyType: queue = DispatchQueue(label: "NSManagedObjectContext")
    }
    scope = ProfileScope(hub: EventHub())
    super.init()
  }

  /// Creates a context; the shorter spelling of `init(concurrencyType:)`.
  public convenience init(_ type: ConcurrencyType) {
    self.init(concurrencyType: type)
  }

  /// Creates a context with a coordinator.
  convenience init(concurrencyType: ConcurrencyType, coordinator: NSPersistentStoreCoordinator) {
    self.init(concurrencyType: concurrencyType)
    attach(coordinator)
  }

  deinit {
    reads.end()
    let (keys, survivors) = registry.removeAll()
    removeOwner(of: keys)
    for object in survivors { object.keepStore(store(for: object)) }
    parentContext?.children.removeChild()
  }

  /// Returns whether an object whose row doesn't exist becomes deleted with `nil` values; called
  /// when its fault fires.
  ///
  /// Returns `shouldDeleteInaccessibleFaults` unless overridden. With `false`, the program stops.
  /// - Parameters:
  ///   - fault: The object.
  ///   - oid: Its object ID.
  ///   - property: Always `nil`; the property that was read isn't recorded.
  open func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID,
    triggeredByProperty property: NSPropertyDescription?
  ) -> Bool {
    shouldDeleteInaccessibleFaults
  }

  /// The coordinator whose stores the context reads and writes; set it once, before first use.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { coordinator }
    set {
      guard coordinator == nil else { fatalError("a context's coordinator can't be replaced") }
      if let newValue { attach(newValue) }
    }
  }

  /// The context that this one reads from and saves to, instead of the stores; set it once, before
  /// first use.
  ///
  /// Fetches and faults query the parent, including its unsaved changes, and wait for its queue; a
  /// save applies the changes to the parent and writes nothing to a store. The child keeps a strong
  /// reference to the parent, which needs its coordinator before it's set here. See the book's
  /// chapter 10.
  open var parent: NSManagedObjectContext? {
    get { parentContext }
    set {
      guard coordinator == nil else {
        fatalError("a context's parent or coordinator can't be replaced")
      }
      guard let newValue else { return }
      parentContext = newValue
      newValue.hasChildren.store(true, ordering: .relaxed)
      newValue.children.addChild()
      attach(newValue.requiredCoordinator)
    }
  }

  // MARK: Methods that a subclass can override

  /// Saves all changes to the store, or none of them.
  ///
  /// Processes pending changes, posts will-save, validates, calls `willSave` until nothing changes,
  /// compares row versions with the row cache, reserves primary keys for new objects in a separate
  /// transaction, writes everything in a second transaction that compares versions with the store,
  /// calls `didSave`, and posts did-save. The merge policy resolves conflicts, and the save is
  /// attempted again. Without changes, both notifications are posted, did-save with empty sets.
  /// Validation includes transient properties: a required one must have a default value, or be set
  /// again in an object that was read from the store.
  ///
  /// Each of several stores writes its own objects in its own transaction, and commits only after
  /// all have written and have compared versions and constraints. If a COMMIT fails after another
  /// has succeeded, the save throws the error and is partial: what was committed is saved and
  /// posted, and the rest stays unsaved, for another save to write.
  ///
  /// **Cost:** one INSERT, UPDATE, or DELETE for each row and join row, in one transaction; for new
  /// objects, an earlier transaction that reserves their primary keys; one SELECT for each changed
  /// ordered relationship, another if it was refreshed and not read since, and one for each row
  /// that was changed elsewhere. In a child context, none.
  /// - Throws: 1550–1680 for a failed validation (several as 1560), 133020 if a row has changed
  ///   since it was read, 133021 if a uniqueness constraint is violated, 134070 if `willSave` keeps
  ///   making changes, 134030 if there's no store, the store is read-only, or a relationship refers
  ///   to another store; otherwise an error of the store. Changes stay unsaved, and IDs temporary.
  open func save(file: String = #fileID, line: Int = #line) throws {
    try save(at: file, line)
  }

  /// Executes a request: a batch request, a history request, a fetch, or an asynchronous fetch.
  ///
  /// Batch requests bypass the context: see `NSBatchUpdateRequest` and the other request types for
  /// costs and limitations. A fetch costs the same as `fetch(_:)`. Call it on the context's queue.
  /// - Returns: The result type of the request; for a fetch, an `NSAsynchronousFetchResult`, whose
  ///   `finalResult` is set later if it's asynchronous.
  /// - Throws: 134091 if the store doesn't support the request, 134030 for a batch on a read-only
  ///   store, 134301 for an expired history token; otherwise an error of the request or the store.
  @discardableResult
  open func execute(
    _ request: NSPersistentStoreRequest, file: String = #fileID, line: Int = #line
  ) throws -> NSPersistentStoreResult {
    try run(request, at: file, line)
  }

  /// Marks an object for deletion; the next save deletes its row.
  ///
  /// Calls `prepareForDeletion`. An object that was never saved leaves the context with the next
  /// `processPendingChanges`, which applies the delete rules of the relationships and may fire
  /// faults. An object without a context, such as one whose deletion was saved, isn't in any store
  /// and is ignored. A to-one relationship that's set to the object afterward fails the save with
  /// 1550. It's a programmer error to pass an object of another context. No statements.
  ///
  /// Delete rules, saves of child contexts, merge policies, and undo delete objects without calling
  /// an override, and so do merges of deletions that this context's store already has.
  open func delete(_ object: NSManagedObject) { markForDeletion(object) }

  /// Discards the loaded values of an object, so that they are read again.
  ///
  /// With `mergeChanges`, an object keeps its unsaved changes, and its other values are updated
  /// from the row cache or, if that has no row of an age that `stalenessInterval` accepts, from the
  /// store. Otherwise it turns into a fault and its unsaved changes are lost, so that one side of a
  /// relationship may differ from the other. A new object keeps its values with `mergeChanges`;
  /// otherwise it turns into a fault that is fulfilled with the model's default values, and the
  /// next save still inserts it. The next did-change lists the object as refreshed. A to-many
  /// relationship with changes is read again by the next access, which merges them. If the row's
  /// to-one relationship has changed and the object keeps a change of it, the row's destination is
  /// updated, because the change removes the object from it. **Cost:** none, except one SELECT if
  /// unsaved changes are kept and the row cache has no such row, and a fault for such a
  /// destination; the row stays cached while the object is retained.
  open func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
    refreshObject(object, mergeChanges: mergeChanges)
  }

  /// Refreshes every registered object and keeps unsaved changes.
  ///
  /// A context that is pinned to a query generation advances to the newest.
  open func refreshAllObjects() { refreshEveryObject() }

  /// Deregisters every object and discards all unsaved changes.
  ///
  /// Objects that are retained elsewhere turn into faults without a context: their persistent
  /// properties read as `nil`, their transient ones as the model's default values. The undo stack
  /// is emptied, a pinned context advances to the newest query generation, and did-change is posted
  /// with an array of the objects' IDs under `NSInvalidatedAllObjectsKey`, unless no object was
  /// registered.
  open func reset() { deregisterEveryObject() }

  /// Discards all unsaved changes: new objects are deregistered, changed ones turn into faults,
  /// deleted ones stay.
  ///
  /// The undo stack is emptied. Posts did-change, which lists the new objects as deleted and the
  /// others as refreshed.
  open func rollback() { discardChanges() }

  /// Whether it has a parent, without a reference to it.
  final var hasParent: Bool { parentContext != nil }

  /// The counts of what this context has caused since it was created.
  ///
  /// Use it on the context's queue.
  package var counters: Counters {
    sweep()
    return scope.counters
  }

  /// The call site of subsequent events; if `nil`, each call records its own.
  package var callSite: CallSite? {
    get { scope.callSite }
    set { scope.callSite = newValue }
  }

  private func attach(_ coordinator: NSPersistentStoreCoordinator) {
    self.coordinator = coordinator
    if mergesAutomatically { (parent?.mergeObservers ?? coordinator.mergeObservers).add(self) }
    askStaleness()
    scope.hub = coordinator.eventHub
    family = coordinator.managedObjectModel.entities.first.map { EntityLayout.of($0).family }
    registry.prepare(
      entityCount: coordinator.managedObjectModel.entities.count,
      rootCount: coordinator.managedObjectModel.entities.count { $0.superentity == nil })
  }

  /// The coordinator, which every request needs; it's a programmer error if none was set.
  var requiredCoordinator: NSPersistentStoreCoordinator {
    guard let coordinator else {
      fatalError(
        "this context has no persistent store coordinator, so it has no model and no store: set one "
          + "before using it")
    }
    return coordinator
  }
}

/// The older name of ``NSManagedObjectContext/ConcurrencyType``.
public typealias NSManagedObjectContextConcurrencyType = NSManagedObjectContext.ConcurrencyType

extension NSEntityDescription {
  /// Returns the entity with a name from the context's model; `nil` if there's none.
  public static func entity(
    forEntityName entityName: String, in context: NSManagedObjectContext
  ) -> NSEntityDescription? {
    context.entityNamed(entityName)
  }

  /// Inserts a new object of the entity with a name.
  ///
  /// No statements. It's a programmer error if the context has no coordinator, or its model no such
  /// entity.
  public static func insertNewObject(
    forEntityName entityName: String, into context: NSManagedObjectContext
  ) -> NSManagedObject {
    let model = context.requiredCoordinator.managedObjectModel
    guard let entity = model.entitiesByName[entityName] else {
      fatalError(
        "the model has no entity '\(entityName)'. It has: "
          + model.entitiesByName.keys.sorted().joined(separator: ", "))
    }
    return EntityLayout.of(entity).objectClass.init(entity: entity, insertInto: context)
  }
}
