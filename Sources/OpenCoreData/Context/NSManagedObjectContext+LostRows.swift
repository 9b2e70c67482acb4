import ManagedModel

// Objects whose rows were missing and exist again: another context's merge policy has re-created
// them, or a parent has discarded a deletion.

extension NSManagedObjectContext {
  /// Fulfills an object that had lost its row, if the row exists again.
  ///
  /// An object with changes, such as one that was deleted here, stays as it is until they are saved
  /// or discarded. **Cost:** one SELECT, unless the row cache or the parent has the row.
  /// - Returns: Whether it has a row again; otherwise, the object is unchanged.
  final func revive(_ object: NSManagedObject) throws -> Bool {
    guard isRevivable(object), let row = try visibleRow(of: object) else { return false }
    return revive(object, with: row)
  }

  /// Fulfills an object that had lost its row with a row that was read; the next did-change lists
  /// it as refreshed.
  ///
  /// - Parameter row: The row, whose reference count this method takes over.
  /// - Returns: `false` if the object has changes, or if the row is of another entity.
  @discardableResult
  final func revive(_ object: NSManagedObject, with row: Row) -> Bool {
    guard isRevivable(object), row.layoutIndex == object.layout.index else {
      row.release()
      return false
    }
    changes.deleted.remove(object)
    changes.eventDeleted.remove(object)
    changes.mergedDeletions.removeAll { $0 === object }
    object.turnIntoFault()
    object.fulfill(with: row)
    changes.eventRefreshed.insert(object)
    scheduleProcessing()
    return true
  }

  /// Registers an object under its new key.
  ///
  /// A fault that was created from the ID of a row before that existed loses the key to the object
  /// that gets the row: it becomes deleted and is deregistered.
  final func changeKey(of object: NSManagedObject, from key: Int64) {
    guard let fault = registry.rekey(object, from: key) else { return }
    fault.becomeInaccessible()
    store(for: fault)?.removeOwner(
      rootIndex: fault.layout.rootIndex, keys: CollectionOfOne(fault.primaryKey))
    leave(fault)
  }

  private func isRevivable(_ object: NSManagedObject) -> Bool {
    guard object.state.contains(.inaccessible) else { return false }
    if object.state.isDisjoint(with: .changed) { return true }
    return changes.mergedDeletions.contains { $0 === object }
  }
}
