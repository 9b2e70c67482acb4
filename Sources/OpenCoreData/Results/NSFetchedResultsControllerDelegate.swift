import ManagedModel

/// Receives the changes of a controller's results.
///
/// All methods are optional, and are called on the context's queue, from `processPendingChanges` or a
/// merge. The controller that is passed returns objects as `any NSFetchRequestResult`; it's another
/// instance with the same results, because generic classes can't be cast on Linux. Apple counterpart:
/// the same name.
public protocol NSFetchedResultsControllerDelegate: AnyObject {
  /// Called before changes are reported.
  func controllerWillChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// Called when a section was inserted or deleted, before the changes of objects.
  ///
  /// - Parameters:
  ///   - sectionInfo: The section.
  ///   - sectionIndex: Its old index if deleted, its new one if inserted.
  ///   - type: `insert` or `delete`.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)

  /// Called when an object was inserted, deleted, updated, or moved.
  ///
  /// - Parameters:
  ///   - indexPath: Its index path before all of these changes; nil if inserted.
  ///   - newIndexPath: Its index path after all of them if inserted or moved; nil otherwise.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

  /// Called after all changes were reported.
  func controllerDidChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// Called with the removed and inserted object IDs of the whole list; a move is both.
  ///
  /// Called before `controllerDidChangeContent`, and only if there are no sections.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

  /// Returns the section index title of a section; by default the uppercase first letter.
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

  /// Returns the uppercase first letter.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? {
    FetchedResults.indexTitle(sectionName)
  }
}

/// The kind of change to an object or a section of a controller's results.
///
/// Apple counterpart: the same name.
public enum NSFetchedResultsChangeType: UInt, Sendable {
  /// It was inserted.
  case insert = 1
  /// It was deleted.
  case delete = 2
  /// It was changed and moved; never for a section.
  case move = 3
  /// It was changed and didn't move; never for a section.
  case update = 4
}

/// A section of the results of a controller.
///
/// Apple counterpart: the same name.
public protocol NSFetchedResultsSectionInfo {
  /// The value of the section key path, as a string; empty if there's no such path.
  var name: String { get }
  /// The title in a section index: the uppercase first letter of the name.
  var indexTitle: String? { get }
  /// The number of objects in the section; needs no statement.
  var numberOfObjects: Int { get }
  /// The section's objects; with a batch size, this loads every batch of the section.
  var objects: [Any]? { get }
}

/// A section of a `FetchedResults`, as it was when it was requested.
struct FetchedSection: NSFetchedResultsSectionInfo {
  let name: String
  let indexTitle: String?
  let range: Range<Int>
  /// Nil for a deleted section.
  var results: FetchedResults?

  var numberOfObjects: Int { results == nil ? 0 : range.count }

  var objects: [Any]? {
    guard let results else { return [] }
    return range.map { results.list.object(at: $0) }
  }
}

// UIKit and AppKit add these to Foundation's index path.

extension IndexPath {
  /// Creates an index path from an item and a section.
  public init(item: Int, section: Int) {
    self.init(indexes: [section, item])
  }

  /// Creates an index path from a row and a section.
  public init(row: Int, section: Int) {
    self.init(indexes: [section, row])
  }

  /// The section; the first of the two indexes.
  public var section: Int { self[0] }

  /// The item in the section; the second of the two indexes.
  public var item: Int { self[1] }

  /// The row in the section; the second of the two indexes.
  public var row: Int { self[1] }
}
