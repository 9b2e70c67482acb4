public import OpenCoreData

/// A part of synchronizing that processes one kind of change.
///
/// A processor belongs to the queue of the sync context, on which all methods are called. It
/// decides by entity and predicate what to process, so that work that was left over when the
/// program quit is found again with a fetch.
public protocol ChangeProcessor: AnyObject {
  /// Prepares the processor; called once.
  func setup(for context: any ChangeProcessorContext)

  /// Processes those of the inserted or updated objects that match.
  func processChangedLocalObjects(
    _ objects: [NSManagedObject], in context: any ChangeProcessorContext)

  /// Processes changes of the server.
  ///
  /// - Parameter completion: A closure to call on the sync context's queue when the changes are
  ///   processed. Its argument is `false` if the changes must be fetched again.
  func processRemoteChanges<Record: RemoteRecord>(
    _ changes: [RemoteRecordChange<Record>], in context: any ChangeProcessorContext,
    completion: @escaping (Bool) -> Void)

  /// Returns the objects to fetch and process when the program starts, or `nil` if there are none.
  func entityAndPredicateForLocallyTrackedObjects(
    in context: any ChangeProcessorContext
  ) -> EntityAndPredicate?

  /// Fetches the latest records from the server, for a device that has none.
  ///
  /// - Parameter completion: A closure to call on the sync context's queue. Its argument is `false`
  ///   if the fetch must be repeated.
  func fetchLatestRemoteRecords(
    in context: any ChangeProcessorContext, completion: @escaping (Bool) -> Void)
}

/// What a change processor works with.
public protocol ChangeProcessorContext: AnyObject, Sendable {
  /// The sync context.
  var context: NSManagedObjectContext { get }
  /// The server.
  var remote: any MoodyRemote { get }

  /// Schedules a block on the sync context's queue, in the group of all such work.
  func perform(_ block: @escaping @Sendable () -> Void)

  /// Saves when the group's work is done; see
  /// `NSManagedObjectContext.delayedSaveOrRollback(group:completion:)`.
  ///
  /// - Parameter completion: A closure that is called on the sync context's queue. Its argument is
  ///   `false` if unsaved changes were rolled back in the meantime.
  func delayedSaveOrRollback(completion: @escaping (Bool) -> Void)

  /// Processes all tracked objects again later, and fetches new changes.
  func retryLater()

  /// States that all objects of a request were processed, so that the next retry needs no longer
  /// delay.
  func didProcessObjects()

  /// Fetches new changes from the server; can be called on any queue.
  func remoteDidChange()
}

extension ChangeProcessorContext {
  /// Saves when the group's work is done.
  public func delayedSaveOrRollback() {
    delayedSaveOrRollback { _ in }
  }

  /// Returns a closure for other queues that runs a block on the sync context's queue, once.
  ///
  /// Call this method on the sync context's queue, to which the block and what it captures belong.
  /// If the closure is called again, it has no effect, as a server may answer twice.
  public func perform<First: Sendable, Second: Sendable>(
    _ block: @escaping (First, Second) -> Void
  ) -> @Sendable (First, Second) -> Void {
    let wrapped = perform { (first: First, second: Second, _: ()) in block(first, second) }
    return { first, second in wrapped(first, second, ()) }
  }

  /// Returns a closure with three arguments for other queues; see `perform(_:)` for two arguments.
  public func perform<First: Sendable, Second: Sendable, Third: Sendable>(
    _ block: @escaping (First, Second, Third) -> Void
  ) -> @Sendable (First, Second, Third) -> Void {
    let pending = QueueConfined(PendingBlock(block), to: context)
    return { [self] first, second, third in
      perform { pending.withValue { $0.take()?(first, second, third) } }
    }
  }
}

/// A block that runs at most once.
private final class PendingBlock<First, Second, Third> {
  private var block: ((First, Second, Third) -> Void)?

  init(_ block: @escaping (First, Second, Third) -> Void) {
    self.block = block
  }

  func take() -> ((First, Second, Third) -> Void)? {
    defer { block = nil }
    return block
  }
}

/// The objects that a change processor tracks.
public struct EntityAndPredicate {
  /// The entity.
  public let entity: NSEntityDescription
  /// The predicate.
  public let predicate: NSPredicate

  /// Creates a description of the objects of an entity that match a predicate.
  public init(entity: NSEntityDescription, predicate: NSPredicate) {
    self.entity = entity
    self.predicate = predicate
  }

  /// A fetch request for the objects, which returns realized objects.
  public var fetchRequest: NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>()
    request.entity = entity
    request.predicate = predicate
    request.returnsObjectsAsFaults = false
    return request
  }

  /// Returns whether an object has the entity and matches.
  ///
  /// **Cost**: firing the object, if it's a fault of the entity.
  public func matches(_ object: NSManagedObject) -> Bool {
    object.entity === entity && !object.isDeleted && predicate.evaluate(with: object)
  }
}
