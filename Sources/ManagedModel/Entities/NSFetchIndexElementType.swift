/// How an element of an index is stored.
///
/// Counterpart: `NSFetchIndexElementType`, with its raw values.
public enum NSFetchIndexElementType: UInt, Sendable, CaseIterable {
  /// An ordinary ordered index.
  case binary = 0
  /// A range index over numbers.
  case rTree = 1
}
