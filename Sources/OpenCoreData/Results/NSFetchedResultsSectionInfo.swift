import ManagedModel

/// A section of the results of a controller.
///
/// Apple counterpart: the same name.
public protocol NSFetchedResultsSectionInfo {
  /// The value of the section key path, as text; empty when there is no such path.
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
