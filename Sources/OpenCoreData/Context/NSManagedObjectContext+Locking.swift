import ManagedModel

extension NSManagedObjectContext {
  /// Has the next save fail, or its merge policy asked, when an object's row has changed meanwhile,
  /// although nothing of the object is written.
  ///
  /// Fires the object when it is a fault: its values now are those that must still hold. Cost: at the
  /// save, one SELECT of the row's version. Traps for an object of another context. Apple counterpart:
  /// the same.
  public final func detectConflicts(for object: NSManagedObject) {
    precondition(object.context === self, "an object is locked in its own context")
    guard !object.isInserted, !changes.locked.contains(where: { $0 === object }) else { return }
    object.willAccess()
    changes.locked.append(object)
  }
}
