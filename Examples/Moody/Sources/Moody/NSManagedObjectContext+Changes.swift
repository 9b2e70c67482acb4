public import OpenCoreData

extension NSManagedObjectContext {
  /// Makes an object of a class that the caller's type names.
  ///
  /// Cost: none.
  public func insertObject<Object: FetchableEntity>() -> Object {
    Object(context: self)
  }

  /// Saves, or gives all pending changes up.
  ///
  /// For contexts whose saves meet no conflicts worth a question. Cost: that of a save.
  /// - Returns: Whether it was saved.
  public func saveOrRollback() -> Bool {
    do {
      try save()
      return true
    } catch {
      rollback()
      return false
    }
  }

  /// Runs a block on the context's queue, then saves or rolls back.
  ///
  /// Returns at once; use it from any queue. Cost: that of a save.
  public func performChanges(_ block: @escaping @Sendable () -> Void) {
    perform { [self] in
      block()
      _ = saveOrRollback()
    }
  }
}
