public import OpenCoreData

extension NSManagedObjectContext {
  /// Inserts an object whose class is inferred from the caller's type.
  ///
  /// **Cost**: none.
  public func insertObject<Object: FetchableEntity>() -> Object {
    Object(context: self)
  }

  /// Saves, or rolls back all unsaved changes if saving fails.
  ///
  /// Use this method in contexts whose conflicts don't need to be resolved by the user.
  ///
  /// **Cost**: the cost of a save.
  ///
  /// - Returns: Whether the save succeeded.
  public func saveOrRollback() -> Bool {
    do {
      try save()
      return true
    } catch {
      rollback()
      return false
    }
  }

  /// Runs a block on the context's queue, and then saves or rolls back.
  ///
  /// Returns immediately. Call this method on any queue.
  ///
  /// **Cost**: the cost of a save.
  public func performChanges(_ block: @escaping @Sendable () -> Void) {
    perform { [self] in
      block()
      _ = saveOrRollback()
    }
  }
}
