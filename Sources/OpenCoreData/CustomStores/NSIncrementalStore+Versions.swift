import ManagedModel

/// The nodes that a store has updated in a save, and the versions of other objects.
struct SavedNodes {
  var nodes: [RowKey: NSIncrementalStoreNode] = [:]
  var versions: [RowKey: Int64] = [:]
}

extension NSIncrementalStore {
  /// Returns the version that an object's values were read or saved with, which a save must find in
  /// the store; `nil` for a new object, and if the version isn't known.
  ///
  /// After a conflict, the merge policy has the object adopt the newest version. Apple counterpart:
  /// none.
  public final func version(of object: NSManagedObject) -> UInt64? {
    guard object.primaryKey > 0, !object.isInserted else { return nil }
    let version: Int64? =
      object.isFault
      ? withShared {
        $0.rowVersion(rootIndex: object.layout.rootIndex, key: object.primaryKey)
      } : object.row.version
    guard let version, version != Row.unknownVersion else { return nil }
    return UInt64(bitPattern: version)
  }

  /// Returns whether the merge policy has kept an object although its values no longer exist: a
  /// save inserts them again.
  ///
  /// Apple counterpart: none.
  public final func isRestored(_ object: NSManagedObject) -> Bool {
    object.state.contains(.restored)
  }

  /// Records the version that a save assigns to an object: the row cache then has the saved values
  /// with it.
  ///
  /// It has the effect of updating the object's node, without a node. Ignored outside of
  /// `execute(_:with:)` for a save, and if that fails. Apple counterpart: none.
  public final func setVersion(_ version: UInt64, ofSaved object: NSManagedObject) {
    callLock.lock()
    defer { callLock.unlock() }
    saved?.versions[RowKey(object.identity)] = Int64(bitPattern: version)
  }
}
