/// What put several values of an object back at once.
///
/// Apple counterpart: `NSSnapshotEventType`.
public struct NSSnapshotEventType: OptionSet, Sendable {
  /// One bit an event.
  public let rawValue: UInt

  /// Takes the bits.
  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// An insertion was undone.
  public static let undoInsertion = NSSnapshotEventType(rawValue: 2)
  /// A deletion was undone.
  public static let undoDeletion = NSSnapshotEventType(rawValue: 4)
  /// Changes were undone.
  public static let undoUpdate = NSSnapshotEventType(rawValue: 8)
  /// The context was rolled back.
  public static let rollback = NSSnapshotEventType(rawValue: 16)
  /// The object was refreshed and kept its changes.
  public static let refresh = NSSnapshotEventType(rawValue: 32)
  /// A merge policy decided a conflict.
  public static let mergePolicy = NSSnapshotEventType(rawValue: 64)
}
