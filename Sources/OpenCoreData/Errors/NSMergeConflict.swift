import ManagedModel

/// A row that changed since its object was read, as a failed save lists it.
public final class NSMergeConflict: NSObject {
  /// The object whose changes could not be written.
  public let sourceObject: NSManagedObject
  /// The version (`Z_OPT`) that the object was read at.
  public let oldVersionNumber: Int
  /// The version found; 0 when the row is gone.
  public let newVersionNumber: Int

  init(_ conflict: SaveConflict) {
    sourceObject = conflict.object
    oldVersionNumber = Int(conflict.oldVersion)
    newVersionNumber = Int(conflict.newVersion)
  }
}
