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
