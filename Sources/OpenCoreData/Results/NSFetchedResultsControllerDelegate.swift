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

/// What happened to an object or a section of a controller's results.
///
/// Apple counterpart: the same name.
public enum NSFetchedResultsChangeType: UInt, Sendable {
  /// It came.
  case insert = 1
  /// It went.
  case delete = 2
  /// It was changed and is at another place; never of a section.
  case move = 3
  /// It was changed and stayed in its place; never of a section.
  case update = 4
}

/// A section of the results of a controller.
///
/// Apple counterpart: the same name.
public protocol NSFetchedResultsSectionInfo {
  /// The value of the section key path, as text; empty when there's no such path.
  var name: String { get }
  /// What an index beside the list shows: the first letter of the name in capitals.
  var indexTitle: String? { get }
  /// How many objects the section has; known without a statement.
  var numberOfObjects: Int { get }
  /// The section's objects; with a batch size, this loads every page of the section.
  var objects: [Any]? { get }
}

/// A section of a `FetchedResults`, as it was when it was asked for.
struct FetchedSection: NSFetchedResultsSectionInfo {
  let name: String
  let indexTitle: String?
  let range: Range<Int>
  /// Nil for a section that went.
  var results: FetchedResults?

  var numberOfObjects: Int { results == nil ? 0 : range.count }

  var objects: [Any]? {
    guard let results else { return [] }
    return range.map { results.list.object(at: $0) }
  }
}

// UIKit and AppKit add these to Foundation's index path.

extension IndexPath {
  /// The path of an item of a section.
  public init(item: Int, section: Int) {
    self.init(indexes: [section, item])
  }

  /// The path of a row of a section.
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
