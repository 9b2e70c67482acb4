public import OpenCoreData

/// What stands between a results controller and a list, without the list.
///
/// It begins the controller, keeps the changes of a pass until it has ended, and gives them to its owner
/// at once, in the order in which a list applies them. Belongs to the context's queue.
public final class ListDataSource<Object: FetchableEntity>: NSFetchedResultsControllerDelegate {
  /// One change of the list.
  public enum Change: Equatable {
    /// A row came.
    case insert(IndexPath)
    /// A row shows other values.
    case update(IndexPath, Object)
    /// A row went to another place.
    case move(IndexPath, IndexPath)
    /// A row went.
    case delete(IndexPath)
  }

  private let controller: NSFetchedResultsController<Object>
  private let changed: ([Change]) -> Void
  private var changes: [Change] = []

  /// Fetches what the list shows, and follows it.
  ///
  /// Cost: that of the controller's first fetch.
  /// - Parameter changed: Called once for each pass with changes.
  /// - Throws: as `performFetch`.
  public init(
    _ controller: NSFetchedResultsController<Object>,
    changed: @escaping ([Change]) -> Void = { _ in }
  ) throws {
    self.controller = controller
    self.changed = changed
    controller.delegate = self
    try controller.performFetch()
  }

  /// How many rows there are.
  public var count: Int {
    controller.sections?.reduce(0) { $0 + $1.numberOfObjects } ?? 0
  }

  /// The object of a row.
  ///
  /// Cost: none, or a page of a batched request.
  public func object(at path: IndexPath) -> Object {
    controller.object(at: path)
  }

  /// Shows something else: changes the request and fetches again.
  ///
  /// - Throws: as `performFetch`.
  public func reconfigure(_ configure: (NSFetchRequest<Object>) -> Void) throws {
    NSFetchedResultsController<Object>.deleteCache(withName: controller.cacheName)
    configure(controller.fetchRequest)
    try controller.performFetch()
  }

  // MARK: The controller's changes

  /// Begins a pass.
  public func controllerWillChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {
    changes = []
  }

  /// Notes one change of the pass.
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

  /// Hands the pass on.
  public func controllerDidChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {
    changed(changes)
    changes = []
  }
}
