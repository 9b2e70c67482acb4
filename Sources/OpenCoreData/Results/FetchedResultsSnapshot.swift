import ManagedModel

/// The sections of a controller's results and the IDs of the objects in them, at one moment.
///
/// Apple counterpart: the `NSDiffableDataSourceSnapshot` that its controller gives, which needs UIKit.
public struct FetchedResultsSnapshot: Hashable {
  /// The names of the sections, in order; one empty name when there is no section key path.
  public let sectionIdentifiers: [String]
  private let items: [[NSManagedObjectID]]

  init(sectionIdentifiers: [String], items: [[NSManagedObjectID]]) {
    self.sectionIdentifiers = sectionIdentifiers
    self.items = items
  }

  /// The IDs of all objects, section by section.
  public var itemIdentifiers: [NSManagedObjectID] {
    items.flatMap { $0 }
  }

  /// The IDs of one section's objects; empty for a name that no section has.
  public func itemIdentifiers(inSection identifier: String) -> [NSManagedObjectID] {
    sectionIdentifiers.firstIndex(of: identifier).map { items[$0] } ?? []
  }

  /// How many objects there are.
  public var numberOfItems: Int {
    items.reduce(0) { $0 + $1.count }
  }
}
