/// How a set is being changed.
///
/// Apple counterpart: `NSKeyValueSetMutationKind`, which Foundation lacks on Linux.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
  /// Objects are added.
  case union = 1
  /// Objects are removed.
  case minus = 2
  /// All but some objects are removed.
  case intersect = 3
  /// The whole set is replaced.
  case set = 4
}
