import ManagedModel

/// Hears how the results of a controller change.
///
/// Each method may be left out. All are called on the context's queue, from within
/// `processPendingChanges` or a merge. The controller that is handed over gives objects as
/// `any NSFetchRequestResult`; it is another instance over the same results, because generic classes do
/// not convert on Linux. Apple counterpart: the same name.
public protocol NSFetchedResultsControllerDelegate: AnyObject {
  /// Changes are about to be told.
  func controllerWillChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// A section came or went; told before the changes of objects.
  ///
  /// - Parameters:
  ///   - sectionInfo: The section.
  ///   - sectionIndex: Its old index when it went, its new one when it came.
  ///   - type: `insert` or `delete`.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)

  /// An object came, went, changed, or changed and moved.
  ///
  /// - Parameters:
  ///   - indexPath: Where it was before all of these changes; nil when it came.
  ///   - newIndexPath: Where it is after all of them when it came or moved; nil otherwise.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

  /// All changes were told.
  func controllerDidChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// The results changed; what went and came, moves as both, in terms of all objects in order.
  ///
  /// Told before `controllerDidChangeContent`, and only when there are no sections.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

  /// What an index beside the list shows for a section; by default the first letter in capitals.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String?
}

extension NSFetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}

  /// Does nothing.
  public func controllerDidChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) {}

  /// The first letter in capitals.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? {
    FetchedResults.indexTitle(sectionName)
  }
}
