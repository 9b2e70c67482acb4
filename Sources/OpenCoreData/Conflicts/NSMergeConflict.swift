import ManagedModel

/// A row that changed since its object was read.
///
/// Snapshots are the last known values of the row in three places, by property: attributes, and the
/// object IDs of to-one relationships; nil values are `NSNull`. A conflict with the row cache has
/// `objectSnapshot` and `cachedSnapshot`, one with the store `cachedSnapshot` and `persistedSnapshot`.
/// Apple counterpart: the same; the book's chapter 11.
open class NSMergeConflict: NSObject {
  /// The object whose changes could not be written.
  public let sourceObject: NSManagedObject
  /// The values that the context took its object from; nil for a conflict with the store.
  public let objectSnapshot: [String: Any]?
  /// The values in the row cache; nil when it has none.
  public let cachedSnapshot: [String: Any]?
  /// The values in the store; nil for a conflict with the row cache, and when the row is gone.
  public let persistedSnapshot: [String: Any]?
  /// The version (`Z_OPT`) that the object was read at.
  public let oldVersionNumber: Int
  /// The version found; 0 when the row is gone.
  public let newVersionNumber: Int

  /// Describes a conflict of an object.
  ///
  /// Without a persisted snapshot it is one with the row cache, whose object snapshot is taken from the
  /// object.
  public init(
    source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
  ) {
    sourceObject = srcObject
    newVersionNumber = newvers
    oldVersionNumber = oldvers
    cachedSnapshot = cachesnap
    persistedSnapshot = persnap
    objectSnapshot = newvers != 0 && persnap == nil ? srcObject.snapshot : nil
  }

  init(_ conflict: SaveConflict) {
    sourceObject = conflict.object
    oldVersionNumber = Int(conflict.oldVersion)
    newVersionNumber = Int(conflict.newVersion)
    cachedSnapshot = conflict.cached
    persistedSnapshot = conflict.persisted
    objectSnapshot = conflict.place == .rowCache ? conflict.object.snapshot : nil
  }

  /// The object, the versions and where the conflict was found.
  open override var description: String {
    let place = objectSnapshot == nil ? "the store" : "the row cache"
    let found = newVersionNumber == 0 ? "no row" : "version \(newVersionNumber)"
    return "NSMergeConflict for \(sourceObject.objectID): version \(oldVersionNumber) in the "
      + "context, \(found) in \(place)"
  }
}
