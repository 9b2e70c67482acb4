public import OpenCoreData

/// A data source that connects a fetched results controller to a list.
///
/// The data source starts the controller, collects the changes of an update until it ends, and then
/// passes them to its owner in the order in which a list applies them. Use it on the context's
/// queue.
public final class ListDataSource<Object: FetchableEntity>: NSFetchedResultsControllerDelegate {
  /// A change of the list.
  public enum Change: Equatable {
    /// A row was inserted.
    case insert(IndexPath)
    /// A row shows different values.
    case update(IndexPath, Object)
    /// A row was moved.
    case move(IndexPath, IndexPath)
    /// A row was deleted.
    case delete(IndexPath)
  }

  private let controller: NSFetchedResultsController<Object>
  private let changed: ([Change]) -> Void
  private var changes: [Change] = []

  /// Fetches the objects of the list and observes changes.
  ///
  /// **Cost**: the controller's first fetch.
  ///
  /// - Parameters:
  ///   - controller: The fetched results controller.
  ///   - changed: A closure that is called once for each update that contains changes.
  /// - Throws: The error of `performFetch()`.
  public init(
    _ controller: NSFetchedResultsController<Object>,
    changed: @escaping ([Change]) -> Void = { _ in }
  ) throws {
    self.controller = controller
    self.changed = changed
    controller.delegate = self
    try controller.performFetch()
  }

  /// The number of rows.
  public var count: Int {
    controller.sections?.reduce(0) { $0 + $1.numberOfObjects } ?? 0
  }

  /// Returns the object of a row.
  ///
  /// **Cost**: none, or loading a batch of a batched request.
  public func object(at path: IndexPath) -> Object {
    controller.object(at: path)
  }

  /// Changes the fetch request and fetches again, without what the controller's cache has.
  ///
  /// - Throws: The error of `performFetch()`.
  public func reconfigure(_ configure: (NSFetchRequest<Object>) -> Void) throws {
    // Without a name, the caches of all controllers would be deleted.
    if let name = controller.cacheName {
      NSFetchedResultsController<Object>.deleteCache(withName: name)
    }
    configure(controller.fetchRequest)
    try controller.performFetch()
  }

  // MARK: The controller's changes

  /// Starts collecting changes.
  public func controllerWillChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {
    changes = []
  }

  /// Collects one change.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    switch (type, indexPath, newIndexPath) {
    case (.insert, _, let path?): changes.append(.insert(path))
    case (.delete, let path?, _): changes.append(.delete(path))
    case (.move, let old?, let new?): changes.append(.move(old, new))
    case (.update, let path?, _):
      if let object = anObject as? Object { changes.append(.update(path, object)) }
    default: break
    }
  }

  /// Passes the collected changes to the owner.
  public func controllerDidChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {
    changed(changes)
    changes = []
  }
}
